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
 * than LIVE_MIN_SLOTS.
 *
 * A resize moves everything at once, and has both tables while it does.  Doing
 * it little by little would bound the time of one operation, which nobody waits
 * for here, and would make each of them look in two tables; the mean cost is
 * constant either way.
 *
 * The hash is seeded with random numbers, so that no trace, however it was
 * made, can choose addresses that collide.  Every key is allowed, 0 too.
 */
#ifndef HATF_LIVE_H
#define HATF_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_MIN_SLOTS 64

/* Random numbers, those of a set. */
struct live_seed {
	uint64_t numbers[3];
};

/* What is known of a number: what these two are is up to the user. */
struct live_block {
	uint64_t size;
	uint64_t object;
};

/*
 * Invariant: a key lies at its home slot (see live_home()) or after it, with no
 * free slot in between, counting round the end; at least one slot is free.
 */
struct live {
	struct live_block *blocks; /* NULL while there are no slots */
	uint64_t *keys;		   /* behind 'blocks' in the same memory */
	size_t slot_count;
	size_t used; /* slots */
	struct live_seed seed;
	struct live_block zero; /* the block of address 0 */
	bool has_zero;
};

/* An empty set; allocates nothing. */
void live_init(struct live *live);

/* Back to an empty set, without memory. */
void live_fini(struct live *live);

/* Blocks in the set. */
size_t live_count(const struct live *live);

/* The block at 'address', or NULL.  Valid until the next put or remove. */
struct live_block *live_find(struct live *live, uint64_t address);

/*
 * The block at 'address', which is added with all fields 0 if it is not there;
 * '*added_ret' tells.  NULL if there is no memory, with the set unchanged.
 */
struct live_block *live_put(struct live *live, uint64_t address,
			    bool *added_ret);

/* Remove a block that live_find() or live_put() has just returned. */
void live_remove(struct live *live, struct live_block *block);

/* Bytes of memory that the set takes. */
static inline uint64_t
live_memory(const struct live *live)
{
	return (uint64_t)live->slot_count *
	       (sizeof(*live->blocks) + sizeof(*live->keys));
}

void live_seed_init(struct live_seed *seed);

/* A seeded hash of 'key': all bits are usable. */
static inline uint64_t
live_seed_hash(const struct live_seed *seed, uint64_t key)
{
	__extension__ typedef unsigned __int128 wide;
	const uint64_t *const n = seed->numbers;
	const wide a = (wide)(key ^ n[0]) * n[1];
	const wide b = (wide)((uint64_t)a ^ (uint64_t)(a >> 64)) * n[2];

	return (uint64_t)b ^ (uint64_t)(b >> 64);
}

static inline uint64_t
live_hash(const struct live *live, uint64_t address)
{
	return live_seed_hash(&live->seed, address);
}

/* The slot where the search for 'address' begins; there must be slots. */
static inline size_t
live_home(const struct live *live, uint64_t address)
{
	__extension__ typedef unsigned __int128 wide;

	return (size_t)((wide)live_hash(live, address) * live->slot_count >>
			64);
}

#endif /* HATF_LIVE_H */
