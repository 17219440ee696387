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
#ifndef HATF_NAMES_H
#define HATF_NAMES_H

#include "hatf/hatf.h"

struct name {
	const char *bytes; /* NUL behind them */
	uint32_t nbytes;
	uint32_t hash;
};

struct names {
	struct name *rows; /* number n is rows[n - 1] */
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
void names_init(struct names *names, uint32_t count_max, uint64_t nbytes_max);
void names_fini(struct names *names);

/*
 * The number of a string, which is added if it is not there.  Errors:
 * HATF_NO_MEMORY, and HATF_LIMIT if there would be too many.
 */
enum hatf_status names_put(struct names *names, const void *bytes,
			   size_t nbytes, uint32_t *number_ret);

/* The string with a number that names_put() has given. */
static inline const char *
names_get(const struct names *names, uint32_t number)
{
	return names->rows[number - 1].bytes;
}

/* Bytes of memory that the set takes. */
static inline uint64_t
names_memory(const struct names *names)
{
	return names->nbytes + (uint64_t)names->cap * sizeof(*names->rows) +
	       (uint64_t)names->slot_count * sizeof(*names->slots);
}

#endif /* HATF_NAMES_H */
