/* SPDX-License-Identifier: MIT */
/*
 * u64_map.c - see u64_map.h
 *
 * Removal shifts later keys of the run back instead of leaving a mark, so the
 * length of a search depends on what is in the set now, not on its history.  The
 * home slot is the hash scaled to the table, not masked: any table size will do,
 * and a resize, which visits the keys nearly in order of their hashes, writes the
 * new table nearly in order.
 */
#include "hatf/containers/u64_map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

void
live_seed_init(struct live_seed *seed)
{
	uint64_t *const n = seed->numbers;

	if (getrandom(n, sizeof(seed->numbers), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(seed->numbers)) {
		struct timespec now;

		/* Early in a boot there is no randomness yet. */
		clock_gettime(CLOCK_MONOTONIC, &now);
		n[0] = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15;
		n[1] = (uint64_t)(uintptr_t)seed ^ n[0] << 21;
		n[2] = (uint64_t)now.tv_sec ^ n[0] << 7;
	}
	/* A factor with few bits, or 0, would not mix. */
	n[1] |= 0x8000000000000001;
	n[2] |= 0x8000000000000001;
}

void
live_init(struct live *live)
{
	*live = (struct live){ 0 };
	live_seed_init(&live->seed);
}

void
live_fini(struct live *live)
{
	free(live->blocks);
	live->blocks = NULL;
	live->keys = NULL;
	live->slot_count = live->used = 0;
	live->has_zero = false;
}

size_t
live_count(const struct live *live)
{
	return live->used + live->has_zero;
}

static inline size_t
after(const struct live *live, size_t slot)
{
	return slot + 1 == live->slot_count ? 0 : slot + 1;
}

/* The slot that holds 'address', or the free one where it would go. */
static inline size_t
seek(const struct live *live, uint64_t address)
{
	size_t slot = live_home(live, address);

	while (live->keys[slot] != address && live->keys[slot] != 0)
		slot = after(live, slot);
	return slot;
}

struct live_block *
live_find(struct live *live, uint64_t address)
{
	if (address == 0)
		return live->has_zero ? &live->zero : NULL;
	if (live->used == 0)
		return NULL;

	const size_t slot = seek(live, address);

	return live->keys[slot] == address ? &live->blocks[slot] : NULL;
}

/*
 * Memory for the slots, with no key.  Look-ups jump about in it, so from
 * HUGE_NBYTES on it asks for huge pages: with small ones most of them cost a walk
 * of the page tables.
 */
#define HUGE_NBYTES	  ((size_t)2 << 20)
#define CACHE_LINE_NBYTES 64

static bool
allocate(struct live *live, size_t slot_count)
{
	const size_t slot_nbytes = sizeof(*live->blocks) + sizeof(*live->keys);
	size_t nbytes, align = CACHE_LINE_NBYTES;

	if (__builtin_mul_overflow(slot_count, slot_nbytes, &nbytes) ||
	    nbytes > SIZE_MAX - HUGE_NBYTES)
		return false;
	if (nbytes >= HUGE_NBYTES)
		align = HUGE_NBYTES;
	nbytes = (nbytes + align - 1) & ~(align - 1);
	live->blocks = aligned_alloc(align, nbytes);
	if (live->blocks == NULL)
		return false;
	if (align == HUGE_NBYTES)
		madvise(live->blocks, nbytes, MADV_HUGEPAGE);
	live->keys = (uint64_t *)(live->blocks + slot_count);
	memset(live->keys, 0, slot_count * sizeof(*live->keys));
	live->slot_count = slot_count;
	return true;
}

/* Move everything to a table of 'slot_count'; false if there is no memory. */
static bool
resize(struct live *live, size_t slot_count)
{
	struct live other = *live;

	if (!allocate(&other, slot_count))
		return false;
	for (size_t i = 0; i < live->slot_count; i++) {
		if (live->keys[i] == 0)
			continue;

		const size_t slot = seek(&other, live->keys[i]);

		other.keys[slot] = live->keys[i];
		other.blocks[slot] = live->blocks[i];
	}
	free(live->blocks);
	*live = other;
	return true;
}

/* Make sure that one more key leaves a quarter free. */
static bool
make_room(struct live *live)
{
	if (live->used < live->slot_count - live->slot_count / 4)
		return true;
	return resize(live, live->slot_count == 0
				    ? LIVE_MIN_SLOTS
				    : live->slot_count + live->slot_count / 2);
}

struct live_block *
live_put(struct live *live, uint64_t address, bool *added_ret)
{
	struct live_block *block = &live->zero;

	if (address == 0) {
		*added_ret = !live->has_zero;
		live->has_zero = true;
	} else {
		if (!make_room(live))
			return NULL;

		const size_t slot = seek(live, address);

		*added_ret = live->keys[slot] == 0;
		live->used += *added_ret;
		live->keys[slot] = address;
		block = &live->blocks[slot];
	}
	if (*added_ret)
		*block = (struct live_block){ 0 };
	return block;
}

/*
 * Fill the free slot 'hole' with the first later key of its run that may lie
 * there, and go on with the hole which that leaves.
 */
static void
close_hole(struct live *live, size_t hole)
{
	size_t slot = hole;

	for (;;) {
		slot = after(live, slot);
		if (live->keys[slot] == 0)
			break;

		const size_t home = live_home(live, live->keys[slot]);
		/* Is 'home' in (hole, slot], counting round the end? */
		const bool stays = hole < slot ? hole < home && home <= slot
					       : hole < home || home <= slot;

		if (!stays) {
			live->keys[hole] = live->keys[slot];
			live->blocks[hole] = live->blocks[slot];
			hole = slot;
		}
	}
	live->keys[hole] = 0;
}

void
live_remove(struct live *live, struct live_block *block)
{
	if (block == &live->zero) {
		live->has_zero = false;
		return;
	}
	close_hole(live, (size_t)(block - live->blocks));
	live->used--;
	/* Without memory for a smaller table the large one will do. */
	if (live->used < live->slot_count / 4 &&
	    live->slot_count > LIVE_MIN_SLOTS)
		resize(live, live->slot_count / 2 > LIVE_MIN_SLOTS
				     ? live->slot_count / 2
				     : LIVE_MIN_SLOTS);
}
