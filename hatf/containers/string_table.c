/* SPDX-License-Identifier: MIT */
/*
 * string_table.c - see string_table.h
 *
 * A hash table with open addressing and linear probing, at most half full, of the
 * numbers; the strings lie in chunks, one behind the other.
 */
#include "hatf/containers/string_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define SLOTS_MIN 64

/* A string that is longer has a chunk of its own. */
#define CHUNK_NBYTES ((size_t)64 * 1024)

void
names_init(struct names *names, uint32_t count_max, uint64_t nbytes_max)
{
	*names = (struct names){ .count_max = count_max,
				 .nbytes_max = nbytes_max };
	if (getrandom(names->seed, sizeof(names->seed), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(names->seed)) {
		struct timespec now;

		/* Early in a boot there is no randomness yet. */
		clock_gettime(CLOCK_MONOTONIC, &now);
		names->seed[0] = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15;
		names->seed[1] = (uint64_t)(uintptr_t)names ^ names->seed[0];
	}
	/* A factor of 0 would not mix. */
	names->seed[1] |= 0x8000000000000001;
}

void
names_fini(struct names *names)
{
	for (size_t i = 0; i < names->chunk_count; i++)
		free(names->chunks[i]);
	free(names->chunks);
	free(names->rows);
	free(names->slots);
	names_init(names, names->count_max, names->nbytes_max);
}

static inline uint64_t
mix(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 wide;
	const wide product = (wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t
hash_bytes(const struct names *names, const uint8_t *bytes, size_t nbytes)
{
	uint64_t hash = names->seed[0] ^ nbytes;
	uint64_t word;

	for (; nbytes >= sizeof(word); nbytes -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = mix(hash ^ word, names->seed[1]);
		bytes += sizeof(word);
	}
	word = 0;
	if (nbytes != 0)
		memcpy(&word, bytes, nbytes);
	hash = mix(hash ^ word, names->seed[1]);
	/* Once more, for what the last factor has left in the low bits. */
	return (uint32_t)mix(hash ^ names->seed[0], names->seed[1]);
}

/* The slot of the string, or the free one where it would go. */
static size_t
seek(const struct names *names, const void *bytes, size_t nbytes, uint32_t hash)
{
	size_t slot = hash & (names->slot_count - 1);

	for (; names->slots[slot] != 0;
	     slot = (slot + 1) & (names->slot_count - 1)) {
		const struct name *const row =
			&names->rows[names->slots[slot] - 1];

		if (row->hash == hash && row->nbytes == nbytes &&
		    (nbytes == 0 || memcmp(row->bytes, bytes, nbytes) == 0))
			break;
	}
	return slot;
}

/* Twice as many slots. */
static bool
grow_slots(struct names *names)
{
	const size_t count =
		names->slot_count == 0 ? SLOTS_MIN : 2 * names->slot_count;
	uint32_t *const slots = calloc(count, sizeof(*slots));

	if (slots == NULL)
		return false;
	for (uint32_t i = 0; i < names->count; i++) {
		size_t slot = names->rows[i].hash & (count - 1);

		while (slots[slot] != 0)
			slot = (slot + 1) & (count - 1);
		slots[slot] = i + 1;
	}
	free(names->slots);
	names->slots = slots;
	names->slot_count = count;
	return true;
}

static bool
grow_rows(struct names *names)
{
	const uint32_t cap = names->cap == 0 ? SLOTS_MIN : 2 * names->cap;
	struct name *const rows = realloc(names->rows, cap * sizeof(*rows));

	if (rows == NULL)
		return false;
	names->rows = rows;
	names->cap = cap;
	return true;
}

/* Begin a chunk with at least so many bytes. */
static bool
add_chunk(struct names *names, size_t nbytes)
{
	const size_t size = nbytes > CHUNK_NBYTES ? nbytes : CHUNK_NBYTES;

	if (names->chunk_count == names->chunk_cap) {
		const size_t cap =
			names->chunk_cap == 0 ? 16 : 2 * names->chunk_cap;
		char **const chunks =
			realloc(names->chunks, cap * sizeof(*chunks));

		if (chunks == NULL)
			return false;
		names->chunks = chunks;
		names->chunk_cap = cap;
	}

	char *const chunk = malloc(size);

	if (chunk == NULL)
		return false;
	names->chunks[names->chunk_count++] = chunk;
	names->room = size;
	names->last_nbytes = size;
	return true;
}

/* A copy with a NUL behind it, or NULL. */
static const char *
keep(struct names *names, const void *bytes, size_t nbytes)
{
	char *copy;

	if (names->room < nbytes + 1 && !add_chunk(names, nbytes + 1))
		return NULL;
	copy = names->chunks[names->chunk_count - 1] + names->last_nbytes -
	       names->room;
	if (nbytes != 0)
		memcpy(copy, bytes, nbytes);
	copy[nbytes] = '\0';
	names->room -= nbytes + 1;
	return copy;
}

enum hatf_status
names_put(struct names *names, const void *bytes, size_t nbytes,
	  uint32_t *number_ret)
{
	const uint32_t hash = hash_bytes(names, bytes, nbytes);
	const char *copy;
	size_t slot;

	if (names->count >= names->slot_count / 2 && !grow_slots(names))
		return HATF_NO_MEMORY;
	slot = seek(names, bytes, nbytes, hash);
	*number_ret = names->slots[slot];
	if (*number_ret != 0)
		return HATF_OK;
	if (names->count == names->count_max ||
	    nbytes >= names->nbytes_max - names->nbytes)
		return HATF_LIMIT;
	if (names->count == names->cap && !grow_rows(names))
		return HATF_NO_MEMORY;
	copy = keep(names, bytes, nbytes);
	if (copy == NULL)
		return HATF_NO_MEMORY;
	names->rows[names->count++] =
		(struct name){ copy, (uint32_t)nbytes, hash };
	names->nbytes += nbytes + 1;
	names->slots[slot] = *number_ret = names->count;
	return HATF_OK;
}
