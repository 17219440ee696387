/* SPDX-License-Identifier: MIT */
/*
 * live_table.h - where each live block of a heap came from
 *
 * A hash table by address.  The blocks of 1024 adjacent bytes have adjacent
 * homes, so that neighbours share cache lines:
 *
 *	home = hash(address / 1024) + place within the 1024 bytes
 *
 * Places that are multiples of 16, as those of an allocator, have the homes 0
 * to 63.  Others occur only in traces whose addresses are serial numbers; these
 * have homes of their own.
 *
 * Collisions go to the next free slot.  At most 5/8 of the slots are in use, so
 * a block takes up to 77 bytes.  The hash is seeded for each process.
 *
 * Used by one thread at a time.
 */
#ifndef LIVE_TABLE_H
#define LIVE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_block {
	uint64_t address, size;
	uint32_t stack; /* row of the stack that allocated it last */
	/* row of its thread and size class, plus 1; 0: a free slot */
	uint32_t lane_plus_1;
};

/* Begins as all zeros. */
struct live_table {
	struct live_block *slots; /* a power of two of them */
	size_t slot_count, count;
	unsigned shift; /* 64 - log2(slot_count) */
};

/* Fetch the slot of an address into the cache. */
static inline void live_table_prefetch(const struct live_table *t,
				       uint64_t address);

/*
 * Put a block where there is none or one with the same address, which is then
 * copied to '*old_ret'; otherwise old_ret->lane_plus_1 becomes 0.  False if
 * there is no memory.
 */
bool live_table_put(struct live_table *t, const struct live_block *block,
		    struct live_block *old_ret);

/* Remove the block at 'address'; false if there is none. */
bool live_table_take(struct live_table *t, uint64_t address,
		     struct live_block *old_ret);

/* The block at 'address', valid until the table changes; NULL if there is none.
 */
const struct live_block *live_table_find(const struct live_table *t,
					 uint64_t address);

void live_table_free(struct live_table *t);

/* Of the hash of all tables: set when the first table is made. */
extern uint64_t live_table_seed;

static inline size_t
live_table_home(const struct live_table *t, uint64_t address)
{
	const uint64_t hash =
		((address >> 10) ^ live_table_seed) * 0x9e3779b97f4a7c15;
	const size_t place = (address >> 4 & 63) | (address & 15) << 6;

	return ((size_t)(hash >> t->shift) + place) & (t->slot_count - 1);
}

static inline void
live_table_prefetch(const struct live_table *t, uint64_t address)
{
	const struct live_block *slot;

	if (t->slot_count == 0)
		return;
	/* A slot may lie in two cache lines. */
	slot = &t->slots[live_table_home(t, address)];
	__builtin_prefetch(slot, 1);
	__builtin_prefetch(&slot->lane_plus_1, 1);
}

#endif /* LIVE_TABLE_H */
