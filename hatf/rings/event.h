/* SPDX-License-Identifier: MIT */
/*
 * event.h - what the words in a ring mean
 *
 * The three low bits of an event's first word are its kind.  The two events that
 * matter, malloc and free, take one word, or two with a time stamp:
 *
 *   63         48 47                                3 2    0
 *  ┌─────────────┬───────────────────────────────────┬──────┐
 *  │ size, bytes │ address, bits 47..3               │ kind │   alloc, calloc
 *  ├─────────────┼───────────────────────────────────┼──────┤
 *  │      0      │ address, bits 47..3               │ kind │   free
 *  └─────────────┴───────────────────────────────────┴──────┘
 *  followed by a word of time stamp if the kind says so
 *
 * and a realloc that goes by the tick two, of which the second follows the first
 * in the ring:
 *
 *   63         48 47 46                             3 2    0
 *  ┌─────────────┬──┬────────────────────────────────┬──────┐
 *  │      0      │ 0│ old address, bits 46..3        │ kind │   its begin
 *  ├─────────────┼──┼────────────────────────────────┼──────┤
 *  │ size, bytes │ 1│ new address, bits 46..3        │ kind │   its end
 *  └─────────────┴──┴────────────────────────────────┴──────┘
 *
 * What does not fit (a size from 64 KiB on, an address above 48 bits, or 47 of a
 * realloc, or not a multiple of 8) and all other events are "wide":
 *
 *   31        16 15       8 7      3 2    0
 *  ┌────────────┬──────────┬────────┬──────┐
 *  │ flags      │ words    │ type   │ kind │ , stamp, up to four operands
 *  └────────────┴──────────┴────────┴──────┘
 *
 * An event without a stamp happened in the tick that the last EVENT_TICK before
 * it in the same ring gave.
 */
#ifndef EVENT_H
#define EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum event_kind {
	EVENT_KIND_ALLOC = 0,
	EVENT_KIND_FREE = 1,
	EVENT_KIND_ALLOC_STAMPED = 2,
	EVENT_KIND_FREE_STAMPED = 3,
	EVENT_KIND_WIDE = 4,
	EVENT_KIND_CALLOC = 5,
	EVENT_KIND_CALLOC_STAMPED = 6,
	EVENT_KIND_REALLOC = 7,
};
#define EVENT_KIND_MASK 7ull

/* Types of wide events, and their operands. */
enum event_type {
	EVENT_ALLOC,		  /* address, size, alignment (0: none) */
	EVENT_FREE,		  /* address */
	EVENT_REALLOC_BEGIN,	  /* old address */
	EVENT_REALLOC_END,	  /* old address, new address, size */
	EVENT_TICK,		  /* none; the stamp is the tick */
	EVENT_THREAD,		  /* parent, kernel tid, start routine */
	EVENT_NAME,		  /* thread, 16 bytes of name in two words */
	EVENT_FORK,		  /* ticket: see fork.c; before and after */
	EVENT_LOST,		  /* count, stamp of the first; the stamp is the
				last one's */
	EVENT_HEAP,		  /* heap, 16 bytes of name in two words */
	EVENT_HEAP_GONE,	  /* heap */
	EVENT_POOL_ALLOC,	  /* address, size, heap, alignment (0: none) */
	EVENT_POOL_FREE,	  /* address, heap */
	EVENT_POOL_REALLOC,	  /* old address, new address, size, heap */
	EVENT_MARK,		  /* 32 bytes of text */
	EVENT_POOL_REALLOC_BEGIN, /* old address, heap */
	EVENT_POOL_REALLOC_END,	  /* as EVENT_POOL_REALLOC */
	EVENT_HANDOVER, /* thread: the ring's thread has ended, and the events
			   that follow in the ring are this one's */
	EVENT_TYPE_COUNT
};

#define EVENT_FLAG_ZEROED 1u /* EVENT_ALLOC, EVENT_POOL_ALLOC: calloc */
#define EVENT_FLAG_FREED  2u /* the end of a realloc: the old block is gone */
#define EVENT_FLAG_MORE	  8u /* EVENT_MARK: the next one goes on */
#define EVENT_FLAG_FORKED 4u /* EVENT_FORK: it is over */

#define EVENT_WORDS_MAX	  6
#define EVENT_ALLOC_WORDS 5 /* the wide form */

/* Bits of an address that the one-word form has no room for. */
#define EVENT_ADDRESS_REST 0xffff000000000007ull
#define EVENT_REALLOC_REST 0xffff800000000007ull
#define EVENT_REALLOC_DONE (1ull << 47) /* it is the end */
#define EVENT_SIZE_SHIFT   48
#define EVENT_SIZE_LIMIT   (1ull << (64 - EVENT_SIZE_SHIFT))

static inline uint64_t
event_wide(enum event_type type, unsigned words, unsigned flags)
{
	return EVENT_KIND_WIDE | (uint64_t)type << 3 | (uint64_t)words << 8 |
	       (uint64_t)flags << 16;
}

/* Operands of a wide event, which has so many words and two. */
static inline unsigned
event_operand_count(enum event_type type)
{
	static const unsigned char count[EVENT_TYPE_COUNT] = {
		[EVENT_ALLOC] = 3,
		[EVENT_FREE] = 1,
		[EVENT_REALLOC_BEGIN] = 1,
		[EVENT_REALLOC_END] = 3,
		[EVENT_TICK] = 0,
		[EVENT_THREAD] = 3,
		[EVENT_NAME] = 3,
		[EVENT_FORK] = 1,
		[EVENT_LOST] = 2,
		[EVENT_HEAP] = 3,
		[EVENT_HEAP_GONE] = 1,
		[EVENT_POOL_ALLOC] = 4,
		[EVENT_POOL_FREE] = 2,
		[EVENT_POOL_REALLOC] = 4,
		[EVENT_MARK] = 4,
		[EVENT_POOL_REALLOC_BEGIN] = 2,
		[EVENT_POOL_REALLOC_END] = 4,
		[EVENT_HANDOVER] = 1,
	};

	return count[type];
}

/* An event taken out of a ring. */
struct event {
	enum event_type type;
	unsigned flags;
	unsigned words; /* that it took */
	bool by_tick;	/* the stamp is that of a tick */
	uint64_t stamp;
	uint64_t operand[4];
};

#endif /* EVENT_H */
