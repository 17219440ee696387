/* SPDX-License-Identifier: MIT */
/*
 * cfi_cursor.h - read numbers from the tables of cfi.h (prefix: cfi_)
 *
 * The tables are memory of the traced program and can hold anything.  All
 * checks of bounds are here: a cursor reads nothing at or after 'end'.  If
 * there are too few bytes, or if a LEB128 number is too long, the cursor
 * becomes bad and stays bad, and every further number is 0.  So a caller may
 * read several numbers before it checks 'is_bad'.
 */
#ifndef CFI_CURSOR_H
#define CFI_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cfi_cursor {
	const uint8_t *next, *end;
	bool is_bad;
};

/* Read an unsigned number of at most 8 bytes. */
static inline uint64_t
cfi_take(struct cfi_cursor *c, size_t nbytes)
{
	uint64_t n = 0;

	if (c->is_bad || c->next == NULL ||
	    (size_t)(c->end - c->next) < nbytes) {
		c->is_bad = true;
		return 0;
	}
	memcpy(&n, c->next, nbytes);
	c->next += nbytes;
	return n;
}

/* Read an unsigned LEB128 number (DWARF 5, section 7.6). */
static inline uint64_t
cfi_take_uleb(struct cfi_cursor *c)
{
	uint64_t n = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		const uint64_t byte = cfi_take(c, 1);

		n |= (byte & 0x7f) << shift;
		if ((byte & 0x80) == 0)
			return n;
	}
	c->is_bad = true;
	return 0;
}

/* Read a signed LEB128 number. */
static inline int64_t
cfi_take_sleb(struct cfi_cursor *c)
{
	uint64_t n = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		const uint64_t byte = cfi_take(c, 1);

		n |= (byte & 0x7f) << shift;
		if ((byte & 0x80) != 0)
			continue;
		if ((byte & 0x40) != 0 && shift + 7 < 64)
			n |= ~(uint64_t)0 << (shift + 7);
		return (int64_t)n;
	}
	c->is_bad = true;
	return 0;
}

static inline void
cfi_skip(struct cfi_cursor *c, uint64_t nbytes)
{
	if (c->is_bad || (uint64_t)(c->end - c->next) < nbytes)
		c->is_bad = true;
	else
		c->next += nbytes;
}

#endif /* CFI_CURSOR_H */
