/* SPDX-License-Identifier: MIT */
/* live_rows.c - see live_rows.h */
#include "tools/summary/live_rows.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MIN 16

bool
live_rows_reach(struct live_rows *t, uint32_t number)
{
	size_t cap = t->cap == 0 ? ROWS_MIN : t->cap;
	struct live_block *rows;

	if (number >= t->cap) {
		while (cap <= number)
			cap *= 2;
		rows = reallocarray(t->rows, cap, sizeof(*rows));
		if (rows == NULL)
			return false;
		t->rows = rows;
		t->cap = cap;
	}
	/*
	 * Clear only the rows up to 'number': the system gives the later rows
	 * no memory until they are used.
	 */
	if (number >= t->count) {
		memset(t->rows + t->count, 0,
		       (number + (size_t)1 - t->count) * sizeof(*t->rows));
		t->count = number + (size_t)1;
	}
	return true;
}

void
live_rows_free(struct live_rows *t)
{
	free(t->rows);
	*t = (struct live_rows){ 0 };
}
