/* SPDX-License-Identifier: MIT */
/*
 * live_rows.h - where each live block of a heap came from
 *
 * An array of blocks.  The index is the number that the event stage gives each
 * live block (hatf_events_number_blocks()).  A block takes 16 bytes, and memory
 * is O(largest number).
 *
 * Only one thread at a time may use an array.
 */
#ifndef LIVE_ROWS_H
#define LIVE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_block {
	uint64_t size;
	uint32_t stack; /* row of the stack of its alloc or last realloc */
	/* row of the block's lane (census.h), plus 1; 0: there is no block */
	uint32_t lane_plus_1;
};

/* Begins as all zeros. */
struct live_rows {
	struct live_block *rows;
	size_t count, cap;
};

/* Make room for row 'number'; false if there is no memory. */
bool live_rows_reach(struct live_rows *t, uint32_t number);

/* Return the live block with this number; NULL if there is none. */
static inline struct live_block *
live_rows_find(const struct live_rows *t, uint32_t number)
{
	return number < t->count && t->rows[number].lane_plus_1 != 0
		       ? &t->rows[number]
		       : NULL;
}

/* Remove all blocks. */
void live_rows_free(struct live_rows *t);

#endif /* LIVE_ROWS_H */
