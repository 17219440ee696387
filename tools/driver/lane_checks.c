/* SPDX-License-Identifier: MIT */
/* lane_checks.c - see lane_checks.h */
#include "tools/driver/lane_checks.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

enum slot_state {
	SLOT_FREE,
	SLOT_LIVE,
	SLOT_BUSY,
};

/*
 * Pause at random, for up to 131 us.  On average, one of 'pause_mask' + 1 calls
 * of this function pauses.
 */
static void
pause_at_random(const struct lane_checks *checks, lane_random *random)
{
	struct timespec t = { .tv_sec = 0 };

	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	if ((*random >> 20 & checks->pause_mask) != 0)
		return;
	t.tv_nsec = (long)(*random >> 3 & 0x1ffff);
	nanosleep(&t, NULL);
}

static uint64_t
mark_of(uint32_t slot)
{
	return (slot + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
}

/*
 * Return how many marks the checks write to a block of 'size' bytes.  All marks
 * are in the first page of the block.
 */
static size_t
mark_count(uint64_t size)
{
	return (size < REPLAY_PAGE_NBYTES ? size : REPLAY_PAGE_NBYTES) /
	       sizeof(uint64_t);
}

static void
put_marks(void *block, uint64_t mark, size_t count)
{
	for (size_t i = 0; i < count; i++)
		memcpy((char *)block + i * sizeof(mark), &mark, sizeof(mark));
}

/* Do the first 'count' words of the block all equal 'mark'? */
static bool
has_marks(const void *block, uint64_t mark, size_t count)
{
	uint64_t found;

	for (size_t i = 0; i < count; i++) {
		memcpy(&found, (const char *)block + i * sizeof(found),
		       sizeof(found));
		if (found != mark)
			return false;
	}
	return true;
}

const char *
lane_check_before(struct lane_checks *checks, lane_random *random,
		  enum word_kind kind, uint32_t slot, const void *block)
{
	const bool is_old = kind == WORD_FREE || kind == WORD_REALLOC;
	uint8_t state;

	pause_at_random(checks, random);
	/*
	 * relaxed, because this check must not order the threads itself.  It
	 * looks for calls that turn_pass() and lane_times_wait() have failed
	 * to order.
	 */
	state = atomic_exchange_explicit(&checks->states[slot], SLOT_BUSY,
					 memory_order_relaxed);
	if (state == SLOT_BUSY)
		return "two calls use a block at once";
	if (is_old && state == SLOT_FREE)
		return "a block is freed or resized before it was allocated";
	if (!is_old && state == SLOT_LIVE)
		return "a block is allocated while it is live";
	if (is_old && block != NULL && checks->has_memory &&
	    !has_marks(block, mark_of(slot), mark_count(checks->sizes[slot])))
		return "a block was changed: the allocator gave its memory to "
		       "another block";
	pause_at_random(checks, random);
	return NULL;
}

/*
 * Does a block have the alignment that the call asked for?  A block in which a
 * pointer fits must also be aligned to the size of a pointer.  C requires more,
 * but some allocators align small blocks less.  Ignore a requested alignment
 * that is not a power of two, for which memalign may return any address.
 */
static bool
is_aligned(const void *block, uint64_t size, uint64_t alignment)
{
	uint64_t least = size >= sizeof(void *) ? sizeof(void *) : 1;

	if (alignment > least && (alignment & (alignment - 1)) == 0)
		least = alignment;
	return ((uintptr_t)block & (least - 1)) == 0;
}

const char *
lane_check_after(struct lane_checks *checks, lane_random *random,
		 enum word_kind kind, uint32_t slot, void *block, uint64_t size,
		 uint64_t alignment)
{
	const size_t count = mark_count(size);
	const size_t old = mark_count(checks->sizes[slot]);
	const uint8_t next = kind == WORD_FREE ? SLOT_FREE : SLOT_LIVE;
	uint8_t state;

	pause_at_random(checks, random);
	if (!checks->checks_alignment)
		alignment = 0;
	if (checks->has_memory && !is_aligned(block, size, alignment))
		return "a block is misaligned: its address is not a multiple "
		       "of the call's alignment, or of 8 bytes";
	if (block != NULL && checks->has_memory) {
		if (kind == WORD_CALLOC && !has_marks(block, 0, count))
			return "calloc returned a block that is not all zeros";
		if (kind == WORD_REALLOC &&
		    !has_marks(block, mark_of(slot), old < count ? old : count))
			return "realloc did not keep the contents of the block";
		put_marks(block, mark_of(slot), count);
	}
	checks->sizes[slot] = block != NULL ? size : 0;
	/* relaxed, because this check must not order the threads itself. */
	state = atomic_exchange_explicit(&checks->states[slot], next,
					 memory_order_relaxed);
	if (state != SLOT_BUSY)
		return "two calls use a block at once";
	pause_at_random(checks, random);
	return NULL;
}
