/* SPDX-License-Identifier: MIT */
/*
 * live_table.h - where each live block of a heap came from
 *
 * A hash table of blocks.  Keys that are near each other have adjacent homes,
 * so that blocks which come and go together share cache lines:
 *
 * 	home = hash(key / GROUP) + place of the key in its group
 *
 * The key is the object's number.  Programs use blocks together that they have
 * allocated together, and such blocks have numbers near each other.  If a trace
 * contradicts itself or does not identify each block's object, the table
 * switches to addresses as keys.  From then on, a new block replaces an older
 * block with the same address.
 *
 * Collisions go to the next free slot.  At most 5/8 of the slots are in use, so
 * a block takes 51 to 102 bytes.  The hash is seeded for each process.
 *
 * Only one thread at a time may use a table.
 */
#ifndef LIVE_TABLE_H
#define LIVE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A block, in half a cache line. */
struct live_block {
	uint64_t object, address, size;
	uint32_t stack; /* row of the stack of its alloc or last realloc */
	/* row of the thread and size class, plus 1; 0: the slot is free */
	uint32_t lane_plus_1;
};

/* Begins as all zeros. */
struct live_table {
	struct live_block *slots; /* an array; its length is a power of two */
	size_t slot_count, count;
	unsigned shift; /* 64 - log2(slot_count) */
	bool by_address;
};

/* Fetch the slot of a block into the cache. */
static inline void live_table_prefetch(const struct live_table *t,
				       uint64_t object, uint64_t address);

/*
 * Add a block.  If the table has a block with the same key, replace it and copy
 * the old one to '*old_ret'; otherwise set old_ret->lane_plus_1 to 0.  Return
 * false if there is no memory.
 */
bool live_table_put(struct live_table *t, const struct live_block *block,
		    struct live_block *old_ret);

/* Remove a block; false if the table does not contain the block. */
bool live_table_take(struct live_table *t, uint64_t object, uint64_t address,
		     struct live_block *old_ret);

/* Find a block, valid until the table changes; NULL if the table lacks it. */
const struct live_block *live_table_find(const struct live_table *t,
					 uint64_t object, uint64_t address);

/* From now on use addresses as keys.  Return false if there is no memory. */
bool live_table_use_addresses(struct live_table *t);

void live_table_free(struct live_table *t);

/* The seed of the hash of all tables, set when the first table is made. */
extern uint64_t live_table_seed;

/*
 * Addresses that are multiples of 16, as allocators return, have the places 0
 * to 63 in groups of 1024 bytes.  All other addresses have further places; they
 * occur only in traces that have serial numbers in place of addresses.
 */
static inline size_t
live_table_home(const struct live_table *t, uint64_t key)
{
	const uint64_t group = key >> (t->by_address ? 10 : 5);
	const size_t place =
		t->by_address ? (key >> 4 & 63) | (key & 15) << 6 : key & 31;
	const uint64_t hash = (group ^ live_table_seed) * 0x9e3779b97f4a7c15;

	return ((size_t)(hash >> t->shift) + place) & (t->slot_count - 1);
}

static inline void
live_table_prefetch(const struct live_table *t, uint64_t object,
		    uint64_t address)
{
	if (t->slot_count != 0)
		__builtin_prefetch(
			&t->slots[live_table_home(t, t->by_address ? address
								   : object)],
			1);
}

#endif /* LIVE_TABLE_H */
