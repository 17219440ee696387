/* SPDX-License-Identifier: MIT */
/*
 * generate.h - bytes into records that a program could have caused
 *
 * A small machine reads an input as instructions, most of one or two bytes.  It
 * keeps the state that records have in common: recent addresses, the last size,
 * thread, heap and time.  Every input gives records, every record can be made,
 * and changing one byte changes little else.
 */
#ifndef TESTS_GENERATE_H
#define TESTS_GENERATE_H

#include "hatf/hatf.h"

#define GENERATE_MAX 4096 /* records */

/* Attributes point into the input or into static memory. */
struct generated {
	struct hatf_record records[GENERATE_MAX];
	size_t n;
	uint64_t attributes_nbytes; /* of all records */
};

/*
 * Make at most 'max' (GENERATE_MAX) records from data[0, nbytes), with at most
 * 'attributes_max' bytes of attributes and comments in all.
 */
void generate(const uint8_t *data, size_t nbytes, size_t max,
	      uint64_t attributes_max, struct generated *out);

/* Return whether it is a comment with which only a writer may frame a trace. */
bool generate_is_framing(const struct hatf_record *r);

#endif /* TESTS_GENERATE_H */
