/* SPDX-License-Identifier: MIT */
/*
 * breakdown.h - which field the bytes of a HATF trace go to
 *
 * A field's bytes are those that records store of it, and the metadata that sets
 * its width or interpretation.
 */
#ifndef BREAKDOWN_H
#define BREAKDOWN_H

#include "tools/measure/encoding.h"

struct breakdown {
	bool is_known;
	uint64_t field_nbytes[HATF_FIELD_COUNT];
	uint64_t tag_nbytes;	 /* of data records but comments */
	uint64_t comment_nbytes; /* header, blocks and trailer too */
	uint64_t total_nbytes;	 /* of the stream */
	uint64_t file_nbytes;	 /* compressed, at the default level */
};

/*
 * Take the whole trace apart as encoding 'e', a HATF one, stores it.  May run in
 * any thread; says nothing.
 */
enum hatf_status breakdown_take(struct breakdown *b, const struct spool *trace,
				enum encoding e, struct hatf_error *err);

#endif /* BREAKDOWN_H */
