/* SPDX-License-Identifier: MIT */
/* live_table.c - see live_table.h */
#include "tools/summary/live_table.h"

#include <sys/mman.h>
#include <sys/random.h>

#define SLOTS_MIN 2048 /* must exceed the 1024 places of a group */

/*
 * Minimum size of a table that uses large pages.  In a smaller table, large
 * pages would waste memory.
 */
#define HUGE_MIN_NBYTES ((size_t)16 << 20)

uint64_t live_table_seed;

static uint64_t
key_of(const struct live_table *t, const struct live_block *block)
{
	return t->by_address ? block->address : block->object;
}

/* Return the slot of a key, or the free slot where the key belongs. */
static size_t
seek(const struct live_table *t, uint64_t key)
{
	size_t i = live_table_home(t, key);

	while (t->slots[i].lane_plus_1 != 0 && key_of(t, &t->slots[i]) != key)
		i = (i + 1) & (t->slot_count - 1);
	return i;
}

/*
 * Map memory of this size, all zeros.  Successive events use slots far apart,
 * so large pages avoid most TLB misses.
 */
static struct live_block *
make_slots(size_t count)
{
	const size_t nbytes = count * sizeof(struct live_block);
	void *const slots = mmap(NULL, nbytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (slots == MAP_FAILED)
		return NULL;
	if (nbytes >= HUGE_MIN_NBYTES)
		/* Ignore a failure, because this is only a hint. */
		madvise(slots, nbytes, MADV_HUGEPAGE);
	return slots;
}

static void
free_slots(struct live_block *slots, size_t count)
{
	if (slots != NULL)
		munmap(slots, count * sizeof(*slots));
}

/* Move all blocks into 'count' new slots; false if there is no memory. */
static bool
move_to(struct live_table *t, size_t count)
{
	struct live_block *const old = t->slots;
	const size_t old_count = t->slot_count;
	struct live_block *const slots = make_slots(count);

	if (slots == NULL)
		return false;
	if (live_table_seed == 0 &&
	    getrandom(&live_table_seed, sizeof(live_table_seed),
		      GRND_NONBLOCK) < 0)
		live_table_seed = (uintptr_t)slots;
	t->slots = slots;
	t->slot_count = count;
	t->shift = 64 - (unsigned)__builtin_ctzll(count);
	for (size_t i = 0; i < old_count; i++)
		if (old[i].lane_plus_1 != 0)
			slots[seek(t, key_of(t, &old[i]))] = old[i];
	free_slots(old, old_count);
	return true;
}

bool
live_table_use_addresses(struct live_table *t)
{
	t->by_address = true;
	return t->slot_count == 0 || move_to(t, t->slot_count);
}

bool
live_table_put(struct live_table *t, const struct live_block *block,
	       struct live_block *old_ret)
{
	size_t i;

	if (t->count >= t->slot_count / 8 * 5 &&
	    !move_to(t, t->slot_count == 0 ? SLOTS_MIN : 2 * t->slot_count))
		return false;
	i = seek(t, key_of(t, block));
	t->count += t->slots[i].lane_plus_1 == 0;
	*old_ret = t->slots[i];
	t->slots[i] = *block;
	return true;
}

/*
 * Free slot 'hole'.  The search for a block stops at a free slot.  So look at
 * each block up to the next free slot, and move the block if its search passes
 * the hole.
 */
static void
close_hole(struct live_table *t, size_t hole)
{
	const size_t mask = t->slot_count - 1;
	size_t i = hole;

	for (;;) {
		i = (i + 1) & mask;
		if (t->slots[i].lane_plus_1 == 0)
			break;

		const size_t home = live_table_home(t, key_of(t, &t->slots[i]));

		/*
		 * If the search for this block, which begins at the block's
		 * home, passes the hole, move the block into the hole.
		 */
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			t->slots[hole] = t->slots[i];
			hole = i;
		}
	}
	t->slots[hole].lane_plus_1 = 0;
}

bool
live_table_take(struct live_table *t, uint64_t object, uint64_t address,
		struct live_block *old_ret)
{
	size_t i;

	if (t->count == 0)
		return false;
	i = seek(t, t->by_address ? address : object);
	*old_ret = t->slots[i];
	if (old_ret->lane_plus_1 == 0)
		return false;
	close_hole(t, i);
	t->count--;
	return true;
}

const struct live_block *
live_table_find(const struct live_table *t, uint64_t object, uint64_t address)
{
	const struct live_block *block;

	if (t->count == 0)
		return NULL;
	block = &t->slots[seek(t, t->by_address ? address : object)];
	return block->lane_plus_1 != 0 ? block : NULL;
}

void
live_table_free(struct live_table *t)
{
	free_slots(t->slots, t->slot_count);
	*t = (struct live_table){ .by_address = t->by_address };
}
