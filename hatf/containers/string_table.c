/* SPDX-License-Identifier: MIT */
/*
 * string_table.c - see string_table.h
 *
 * 'slots' is a hash table of string numbers with open addressing and linear
 * probing, at most half full.  The strings are stored one after the other in
 * chunks.
 */
#include "hatf/containers/string_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define SLOTS_MIN 64

/* The size of a chunk.  A string longer than this gets a chunk of its own. */
#define CHUNK_NBYTES ((size_t)64 * 1024)

void
string_table_init(struct string_table *table, uint32_t count_max,
		  uint64_t nbytes_max)
{
	*table = (struct string_table){ .count_max = count_max,
					.nbytes_max = nbytes_max };
	if (getrandom(table->seed, sizeof(table->seed), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(table->seed)) {
		struct timespec now;

		/*
		 * While the system boots, the kernel may have no random numbers
		 * yet.  In this case, make the seed from the time and an
		 * address.
		 */
		clock_gettime(CLOCK_MONOTONIC, &now);
		table->seed[0] = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15;
		table->seed[1] = (uint64_t)(uintptr_t)table ^ table->seed[0];
	}
	/*
	 * A factor of 0 would not mix the bits, so set its highest and its
	 * lowest bit.
	 */
	table->seed[1] |= 0x8000000000000001;
}

void
string_table_fini(struct string_table *table)
{
	for (size_t i = 0; i < table->chunk_count; i++)
		free(table->chunks[i]);
	free(table->chunks);
	free(table->rows);
	free(table->slots);
	string_table_init(table, table->count_max, table->nbytes_max);
}

static inline uint64_t
mix(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 wide;
	const wide product = (wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t
hash_bytes(const struct string_table *table, const uint8_t *bytes,
	   size_t nbytes)
{
	uint64_t hash = table->seed[0] ^ nbytes;
	uint64_t word;

	for (; nbytes >= sizeof(word); nbytes -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = mix(hash ^ word, table->seed[1]);
		bytes += sizeof(word);
	}
	word = 0;
	if (nbytes != 0)
		memcpy(&word, bytes, nbytes);
	hash = mix(hash ^ word, table->seed[1]);
	/*
	 * Mix once more, because the last multiplication leaves the low bits
	 * weak.
	 */
	return (uint32_t)mix(hash ^ table->seed[0], table->seed[1]);
}

/* Return the slot of the string, or the free slot where it belongs. */
static size_t
seek(const struct string_table *table, const void *bytes, size_t nbytes,
     uint32_t hash)
{
	size_t slot = hash & (table->slot_count - 1);

	for (; table->slots[slot] != 0;
	     slot = (slot + 1) & (table->slot_count - 1)) {
		const struct string_table_row *const row =
			&table->rows[table->slots[slot] - 1];

		if (row->hash == hash && row->nbytes == nbytes &&
		    (nbytes == 0 || memcmp(row->bytes, bytes, nbytes) == 0))
			break;
	}
	return slot;
}

/* Double the number of slots. */
static bool
grow_slots(struct string_table *table)
{
	const size_t count =
		table->slot_count == 0 ? SLOTS_MIN : 2 * table->slot_count;
	uint32_t *const slots = calloc(count, sizeof(*slots));

	if (slots == NULL)
		return false;
	for (uint32_t i = 0; i < table->count; i++) {
		size_t slot = table->rows[i].hash & (count - 1);

		while (slots[slot] != 0)
			slot = (slot + 1) & (count - 1);
		slots[slot] = i + 1;
	}
	free(table->slots);
	table->slots = slots;
	table->slot_count = count;
	return true;
}

static bool
grow_rows(struct string_table *table)
{
	const uint32_t cap = table->cap == 0 ? SLOTS_MIN : 2 * table->cap;
	struct string_table_row *const rows =
		realloc(table->rows, cap * sizeof(*rows));

	if (rows == NULL)
		return false;
	table->rows = rows;
	table->cap = cap;
	return true;
}

/* Add a chunk with room for at least 'nbytes' bytes. */
static bool
add_chunk(struct string_table *table, size_t nbytes)
{
	const size_t size = nbytes > CHUNK_NBYTES ? nbytes : CHUNK_NBYTES;

	if (table->chunk_count == table->chunk_cap) {
		const size_t cap =
			table->chunk_cap == 0 ? 16 : 2 * table->chunk_cap;
		char **const chunks =
			realloc(table->chunks, cap * sizeof(*chunks));

		if (chunks == NULL)
			return false;
		table->chunks = chunks;
		table->chunk_cap = cap;
	}

	char *const chunk = malloc(size);

	if (chunk == NULL)
		return false;
	table->chunks[table->chunk_count++] = chunk;
	table->room = size;
	table->last_nbytes = size;
	return true;
}

/*
 * Store a copy of the string, followed by a NUL.  Return the copy, or NULL if
 * there is no memory.
 */
static const char *
store(struct string_table *table, const void *bytes, size_t nbytes)
{
	char *copy;

	if (table->room < nbytes + 1 && !add_chunk(table, nbytes + 1))
		return NULL;
	copy = table->chunks[table->chunk_count - 1] + table->last_nbytes -
	       table->room;
	if (nbytes != 0)
		memcpy(copy, bytes, nbytes);
	copy[nbytes] = '\0';
	table->room -= nbytes + 1;
	return copy;
}

enum hatf_status
string_table_put(struct string_table *table, const void *bytes, size_t nbytes,
		 uint32_t *number_ret)
{
	const uint32_t hash = hash_bytes(table, bytes, nbytes);
	const char *copy;
	size_t slot;

	if (table->count >= table->slot_count / 2 && !grow_slots(table))
		return HATF_NO_MEMORY;
	slot = seek(table, bytes, nbytes, hash);
	*number_ret = table->slots[slot];
	if (*number_ret != 0)
		return HATF_OK;
	if (table->count == table->count_max ||
	    nbytes >= table->nbytes_max - table->nbytes)
		return HATF_LIMIT;
	if (table->count == table->cap && !grow_rows(table))
		return HATF_NO_MEMORY;
	copy = store(table, bytes, nbytes);
	if (copy == NULL)
		return HATF_NO_MEMORY;
	table->rows[table->count++] =
		(struct string_table_row){ copy, (uint32_t)nbytes, hash };
	table->nbytes += nbytes + 1;
	table->slots[slot] = *number_ret = table->count;
	return HATF_OK;
}
