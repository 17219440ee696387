/* SPDX-License-Identifier: MIT */
/*
 * census.h - count the allocations of a trace by stack, thread, size and heap
 *
 * One pass over the events of a trace.  Memory is O(live blocks + stacks +
 * threads + heaps + crossings, which are pairs of threads); it does not grow
 * with the length of the trace.
 *
 * What is counted:
 *
 *   - An alloc or realloc that returns a block allocates a block of the new
 *     size.  The census counts it for the stack and the thread of the call.
 *   - A free, or a successful realloc of a block, frees the block.  The census
 *     counts this for the stack and the thread that allocated the block.  So a
 *     realloc that moves a block, or resizes it in place, counts twice: as an
 *     allocation and as a free.
 *   - 'failed_calls' counts the failed calls.  'realloc_calls' also counts the
 *     failed reallocs, but 'alloc_calls' does not count the failed allocs.
 *   - A block is temporary if the next call of the thread that allocated the
 *     block frees the block.  A call is an alloc, a realloc or a free that did
 *     not fail.
 *   - An object is a block together with those into which reallocs turn it.
 *     Its lifetime lasts from its alloc to its free; reallocs do not end it.
 *   - The peak is the first moment at which the most bytes were live, or with
 *     'peak_is_count' the most blocks.
 *   - Blocks that were live when the trace began (inherited or carried ones)
 *     count as live, but not as allocated.
 *
 * Only one thread at a time may use a census.
 */
#ifndef CENSUS_H
#define CENSUS_H

#include "hatf/hatf.h"
#include "tools/sites/id_rows.h"
#include "tools/summary/account.h"
#include "tools/summary/history.h"
#include "tools/summary/live_rows.h"
#include "tools/summary/pairs.h"
#include "tools/summary/waste.h"
#include "tools/trace/trace_window.h"

/*
 * Size class 0 contains only the size 0.  Class n contains the sizes above
 * 2^(n-2) up to 2^(n-1), so class 1 contains only the size 1.  Lifetimes use
 * the same classes.
 */
#define CLASS_COUNT 66

/* Rows of stacks that every census has. */
enum {
	STACK_NONE, /* the call has no stack, or an undefined one */
	/* Blocks that a forked child inherited from its parent. */
	STACK_INHERITED,
	STACK_FIRST, /* row of the first stack of the trace */
};

static inline unsigned
census_class(uint64_t n)
{
	return n <= 1 ? (unsigned)n : 65 - (unsigned)__builtin_clzll(n - 1);
}

/* Return the largest size, or the largest lifetime, in class 'c'. */
static inline uint64_t
census_class_end(unsigned c)
{
	if (c <= 1)
		return c;
	return c == CLASS_COUNT - 1 ? UINT64_MAX : (uint64_t)1 << (c - 1);
}

/* A thread. */
struct census_thread {
	uint64_t id;
	char *name; /* the newest name; untrusted; NULL: none */
	/*
	 * id of the object that the thread's latest call allocated or resized;
	 * 0: none, for example after a free
	 */
	uint64_t last_object;
	/* blocks of the thread that were live when it ended */
	struct amount outlived;
	bool ended;
};

/* A thread and a size class. */
struct lane {
	uint32_t thread; /* row of the thread */
	uint32_t size_class;
};

/* Blocks that one thread allocated and another one freed. */
struct crossing {
	uint32_t from, to; /* rows of the allocating and the freeing thread */
	struct amount freed;
};

/* A moment of the trace. */
struct moment {
	uint64_t event; /* number of calls before this moment */
	uint64_t time;
};

/*
 * The part of the trace that the census counts, and the settings of the peak
 * and of the history.  All zeros: count the whole trace.
 */
struct census_window {
	/* the events to count; the caller has called trace_window_settle() */
	struct trace_window range;
	/* Settings of the peak and of the history: */
	bool peak_is_count;
	bool axis_is_events; /* use event numbers even if the trace has times */
	bool points_are_fine;
	/* points of the history are lists of lanes instead of stacks */
	bool points_are_lanes;
};

struct census {
	struct hatf_reader *reader; /* owned by the caller */
	struct hatf_stacks *stacks;
	struct census_window window;
	bool begun;    /* the window has begun */
	bool ended;    /* the window has ended, so stop reading */
	bool has_axis; /* an event has come, so the axis has a start */
	bool no_memory;
	bool has_times;	  /* the trace's times have a unit */
	uint64_t unit_ns; /* nanoseconds per time unit, or 0 */
	/*
	 * Longest tick of a coarse clock so far, in microseconds: an event may
	 * have happened up to this much later than its time says.  0: the clock
	 * was never coarse.
	 */
	uint64_t tick_us;

