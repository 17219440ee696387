/* SPDX-License-Identifier: MIT */
/*
 * string_table.h - a set of byte strings, numbered in the order in which they came
 *
 * Each string is kept once, with a NUL behind it, at a place that does not change,
 * and has a number from 1 on.  Memory is O(distinct strings), of which there are
 * no more than 'count_max', of 'nbytes_max' bytes together.
 *
 * The hash is seeded with random numbers, so that no trace can choose strings that
 * collide.  Used by one thread at a time.
 */
#ifndef HATF_STRING_TABLE_H
#define HATF_STRING_TABLE_H

#include "hatf/hatf.h"

struct string_table_row {
	const char *bytes; /* NUL behind them */
	uint32_t nbytes;
	uint32_t hash;
};

struct string_table {
	struct string_table_row *rows; /* number n is rows[n - 1] */
	uint32_t count, cap, count_max;
	uint32_t *slots; /* numbers; 0: free */
	size_t slot_count;
	char **chunks;
	size_t chunk_count, chunk_cap;
	size_t last_nbytes, room; /* of the last chunk: all, and what is free */
	uint64_t nbytes, nbytes_max;
	uint64_t seed[2];
};

/* An empty set; allocates nothing. */
void string_table_init(struct string_table *table, uint32_t count_max,
		       uint64_t nbytes_max);
void string_table_fini(struct string_table *table);

/*
 * The number of a string, which is added if it is not there.  Errors:
 * HATF_NO_MEMORY, and HATF_LIMIT if there would be too many.
 */
enum hatf_status string_table_put(struct string_table *table, const void *bytes,
				  size_t nbytes, uint32_t *number_ret);

/* The string with a number that string_table_put() has given. */
static inline const char *
string_table_get(const struct string_table *table, uint32_t number)
{
	return table->rows[number - 1].bytes;
}

/* Bytes of memory that the set takes. */
static inline uint64_t
string_table_memory(const struct string_table *table)
{
	return table->nbytes + (uint64_t)table->cap * sizeof(*table->rows) +
	       (uint64_t)table->slot_count * sizeof(*table->slots);
}

#endif /* HATF_STRING_TABLE_H */
