/* SPDX-License-Identifier: MIT */
/*
 * live.h - the set of live blocks, by address
 *
 * A hash table with the entries in the table itself (open addressing, linear
 * probing), so that a look-up costs one cache miss.  It is between 1/4 and 3/4
 * full, growing by half and shrinking to half: 53 to 80 bytes a block while the
 * set grows, never more than 160 once it is larger than LIVE_MIN_SLOTS.
 *
 * A resize moves everything at once.  Doing it little by little would bound the
 * time of one operation, which nobody waits for here, and would make each of them
 * look in two tables; the mean cost is constant either way.
 *
 * The hash is seeded with random numbers, so that no trace, however it was made,
 * can choose addresses that collide.  Every key is allowed, 0 too.
 */
#ifndef HATF_LIVE_H
#define HATF_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_MIN_SLOTS 64

struct live_entry {
	uint64_t address;     /* the key */
	uint64_t size;	      /* bytes asked for */
	uint64_t object;      /* id */
	uint64_t birth_time;
	uint64_t birth_event; /* number */
};

/*
 * Invariant: an entry lies at its home slot (see live_home()) or after it, with
 * no free slot in between, counting round the end; a free slot has address 0.
 */
struct live {
	struct live_entry *slots; /* NULL while there are none */
	size_t slot_count;
	size_t used;		  /* slots */
	uint64_t seed[3];
	struct live_entry zero;	  /* the entry of address 0 */
	bool has_zero;
};

/* An empty set; allocates nothing. */
void live_init(struct live *live);
void live_fini(struct live *live);

/* Entries in the set. */
size_t live_count(const struct live *live);

/* The entry of 'address', or NULL.  Valid until the next insert or remove. */
struct live_entry *live_find(struct live *live, uint64_t address);

/*
 * Insert a copy of 'entry', whose address must not be in the set.  False if there
 * is no memory, with the set unchanged.
 */
bool live_insert(struct live *live, const struct live_entry *entry);

/* Remove an entry that live_find() has just returned. */
void live_remove(struct live *live, struct live_entry *entry);

/* A seeded hash of 'address': all bits are usable. */
static inline uint64_t
live_hash(const struct live *live, uint64_t address)
{
	__extension__ typedef unsigned __int128 wide;
	const wide a = (wide)(address ^ live->seed[0]) * live->seed[1];
	const wide b = (wide)((uint64_t)a ^ (uint64_t)(a >> 64)) *
		       live->seed[2];

	return (uint64_t)b ^ (uint64_t)(b >> 64);
}

/* The slot where the search for 'address' begins; there must be slots. */
static inline size_t
live_home(const struct live *live, uint64_t address)
{
	__extension__ typedef unsigned __int128 wide;

	return (size_t)((wide)live_hash(live, address) * live->slot_count >>
			64);
}

/* Begin to load what live_find() will look at. */
static inline void
live_prefetch(const struct live *live, uint64_t address)
{
	if (live->slot_count != 0)
		__builtin_prefetch(&live->slots[live_home(live, address)]);
}

#endif /* HATF_LIVE_H */
