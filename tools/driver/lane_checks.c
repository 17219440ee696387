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

/* Pause for up to 128 us at one place of many. */
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

/* Does the block say that it is the one of its slot? */
static bool
has_mark(const struct lane_checks *checks, uint32_t slot, const void *block)
{
	uint64_t mark;

	if (block == NULL || !checks->has_memory ||
	    checks->sizes[slot] < sizeof(mark))
		return true;
	memcpy(&mark, block, sizeof(mark));
	return mark == mark_of(slot);
}

const char *
lane_check_before(struct lane_checks *checks, lane_random *random,
		  enum word_kind kind, uint32_t slot, const void *block)
{
	const bool is_old = kind == WORD_FREE || kind == WORD_REALLOC;
	uint8_t state;

	pause_at_random(checks, random);
	/*
	 * relaxed: the order between threads is that of turn_pass() and
	 * turn_wait(), and a lack of it is what is looked for.
	 */
	state = atomic_exchange_explicit(&checks->states[slot], SLOT_BUSY,
					 memory_order_relaxed);
	if (state == SLOT_BUSY)
		return "a block has two owners";
	if (is_old && state == SLOT_FREE)
		return "a block is freed before it was allocated";
	if (!is_old && state == SLOT_LIVE)
		return "a block is allocated before the last one was freed";
	if (is_old && !has_mark(checks, slot, block))
		return "a block was changed: the allocator gave its memory to "
		       "another one";
	pause_at_random(checks, random);
	return NULL;
}

const char *
lane_check_after(struct lane_checks *checks, lane_random *random,
		 enum word_kind kind, uint32_t slot, void *block, uint64_t size)
{
	const uint64_t mark = mark_of(slot);
	const uint8_t next = kind == WORD_FREE ? SLOT_FREE : SLOT_LIVE;
	uint8_t state;

	pause_at_random(checks, random);
	checks->sizes[slot] = block != NULL ? size : 0;
	if (block != NULL && checks->has_memory && size >= sizeof(mark))
		memcpy(block, &mark, sizeof(mark));
	/* relaxed: see lane_check_before(). */
	state = atomic_exchange_explicit(&checks->states[slot], next,
					 memory_order_relaxed);
	if (state != SLOT_BUSY)
		return "a block has two owners";
	pause_at_random(checks, random);
	return NULL;
}
