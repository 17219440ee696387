/* SPDX-License-Identifier: MIT */
/*
 * live.c - see live.h
 *
 * Removal shifts later entries of the run back instead of leaving a mark, so the
 * length of a search depends on what is in the set now, not on its history.  The
 * home slot is the hash scaled to the table, not masked: any table size will do,
 * and a resize, which visits the entries nearly in order of their hashes, writes
 * the new table nearly in order.
 */
#include "live.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

void
live_init(struct live *live)
{
	*live = (struct live){ 0 };
	if (getrandom(live->seed, sizeof(live->seed), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(live->seed)) {
		struct timespec now;

		/* Early in a boot there is no randomness yet. */
		clock_gettime(CLOCK_MONOTONIC, &now);
		live->seed[0] = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15;
		live->seed[1] = (uint64_t)(uintptr_t)live ^ live->seed[0] << 21;
		live->seed[2] = (uint64_t)now.tv_sec ^ live->seed[0] << 7;
	}
	/* A factor with few bits, or 0, would not mix. */
	live->seed[1] |= 0x8000000000000001;
	live->seed[2] |= 0x8000000000000001;
}

void
live_fini(struct live *live)
{
	free(live->slots);
	live->slots = NULL;
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

	while (live->slots[slot].address != address &&
	       live->slots[slot].address != 0)
		slot = after(live, slot);
	return slot;
}

struct live_entry *
live_find(struct live *live, uint64_t address)
{
	if (address == 0)
		return live->has_zero ? &live->zero : NULL;
	if (live->used == 0)
		return NULL;

	struct live_entry *const found = &live->slots[seek(live, address)];

	return found->address == address ? found : NULL;
}

/* Move everything to a table of 'slot_count'; false if there is no memory. */
static bool
resize(struct live *live, size_t slot_count)
{
	struct live bigger = *live;

	bigger.slot_count = slot_count;
	bigger.slots = calloc(slot_count, sizeof(*bigger.slots));
	if (bigger.slots == NULL)
		return false;
	for (size_t i = 0; i < live->slot_count; i++) {
		const struct live_entry *const entry = &live->slots[i];

		if (entry->address != 0)
			bigger.slots[seek(&bigger, entry->address)] = *entry;
	}
	free(live->slots);
	*live = bigger;
	return true;
}

bool
live_insert(struct live *live, const struct live_entry *entry)
{
	if (entry->address == 0) {
		live->zero = *entry;
		live->has_zero = true;
		return true;
	}
	if (live->used >= live->slot_count - live->slot_count / 4) {
		const size_t more = live->slot_count / 2;

		if (!resize(live, live->slot_count == 0
					  ? LIVE_MIN_SLOTS
					  : live->slot_count + more))
			return false;
	}

	struct live_entry *const slot =
		&live->slots[seek(live, entry->address)];

	assert(slot->address == 0);
	*slot = *entry;
	live->used++;
	return true;
}

/*
 * Fill the free slot 'hole' with the first later entry of its run that may lie
 * there, and go on with the hole which that leaves.
 */
static void
close_hole(struct live *live, size_t hole)
{
	size_t slot = hole;

	for (;;) {
		slot = after(live, slot);
		if (live->slots[slot].address == 0)
			break;

		const size_t home = live_home(live, live->slots[slot].address);
		/* Is 'home' in (hole, slot], counting round the end? */
		const bool stays = hole < slot ? hole < home && home <= slot
					       : hole < home || home <= slot;

		if (!stays) {
			live->slots[hole] = live->slots[slot];
			hole = slot;
		}
	}
	live->slots[hole].address = 0;
}

void
live_remove(struct live *live, struct live_entry *entry)
{
	if (entry == &live->zero) {
		live->has_zero = false;
		return;
	}
	close_hole(live, (size_t)(entry - live->slots));
	live->used--;
	/* Without memory for a smaller table the large one will do. */
	if (live->used < live->slot_count / 4 &&
	    live->slot_count > LIVE_MIN_SLOTS)
		resize(live, live->slot_count / 2 > LIVE_MIN_SLOTS
				     ? live->slot_count / 2
				     : LIVE_MIN_SLOTS);
}