	struct account total;
	struct moment first, last; /* first and last moment of the window */
	struct moment peak; /* moment just after the event that made the peak */
	/* live bytes at the peak or, with 'peak_is_count', live blocks */
	uint64_t peak_level;
	uint64_t peak_live_count; /* largest number of live blocks so far */
	/* blocks and bytes that were live when the window began */
	struct amount start;
	uint64_t epoch;
	/* calls of the whole trace so far (trace_window_counts()) */
	uint64_t event_count;

	/* maps the id of a stack to the stack's row minus STACK_FIRST */
	struct id_rows stack_rows;
	struct account_list by_stack;
	uint64_t *stack_ids; /* stack id by row */
	uint32_t stack_cap;

	struct id_rows thread_rows;
	struct census_thread *threads;
	uint32_t thread_cap;
	/* row plus 1 of the lane, at [thread * CLASS_COUNT + class]; 0: none */
	uint32_t *lane_index;
	struct lane *lanes;
	uint32_t lane_cap;
	struct account_list by_lane;

	struct id_rows heap_rows;
	uint64_t *heap_ids;
	/* live blocks of each heap, by the heap's row */
	struct live_rows *live;
	uint32_t heap_cap;
	/*
	 * While there is only one heap, its account is a copy of 'total'.
	 * census_add() makes this copy before it returns.
	 */
	struct account_list by_heap;

	struct id_rows crossing_rows; /* key: from << 32 | to */
	struct crossing *crossings;
	uint32_t crossing_cap;

	/*
	 * Freed blocks whose lifetime is known.  The first index is the size
	 * class, the second one the class of the lifetime, in events or in time
	 * units.
	 */
	struct amount lifetime_events[CLASS_COUNT][CLASS_COUNT];
	struct amount lifetime_time[CLASS_COUNT][CLASS_COUNT];

	struct waste *waste; /* NULL: the caller did not ask for waste */
	struct pairs *pairs; /* NULL: the caller did not ask for pairs */

	/* Numbers of calls. */
	uint64_t alloc_calls, free_calls, realloc_calls, failed_calls;

	/* If one of these counters is not 0, the figures are doubtful: */
	uint64_t unknown_frees; /* frees and reallocs of unknown blocks */
	/*
	 * Live blocks that were dropped when their address was allocated again.
	 */
	struct amount replaced;
	/*
	 * Blocks that were live when their heap was destroyed.  Unlike the
	 * other counters here, this one is no reason for doubt.
	 */
	struct amount with_heap;
	uint64_t undefined_stacks; /* calls whose stack is not defined */
	/* Malformed definitions of frames and stacks. */
	uint64_t bad_definitions;
	/* blocks that made a sum of bytes exceed 64 bits */
	uint64_t wrapped_sums;

	struct history history;
	/* time of the first event; 0 if the times have no unit */
	uint64_t axis_start;
};

/*
 * Begin a census of the events of 'reader'.  'events' is their event stage,
 * which must number the blocks (hatf_events_number_blocks()).  Call this before
 * the first event is read.  If 'window' is NULL, count the whole trace.  Return
 * NULL if there is no memory.
 */
struct census *census_open(struct hatf_reader *reader,
			   const struct hatf_events *events,
			   const struct census_window *window);

/*
 * Make the census also count the bytes that blocks would take in other
 * allocators.  Call this before the first event.  Return false if there is no
 * memory.
 */
bool census_count_waste(struct census *s);

/*
 * Make the census also count by pairs of a thread and a stack.  Call this
 * before the first event.  Return false if there is no memory.
 */
bool census_count_pairs(struct census *s);

/*
 * Count events.  Return false if the caller must stop reading, because the
 * window has ended or there is no memory.
 */
bool census_add(struct census *s, const struct hatf_event *events, size_t n);

/* Complete all figures, after the last call of census_add(). */
void census_end(struct census *s);

void census_close(struct census *s);

/* Return the id of a call's stack; 0 if the call has none. */
uint64_t census_stack_of(const struct hatf_event *e);

/*
 * Return what the census knows of a live block; NULL if it does not know the
 * block.  The census must have counted all events that were read.
 */
const struct live_block *census_find_live(const struct census *s,
					  const struct hatf_live *live);

/* Does the axis of the history show times? */
static inline bool
census_axis_is_time(const struct census *s)
{
	return s->has_times && !s->window.axis_is_events;
}

/*
 * Return the accounts whose live bytes are listed in the points of the history:
 * the accounts of the stacks or those of the lanes.
 */
static inline const struct account_list *
census_points_of(const struct census *s)
{
	return s->window.points_are_lanes ? &s->by_lane : &s->by_stack;
}

/* Return what was live in an account at the peak. */
static inline struct amount
census_at_peak(const struct census *s, const struct account *t)
{
	return account_at_peak(t, s->epoch);
}

#endif /* CENSUS_H */
