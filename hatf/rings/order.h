/* SPDX-License-Identifier: MIT */
/*
 * order.h - events of all rings into one causal sequence
 *
 * The consumer's side of the four rules (the producer's is in interpose.c):
 *
 *  1. free publishes before the real call, malloc after it and before it returns.
 *     So between an event "free X" and a later "alloc X" of another thread lies
 *     the allocator's own synchronisation, and their stamps are in that order.
 *  2. realloc publishes a begin before the real call and an end after it.
 *     The old block may die, and be handed out again, anywhere in between.
 *  3. The caller picks a time T, and only then are the heads read; events with a
 *     stamp <= T are passed on, by stamp.  One that has such a stamp and was not
 *     yet published can only be an allocation that nobody has seen or a free that
 *     has not happened: coming a round later, it breaks nothing.
 *  4. No event passes a realloc begin whose end is not published.
 *
 * Where a realloc goes: its records must come after the free (by anybody) of the
 * block that it gets, and before the allocation (by anybody) of the block that it
 * gives up.  The first precedes the second in time, since the allocator takes the
 * new block before it gives up the old one.  So it is passed on at its end's
 * stamp, or just before the first allocation of its old block, whichever is
 * earlier.
 *
 * All of this goes for blocks of whatever heap: they are taken from the same memory.
 */
#ifndef ORDER_H
#define ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hatf/rings/event.h"
#include "hatf/rings/ring.h"

/*
 * What the consumer knows of one ring.  Whoever reads the rings sets up the
 * first three and zeroes the rest; 'pos' is then the first word to be read.
 * 'ring' is often also in a line of the producer's; that one is written at each
 * event, and to read it there as often would send it to and fro between two
 * processors.
 */
struct order_source {
	uint64_t id; /* HATF thread number; an EVENT_HANDOVER changes it */
	struct ring *ring;
	uint64_t pos;	    /* words drained */
	uint64_t seen_head; /* of this round */
	uint64_t stamp;	    /* of the last event drained */
	uint64_t tick;	    /* that the producer announced last; 0: none */
	bool has_event;	    /* 'event' is the one at 'pos' */
	bool realloc_open;  /* between a begin and its end */
	bool realloc_done;  /* ... and the realloc is written already */
	bool realloc_freed; /* ... or at least its free is */
	bool realloc_moved; /* ... or one of the two is about to be */
	bool is_dead;	    /* the caller's: nothing will be added to it */
	uint64_t realloc_old, realloc_heap;
	/* While it is being moved: the one that gets the block of this one. */
	struct order_source *realloc_after;
	struct event event;
};

/*
 * Takes the events in order; a realloc's begin and end are one, EVENT_REALLOC_END or
 * EVENT_HEAP_REALLOC.  The stamp of one that was moved up is that of its new place.
 *
 * An EVENT_HANDOVER is passed on while 's->id' is the thread that has ended.
 *
 * Before the EVENT_FORK with which a fork is over, an EVENT_REALLOC_BEGIN for each
 * realloc that is under way there and of which nothing has been passed on: its old
 * address, the new one if that is known or 0, and the fork's ticket.
 */
typedef void order_sink(void *context, const struct order_source *s,
			const struct event *ev);

/*
 * Takes the first of 'n' events that are in the ring at source->pos, of one word
 * each: alloc or free, all with this stamp.  Returns how many; those are then
 * behind source->pos.  What it does not take goes to the order_sink.
 */
typedef size_t order_run_sink(void *context, const struct order_source *source,
			      const uint64_t *words, size_t n, uint64_t stamp);

struct order {
	struct order_source *
		*queue; /* room for 'queue_max', smallest stamp first */
	uint32_t queue_max, queue_count;
	uint32_t open_count; /* sources between a begin and its end */
	order_sink *sink;
	order_run_sink *run_sink; /* the caller's to set; NULL: there is none */
	void *context;
	/* Of the last round: */
	uint64_t event_count;
	uint32_t active_count; /* sources that had something to read */
	const struct order_source *active; /* the last of these */
	const struct order_source
		*blocked; /* whose begin without an end stopped it,
					 or NULL */
};

void order_init(struct order *o, struct order_source **queue,
		uint32_t queue_max, order_sink *sink, void *context);

/*
 * One round over 'sources': read their heads, pass on what rule 3 and 4 allow.
 * With 'force', a begin without an end does not stop the others: should its old
 * block be handed out again before the end comes, a free is passed on for it, and
 * an alloc at the end.
 */
void order_round(struct order *o, struct order_source *const *sources,
		 uint32_t n, uint64_t until, bool force);

#endif /* ORDER_H */
