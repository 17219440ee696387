/* SPDX-License-Identifier: MIT */
/*
 * heaptrack_fields.h - the fields of a line of heaptrack's (FORMAT "heaptrack")
 *
 * Each function takes what the line begins with and the blank behind it.
 */
#ifndef HATF_HEAPTRACK_FIELDS_H
#define HATF_HEAPTRACK_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

/* What is left of a line. */
struct heaptrack_fields {
	const uint8_t *next, *end;
};

/* A number, in hexadecimal digits.  False if there is none, or it has no room. */
bool heaptrack_take_number(struct heaptrack_fields *f, uint64_t *n_ret);

/*
 * A string: 'has_length', behind its length, or else a word, or the 'rest' of the line.
 * False if it is not all there.
 */
bool heaptrack_take_string(struct heaptrack_fields *f, bool has_length,
			   bool rest, struct heaptrack_fields *string_ret);

#endif /* HATF_HEAPTRACK_FIELDS_H */
