/* SPDX-License-Identifier: MIT */
/*
 * heaptrack_fields.h - the fields of a line of heaptrack's (FORMATS "heaptrack")
 *
 * Each function takes what the line begins with and the blank behind it.
 */
#ifndef HATF_FIELDS_H
#define HATF_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

/* What is left of a line. */
struct fields {
	const uint8_t *next, *end;
};

/* A number, in hexadecimal digits.  False if there is none, or it has no room. */
bool fields_number(struct fields *f, uint64_t *n_ret);

/*
 * A string: 'sized', behind its length, or else a word, or the 'rest' of the line.
 * False if it is not all there.
 */
bool fields_string(struct fields *f, bool sized, bool rest,
		   struct fields *string_ret);

#endif /* HATF_FIELDS_H */
