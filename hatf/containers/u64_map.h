/* SPDX-License-Identifier: MIT */
/*
 * u64_map.h - a hash map from 64-bit keys to entries of two 64-bit words
 *
 * Use this map for keys such as ids.  For live blocks, use block_set.h, which
 * is faster if the keys of successive look-ups are near one another.
 *
 * Open addressing with linear probing.  The keys have an array of their own,
 * eight to a cache line.  So nearly every search touches only a line or two of
 * keys, and then at most one entry:
 *
 *	keys    |  a  |  0  |  b  |  c  |  0  |	 8 bytes each, 0: free
 *	entries |  A  |     |  B  |  C  |     |	16 bytes each
 *
 * A table of more than U64_MAP_MIN_SLOTS slots is between 1/4 and 3/4 full.  It
 * grows by half and shrinks to half.  A key takes 32 to 48 bytes in a map that
 * only grows, and at most 96 bytes in a map of more than U64_MAP_MIN_SLOTS
 * slots.
 *
 * A resize moves all entries at once; in the meantime, both tables exist.  An
 * incremental resize would bound the time of each operation, but would make
 * every operation search two tables, and no caller needs the bound.
 *
 * The hash is seeded with random numbers, so nobody can write a trace whose
 * keys collide.  Every key is allowed, including 0.
 *
 * Used by one thread at a time.
 */
#ifndef HATF_U64_MAP_H
#define HATF_U64_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define U64_MAP_MIN_SLOTS 64

/* Random numbers that select one hash function. */
struct u64_map_seed {
	uint64_t numbers[3];
};

/* The caller decides what the two words mean. */
struct u64_map_entry {
	uint64_t extra;
	uint64_t value;
};

/*
 * Invariant: a key is in its home slot (see u64_map_home()) or in a later one,
 * with no free slot in between, wrapping around at the end.  At least one slot
 * is free.
 */
struct u64_map {
	struct u64_map_entry *entries; /* NULL while there are no slots */
	/* the keys, stored behind the entries in the same allocation */
	uint64_t *keys;
	size_t slot_count;
	size_t used; /* number of slots in use, not counting 'zero' */
	struct u64_map_seed seed;
	/* the entry of key 0, which is not in the table */
	struct u64_map_entry zero;
	bool has_zero;
};

/* Make an empty map.  Allocate nothing. */
void u64_map_init(struct u64_map *map);

/* Make the map empty and free its memory. */
void u64_map_fini(struct u64_map *map);

/* Return the number of entries. */
size_t u64_map_count(const struct u64_map *map);

/*
 * Return the entry of 'key', or NULL.  The pointer is valid until the next put
 * or remove.
 */
struct u64_map_entry *u64_map_find(struct u64_map *map, uint64_t key);

/*
 * Return the entry of 'key'.  If there is none, add one whose words are 0.
 * '*added_ret' is true if the entry was added.  Return NULL, with the map
 * unchanged, if there is no memory.
 */
struct u64_map_entry *u64_map_put(struct u64_map *map, uint64_t key,
				  bool *added_ret);

/* Remove an entry that u64_map_find() or u64_map_put() has just returned. */
void u64_map_remove(struct u64_map *map, struct u64_map_entry *entry);

/* Return the memory of the table in bytes. */
static inline uint64_t
u64_map_memory(const struct u64_map *map)
{
	return (uint64_t)map->slot_count *
	       (sizeof(*map->entries) + sizeof(*map->keys));
}

/*
 * Slot 'hole' of a table with open addressing and linear probing has become
 * free.  Must the entry in 'slot', for which a search begins at slot 'home',
 * stay in 'slot'?
 */
static inline bool
u64_map_stays(size_t home, size_t hole, size_t slot)
{
	/* Is 'home' in (hole, slot], wrapping around at the end? */
	return hole < slot ? hole < home && home <= slot
			   : hole < home || home <= slot;
}

/* Fill a seed with random numbers. */
void u64_map_seed_init(struct u64_map_seed *seed);

/* Return a seeded hash of 'key'.  All 64 bits are usable. */
static inline uint64_t
u64_map_seed_hash(const struct u64_map_seed *seed, uint64_t key)
{
	__extension__ typedef unsigned __int128 wide;
	const uint64_t *const n = seed->numbers;
	const wide a = (wide)(key ^ n[0]) * n[1];
	const wide b = (wide)((uint64_t)a ^ (uint64_t)(a >> 64)) * n[2];

	return (uint64_t)b ^ (uint64_t)(b >> 64);
}

/* Return the hash of 'key' in this map. */
static inline uint64_t
u64_map_hash(const struct u64_map *map, uint64_t key)
{
	return u64_map_seed_hash(&map->seed, key);
}

/*
 * Return the slot where the search for 'key' begins.  The map must have slots.
 */
static inline size_t
u64_map_home(const struct u64_map *map, uint64_t key)
{
	__extension__ typedef unsigned __int128 wide;

	return (size_t)((wide)u64_map_hash(map, key) * map->slot_count >> 64);
}

#endif /* HATF_U64_MAP_H */
