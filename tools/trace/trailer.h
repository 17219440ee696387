/* SPDX-License-Identifier: MIT */
/*
 * trailer.h - read only the trailer of a trace
 *
 * After a recording, which may take hours, 'hatf record' prints one line with
 * figures.  All these figures are in the trailer, so 'hatf record' need not
 * read the rest of the trace.
 */
#ifndef TRAILER_H
#define TRAILER_H

#include "hatf/hatf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The content of the "HATF end" comment. */
struct trailer {
	bool complete;
	uint64_t event_count, lost_count;
	/* time of the last event, in the unit that the header states */
	uint64_t time;
	char end[24]; /* how the program ended; empty: unknown */
	/* why the recorder could not go on writing, or empty */
	char error[80];
	char missed[208]; /* which calls were not recorded, or empty */
};

/*
 * Read the trailer.  Return false if the file has none or cannot be read.  If
 * 'is_found', 'path' comes from a directory and not from the user
 * (HATF_READER_FOUND).
 */
bool trailer_read(const char *path, bool is_found, struct trailer *ret);

/*
 * After the last record of a trace: does the trailer lack the texts that the
 * trailer of a copy would lack, "error" and "missed"?
 */
bool trailer_can_be_copied(const struct hatf_reader *reader);

/*
 * Find a line that begins with "KEY=" and parse its decimal value.  Return
 * false if there is no such line, or if its value is not a number.
 */
bool trailer_find_number(const char *text, size_t nbytes, const char *key,
			 uint64_t *n_ret);

#endif /* TRAILER_H */
