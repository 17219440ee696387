/* SPDX-License-Identifier: MIT */
/*
 * u64_map.h - what is known of addresses and ids, by number
 *
 * For numbers of which neighbours have nothing in common; the live blocks
 * themselves are in block_set.h.  A hash table with open addressing and linear
 * probing.  The addresses are in an array of their own, eight to a cache line,
 * so that a search, however long, touches a line or two of them, and then at
 * most one of the blocks:
 *
 *	keys    |  a  |  0  |  b  |  c  |  0  |	 8 bytes each, 0: free
 *	blocks  |  A  |     |  B  |  C  |     |	16 bytes each
 *
 * It is between 1/4 and 3/4 full, growing by half and shrinking to half: 32 to
 * 48 bytes a number while the set grows, never more than 96 once it is larger
 * than U64_MAP_MIN_SLOTS.
 *
 * A resize moves everything at once, and has both tables while it does.  Doing
 * it little by little would bound the time of one operation, which nobody waits
 * for here, and would make each of them look in two tables; the mean cost is
 * constant either way.
 *
 * The hash is seeded with random numbers, so that no trace, however it was
 * made, can choose addresses that collide.  Every key is allowed, 0 too.
 */
#ifndef HATF_U64_MAP_H
#define HATF_U64_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define U64_MAP_MIN_SLOTS 64

/* Random numbers, those of a set. */
struct u64_map_seed {
	uint64_t numbers[3];
};

/* What is known of a number: what these two are is up to the user. */
struct u64_map_entry {
	uint64_t extra;
	uint64_t value;
};

/*
 * Invariant: a key lies at its home slot (see u64_map_home()) or after it, with no
 * free slot in between, counting round the end; at least one slot is free.
 */
struct u64_map {
	struct u64_map_entry *entries; /* NULL while there are no slots */
	uint64_t *keys;		       /* behind 'blocks' in the same memory */
	size_t slot_count;
	size_t used; /* slots */
	struct u64_map_seed seed;
	struct u64_map_entry zero; /* the entry of key 0 */
	bool has_zero;
};

/* An empty set; allocates nothing. */
void u64_map_init(struct u64_map *map);

/* Back to an empty set, without memory. */
void u64_map_fini(struct u64_map *map);

/* Blocks in the set. */
size_t u64_map_count(const struct u64_map *map);

/* The entry at 'key', or NULL.  Valid until the next put or remove. */
struct u64_map_entry *u64_map_find(struct u64_map *map, uint64_t key);

/*
 * The block at 'address', which is added with all fields 0 if it is not there;
 * '*added_ret' tells.  NULL if there is no memory, with the set unchanged.
 */
struct u64_map_entry *u64_map_put(struct u64_map *map, uint64_t key,
				  bool *added_ret);

/* Remove a entry that u64_map_find() or u64_map_put() has just returned. */
void u64_map_remove(struct u64_map *map, struct u64_map_entry *entry);

/* Bytes of memory that the set takes. */
static inline uint64_t
u64_map_memory(const struct u64_map *map)
{
	return (uint64_t)map->slot_count *
	       (sizeof(*map->entries) + sizeof(*map->keys));
}

void u64_map_seed_init(struct u64_map_seed *seed);

/* A seeded hash of 'key': all bits are usable. */
static inline uint64_t
u64_map_seed_hash(const struct u64_map_seed *seed, uint64_t key)
{
	__extension__ typedef unsigned __int128 wide;
	const uint64_t *const n = seed->numbers;
	const wide a = (wide)(key ^ n[0]) * n[1];
	const wide b = (wide)((uint64_t)a ^ (uint64_t)(a >> 64)) * n[2];

	return (uint64_t)b ^ (uint64_t)(b >> 64);
}

static inline uint64_t
u64_map_hash(const struct u64_map *map, uint64_t key)
{
	return u64_map_seed_hash(&map->seed, key);
}

/* The slot where the search for 'key' begins; there must be slots. */
static inline size_t
u64_map_home(const struct u64_map *map, uint64_t key)
{
	__extension__ typedef unsigned __int128 wide;

	return (size_t)((wide)u64_map_hash(map, key) * map->slot_count >> 64);
}

#endif /* HATF_U64_MAP_H */
