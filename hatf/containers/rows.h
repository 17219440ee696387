/* SPDX-License-Identifier: MIT */
/*
 * rows.h - an array that grows, and a search in short arrays of numbers
 *
 * A 'struct rows' of zeros is empty.  The owner of the struct frees its member
 * 'rows'.
 */
#ifndef HATF_ROWS_H
#define HATF_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct rows {
	void *rows;
	size_t count, cap;
};

/*
 * Append a row and return its memory, which is not cleared; NULL if there is no
 * memory.  Earlier rows may move.
 */
static inline void *
rows_add(struct rows *r, size_t row_nbytes)
{
	if (r->count == r->cap) {
		const size_t cap = r->cap == 0 ? 64 : 2 * r->cap;
		void *const rows = reallocarray(r->rows, cap, row_nbytes);

		if (rows == NULL)
			return NULL;
		r->rows = rows;
		r->cap = cap;
	}
	return (uint8_t *)r->rows + r->count++ * row_nbytes;
}

/* Is 'number' one of the numbers in the array? */
static inline bool
rows_have_u64(const uint64_t *numbers, size_t count, uint64_t number)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

#endif /* HATF_ROWS_H */
