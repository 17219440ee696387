/* SPDX-License-Identifier: MIT */
/*
 * string_table.h - a set of byte strings, numbered in order of insertion
 *
 * The table keeps one copy of each string, followed by a NUL, at an address
 * that never changes.  Numbers start at 1.  Memory is O(distinct strings).  The
 * table has at most 'count_max' strings.  Together with their NULs, the strings
 * have at most 'nbytes_max' bytes.
 *
 * The hash is seeded with random numbers, so nobody can write a trace whose
 * strings collide.  Used by one thread at a time.
 */
#ifndef HATF_STRING_TABLE_H
#define HATF_STRING_TABLE_H

#include "hatf/hatf.h"

/* A string of the table. */
struct string_table_row {
	const char *bytes; /* the string, followed by a NUL */
	uint32_t nbytes;
	uint32_t hash;
};

struct string_table {
	struct string_table_row *rows; /* string number n is rows[n - 1] */
	uint32_t count, cap, count_max;
	uint32_t *slots; /* hash table of string numbers; 0: the slot is free */
	size_t slot_count;
	char **chunks;
	size_t chunk_count, chunk_cap;
	/*
	 * sizes of the last chunk, and of the free space at its end, in bytes
	 */
	size_t last_nbytes, room;
	uint64_t nbytes, nbytes_max;
	uint64_t seed[2];
};

/* Make an empty table.  Allocate nothing. */
void string_table_init(struct string_table *table, uint32_t count_max,
		       uint64_t nbytes_max);

/* Make the table empty and free its memory.  The limits stay as they are. */
void string_table_fini(struct string_table *table);

/*
 * Store the number of a string in '*number_ret'.  If the table lacks the
 * string, add a copy.  Errors: HATF_NO_MEMORY; HATF_LIMIT if 'count_max' or
 * 'nbytes_max' would be exceeded.
 */
enum hatf_status string_table_put(struct string_table *table, const void *bytes,
				  size_t nbytes, uint32_t *number_ret);

/* Return the string with a number that string_table_put() has returned. */
static inline const char *
string_table_get(const struct string_table *table, uint32_t number)
{
	return table->rows[number - 1].bytes;
}

/* Return how many bytes the strings, the rows and the slots take. */
static inline uint64_t
string_table_memory(const struct string_table *table)
{
	return table->nbytes + (uint64_t)table->cap * sizeof(*table->rows) +
	       (uint64_t)table->slot_count * sizeof(*table->slots);
}

#endif /* HATF_STRING_TABLE_H */
