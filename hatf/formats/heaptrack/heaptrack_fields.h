/* SPDX-License-Identifier: MIT */
/*
 * heaptrack_fields.h - the fields of a line in a heaptrack file (FORMATS
 * "heaptrack")
 *
 * Each function takes the first field of the rest of a line and the blank after
 * it.  Thread-safe.
 */
#ifndef HATF_HEAPTRACK_FIELDS_H
#define HATF_HEAPTRACK_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

/* The rest of a line; 'end' is exclusive. */
struct heaptrack_fields {
	const uint8_t *next, *end;
};

/*
 * Take a hexadecimal number.  Return false if it is missing, malformed or above
 * 64 bits.
 */
bool heaptrack_take_number(struct heaptrack_fields *f, uint64_t *n_ret);

/*
 * Take a string: one that its length precedes if 'has_length', or else the
 * 'rest' of the line or one word.  'string_ret' points into the line.  Return
 * false if the string is truncated or has a NUL.
 */
bool heaptrack_take_string(struct heaptrack_fields *f, bool has_length,
			   bool rest, struct heaptrack_fields *string_ret);

#endif /* HATF_HEAPTRACK_FIELDS_H */
