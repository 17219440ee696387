/* SPDX-License-Identifier: MIT */
/*
 * order.h - merge the events of all rings into one causal sequence
 *
 * Producers and consumer share four rules.  ORDER.md says what "the order in
 * which events can have happened" means, and proves that the rules give it.
 *
 *  1. free() publishes before the real call; malloc() publishes after the real
 *     call, before it returns.  So the allocator's own synchronisation lies
 *     between an event "free X" and a later "alloc X" of another thread, and
 *     the stamps are in that order.  An event without a stamp has that of the
 *     event before it in its ring.
 *  2. realloc() publishes a begin before the real call and an end after it.
 *     The allocator may free the old block, and hand it out again, at any point
 *     between the two.
 *  3. The caller picks a time T, makes all producers stamp their next events
 *     (clock_bump()), and only then are the heads read; events with a stamp
 *     <= T are passed on in the order of their stamps.  If an event with such a
 *     stamp is not yet published, it is an allocation whose block no other
 *     thread has seen or a free that has not happened: passing it on in the
 *     next round is also a correct order.
 *  4. No event passes a realloc begin whose end is not published.
 *
 * The records of a realloc must come after the free (by any thread) of its new
 * block and before the next allocation (by any thread) in its old block.  So a
 * realloc is passed on at the stamp of its end, or just before the first
 * allocation in its old block, whichever is earlier.  If that allocation has no
 * stamp of its own, the free may not have been passed on yet.  Then the realloc
 * is passed on as a free and an alloc.
 *
 * The rules hold for the blocks of all heaps, since all heaps share the address
 * space.
 *
 * Only the consumer's thread calls these functions.  None of them allocates,
 * locks or makes a system call.
 */
#ifndef ORDER_H
#define ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hatf/rings/event.h"
#include "hatf/rings/ring.h"

/*
 * A producer as the consumer sees it: its thread, its ring, and the consumer's
 * position in the ring.  The caller sets the first three fields and zeroes the
 * others; 'pos' is the first word to read.  The producer has its own copy of
 * 'ring', on a cache line that it writes at each event: if the consumer read
 * that copy, the line would bounce between two processors.
 */
struct order_producer {
	uint64_t id; /* HATF thread number; an EVENT_HANDOVER changes it */
	struct ring *ring;
	uint64_t pos;	    /* words drained */
	uint64_t seen_head; /* ring_head() as read in this round */
	uint64_t stamp;	    /* of the last event drained */
	uint64_t tick;	    /* stamp of the last EVENT_TICK; 0: none */
	uint32_t stack;	    /* of the events from the one at 'pos' on */
	bool has_event;	    /* 'event' is the one at 'pos' */
	bool realloc_open;  /* a begin is drained, its end is not */
	bool realloc_done;  /* ... and the sink already has the realloc */
	bool realloc_freed; /* ... and the sink already has its free */
	bool realloc_moved; /* ... and one of the two is about to be passed */
	bool is_dead; /* set by the caller: the producer will add nothing */
	/*
	 * Of the open realloc: its old address, the heap (0: malloc's), and the
	 * size code of the old block.
	 */
	uint64_t realloc_old, realloc_heap;
	unsigned realloc_code;
	/* In pass_open_reallocs(): the realloc that gets the old block. */
	struct order_producer *realloc_after;
	struct event event;
};

/*
 * A sink takes the events in order.  It gets the begin and end of a realloc as
 * one event, EVENT_REALLOC_END or EVENT_HEAP_REALLOC.  A realloc that was moved
 * forward has the stamp of its new place.
 *
 * At an EVENT_HANDOVER, 's->id' is still the thread that has ended.
 *
 * Before an EVENT_FORK with EVENT_FLAG_FORKED, the sink gets an
 * EVENT_REALLOC_BEGIN for each realloc that was in progress at the fork and of
 * which nothing has been passed on.  Its operands are the old address, the new
 * address (0: unknown) and the ticket of the fork.
 */
typedef void order_sink(void *context, const struct order_producer *s,
			const struct event *ev);

/*
 * A run sink takes the first few of 'n' one-word events, each an alloc or free
 * with this stamp, that begin at producer->pos of the ring.  It returns the
 * number of events that it took; order_round() then moves producer->pos past
 * these.  The first event that it did not take goes to the order_sink.
 */
typedef size_t order_run_sink(void *context,
			      const struct order_producer *producer,
			      const uint64_t *words, size_t n, uint64_t stamp);

struct order {
	struct order_producer *
		*queue; /* room for 'queue_max', smallest stamp first */
	uint32_t queue_max, queue_count;
	uint32_t open_count; /* producers with an open realloc */
	order_sink *sink;
	order_run_sink *run_sink; /* set by the caller; NULL: none */
	void *context;		  /* first argument of both sinks */
	/* Results of the last round: */
	uint64_t event_count;		     /* events passed on */
	uint32_t active_count;		     /* producers with unread words */
	const struct order_producer *active; /* the last of these */
	/* The producer whose open realloc stopped the round, or NULL. */
	const struct order_producer *blocked;
};

/*
 * Start with no round done.  'queue' has room for 'queue_max' producers and
 * stays the caller's; a round takes at most that many producers.
 */
void order_init(struct order *o, struct order_producer **queue,
		uint32_t queue_max, order_sink *sink, void *context);

/*
 * Do one round over 'n' producers: read their heads, pass on the events that
 * rules 3 and 4 allow.  'until' is the time T, as a stamp.  With 'force', a
 * begin without an end does not stop the other producers: if its old block is
 * handed out again before the end is published, a free of that block is passed
 * on first, and an alloc at the end.
 */
void order_round(struct order *o, struct order_producer *const *producers,
		 uint32_t n, uint64_t until, bool force);

#endif /* ORDER_H */
