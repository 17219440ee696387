/* SPDX-License-Identifier: MIT */
/*
 * census.h - what a trace has allocated: by stack, thread, size and heap
 *
 * One pass over the events of a trace.  Memory is O(live blocks + stacks +
 * threads + heaps); it does not grow with the length of the trace.
 *
 * What is counted:
 *
 *   - An alloc, and a realloc that succeeds, allocate a block of the new size,
 *     at the stack and in the thread of the call.  A free, and a realloc that
 *     succeeds, free a block; it is counted where the block was allocated.
 *     Resizing in place is both, too.  Calls that failed are counted apart.
 *   - A block is temporary if the next call of the thread that allocated it
 *     frees it: no other alloc, realloc or free of that thread lies between.
 *     Failed calls do not count as calls here.
 *   - The lifetime of a block lasts from the alloc of its object to its free;
 *     reallocs do not end it.
 *   - The peak is the first moment at which the most bytes were live, or with
 *     'peak_is_count' the most blocks.
 *   - Blocks that were live when the trace began (inherited or carried ones)
 *     are live, and are not allocated.
 *
 * Used by one thread at a time.
 */
#ifndef CENSUS_H
#define CENSUS_H

#include "hatf/hatf.h"
#include "tools/sites/id_rows.h"
#include "tools/summary/account.h"
#include "tools/summary/history.h"
#include "tools/summary/live_table.h"
#include "tools/summary/waste.h"
#include "tools/trace/trace_window.h"

/*
 * Size class 0 is size 0; class n has the sizes above 2^(n-2) up to 2^(n-1), so
 * class 1 is size 1.  Lifetimes have the same classes.
 */
#define CLASS_COUNT 66

/* Rows of stacks that every census has. */
enum {
	STACK_NONE,	 /* the call has no stack */
	STACK_INHERITED, /* blocks of the parent of a forked child */
	STACK_FIRST,	 /* stacks of the trace begin here */
};

static inline unsigned
census_class(uint64_t n)
{
	return n <= 1 ? (unsigned)n : 65 - (unsigned)__builtin_clzll(n - 1);
}

/* The largest number of a class. */
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
	char *name;		/* the last one; untrusted; NULL: none */
	uint64_t last_object;	/* that its last call allocated; 0: none */
	struct amount outlived; /* blocks that were live when it ended */
	bool ended;
};

/* A thread and a size class. */
struct lane {
	uint32_t thread; /* row */
	uint32_t size_class;
};

/* Blocks that one thread allocated and another one freed. */
struct crossing {
	uint32_t from, to; /* rows of threads */
	struct amount freed;
};

/* A moment of the trace. */
struct moment {
	uint64_t event; /* number of events up to it */
	uint64_t time;
};

/* Where to begin and end, and what to follow; all 0: the whole trace. */
struct census_window {
	struct trace_window range; /* settled */
	/* Of the history: */
	bool peak_is_count;
	bool axis_is_events; /* even if the trace has times */
	bool points_are_fine;
	bool points_are_lanes; /* the points have lanes and not stacks */
};

struct census {
	struct hatf_reader *reader; /* the caller's */
	struct hatf_stacks *stacks;
	struct census_window window;
	bool begun; /* the window has begun */
	bool ended; /* it has ended: read no further */
	bool no_memory;
	bool has_times;	  /* its times have a unit */
	uint64_t unit_ns; /* nanoseconds of a time unit, or 0 */

	struct account total;
	struct moment first, last; /* of the window */
	struct moment peak;	   /* just after the event */
	uint64_t peak_level;	   /* bytes, or blocks with 'peak_is_count' */
	uint64_t peak_live_count;  /* most live blocks */
	struct amount start;	   /* live when the window began */
	uint64_t epoch;
	uint64_t event_count; /* in the whole trace, so far */

	struct id_rows stack_rows; /* id to row less STACK_FIRST */
	struct account_list by_stack;
	uint64_t *stack_ids; /* by row */
	uint32_t stack_cap;

	struct id_rows thread_rows;
	struct census_thread *threads;
	uint32_t thread_cap;
	uint32_t *lane_index; /* [thread * CLASS_COUNT + class], row plus 1 */
	struct lane *lanes;
	uint32_t lane_cap;
	struct account_list by_lane;

	struct id_rows heap_rows;
	uint64_t *heap_ids;
	struct live_table *live; /* by row of heap */
	uint32_t heap_cap;
	struct account_list by_heap;

	struct id_rows crossing_rows; /* from << 32 | to */
	struct crossing *crossings;
	uint32_t crossing_cap;

	/* Freed blocks by size class and lifetime class. */
	struct amount lifetime_events[CLASS_COUNT][CLASS_COUNT];
	struct amount lifetime_time[CLASS_COUNT][CLASS_COUNT];

	struct waste *waste; /* NULL: not asked for */

	/* Calls. */
	uint64_t alloc_calls, free_calls, realloc_calls, failed_calls;

	/* Health. */
	uint64_t unknown_frees;	 /* frees of blocks that are not known */
	struct amount replaced;	 /* live blocks whose address came again */
	struct amount with_heap; /* live blocks of heaps that were destroyed */
	uint64_t undefined_stacks; /* calls whose stack is not defined */
	uint64_t bad_definitions;  /* of frames and stacks */

	struct history history;
	uint64_t axis_start; /* the axis begins here: a time, or an event */
};

/*
 * begin a census over the events of 'reader', before the first is read.
 * 'window' may be NULL.  NULL: no memory.
 */
struct census *census_open(struct hatf_reader *reader,
			   const struct hatf_events *events,
			   const struct census_window *window);

/*
 * Before the first event: also count what blocks would take in other
 * allocators.  False if there is no memory.
 */
bool census_count_waste(struct census *s);

/*
 * Count events.  Return false if no more are wanted: the window has ended, or
 * there is no memory.
 */
bool census_add(struct census *s, const struct hatf_event *events, size_t n);

/* All events have been read: bring all that depends on it up to date. */
void census_end(struct census *s);

void census_close(struct census *s);

/* The id of the stack of a call, or 0. */
uint64_t census_stack_of(const struct hatf_event *e);

/* What is known of a live block; NULL: nothing. */
const struct live_block *census_find_live(const struct census *s,
					  const struct hatf_live *live);

/* Is the axis of the history one of times? */
static inline bool
census_axis_is_time(const struct census *s)
{
	return s->has_times && !s->window.axis_is_events;
}

/* What the points of the history are of. */
static inline const struct account_list *
census_points_of(const struct census *s)
{
	return s->window.points_are_lanes ? &s->by_lane : &s->by_stack;
}

/* What the account has at the peak. */
static inline struct amount
census_at_peak(const struct census *s, const struct account *t)
{
	return account_at_peak(t, s->epoch);
}

#endif /* CENSUS_H */
