/* SPDX-License-Identifier: MIT */
/*
 * heaptrack_fields.h - the fields of a line in a heaptrack file (FORMATS
 * "heaptrack")
 *
 * Each function parses the first field of the rest of a line, and skips the
 * blank after it.  Any thread may call these functions.
 */
#ifndef HATF_HEAPTRACK_FIELDS_H
#define HATF_HEAPTRACK_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

/* The rest of a line.  'end' is the position after its last byte. */
struct heaptrack_fields {
	const uint8_t *next, *end;
};

/*
 * Parse a hexadecimal number.  Return false if it is missing, malformed or
 * longer than 64 bits.
 */
bool heaptrack_take_number(struct heaptrack_fields *f, uint64_t *n_ret);

/*
 * Parse a string.  If 'has_length' is set, the length of the string precedes
 * the string.  Otherwise, the string is one word or, if 'rest' is set, the rest
 * of the line.  'string_ret' points into the line.  Return false if the string
 * is malformed or truncated, or contains a NUL.
 */
bool heaptrack_take_string(struct heaptrack_fields *f, bool has_length,
			   bool rest, struct heaptrack_fields *string_ret);

#endif /* HATF_HEAPTRACK_FIELDS_H */
