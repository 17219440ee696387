/* SPDX-License-Identifier: MIT */
/*
 * order.h - merge the events of all rings into one causal sequence
 *
 * Producers and consumer share four rules.  ORDER.md defines which sequences
 * are right, and proves that the rules give a right sequence.
 *
 *  1. free() publishes before the real call; malloc() publishes after the real
 *     call, before it returns.  So the allocator's own synchronization lies
 *     between an event "free X" and a later "alloc X" of another thread, and
 *     "free X" has the smaller stamp.  An event without a stamp has the stamp
 *     of the event before it in its ring.
 *  2. realloc() publishes a begin event before the real call and an end event
 *     after it.  The allocator may free the old block, and hand it out again,
 *     at any point between the two.
 *  3. The caller picks a time T, makes all producers stamp their next events
 *     (clock_bump()), and only then calls order_round(), which reads the heads.
 *     The events with a stamp <= T are passed on (to the sink) in the order of
 *     their stamps.  If an event with such a stamp is not yet published, it is
 *     an allocation whose block no other thread has seen or a free that has not
 *     happened, so passing it on in the next round is also right.
 *  4. While the end event of a realloc is not published, no event with a later
 *     stamp than the begin event's stamp is passed on.
 *
 * The records of a realloc must come after the free (by any thread) that gave
 * back the memory of its new block, and before the next allocation (by any
 * thread) in its old block.  So a realloc is passed on at the stamp of its end,
 * or just before the first allocation in its old block, whichever is earlier.
 * If the allocation comes first and has no stamp of its own, the free that gave
 * back the memory of the new block may not have been passed on yet.  The same
 * is possible if the allocation may lie behind the old block, whose exact size
 * is unknown.  In these two cases the realloc is split: a free of the old block
 * is passed on before the allocation, and an alloc of the new block at the
 * stamp of the realloc's end.
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
#include "hatf/rings/open_reallocs.h"
#include "hatf/rings/ring.h"

/*
 * A producer as the consumer sees it: its thread, its ring, and the consumer's
 * position in the ring.  The caller sets the first three fields and zeroes the
 * others; 'pos' is the first word to read.  The consumer needs its own copy of
 * the pointer 'ring', because the thread's copy is on a cache line that the
 * thread writes at each event.  If the consumer read that copy, the line would
 * bounce between two processors.
 */
struct order_producer {
	uint64_t id; /* HATF thread number; an EVENT_HANDOVER changes it */
	struct ring *ring;
	uint64_t pos; /* count of words drained */
	/* value of ring_head() that was read in this round */
	uint64_t seen_head;
	uint64_t stamp;	    /* stamp of the last event drained */
	uint64_t tick;	    /* stamp of the last EVENT_TICK; 0: none */
	bool tick_is_brief; /* 'tick' is the stamp of a brief EVENT_TICK */
	uint32_t stack;	    /* call stack of the events from 'pos' on */
	bool has_event;	    /* 'event' is the event at 'pos' */
	/* the begin event of a realloc is drained, its end event is not */
	bool realloc_open;
	/* a realloc is open, and the sink already has the whole realloc */
	bool realloc_done;
	/* a realloc is open, and the sink already has its free */
	bool realloc_freed;
	/*
	 * The realloc is in 'open' of struct order: it is open, and nothing of
	 * it has been passed to the sink.  If the end event is drained right
	 * after the begin event, the realloc is never in 'open'.
	 */
	bool realloc_listed;
	/* set by the caller: the producer will add no more events */
	bool is_dead;
	/*
	 * The open realloc: its old address, its heap (0: malloc's), and the
	 * size code of its old block.
	 */
	uint64_t realloc_old, realloc_heap;
	unsigned realloc_code;
	/* for open_reallocs.c: the address of the last byte of the old block */
	uint64_t realloc_last;
	/* for open_reallocs.c: the children in the tree */
	struct order_producer *realloc_child[2];
	/*
	 * For pass_open_reallocs(): the next producer in the chain; NULL: this
	 * producer is the last.  The realloc of the next producer allocates
	 * memory from the old block of this producer.
	 */
	struct order_producer *realloc_after;
	struct event event;
};

/*
 * A sink takes the events in order.  A sink gets the begin event and the end
 * event of a realloc as one event, EVENT_REALLOC_END or EVENT_HEAP_REALLOC, or
 * as a free and later an alloc.  If the realloc or its free is passed on early,
 * because another thread allocates memory in the old block, the realloc or the
 * free gets the stamp of that allocation.
 *
 * At an EVENT_HANDOVER, 's->id' is still the thread that has ended.
 *
 * Before an EVENT_FORK with EVENT_FLAG_FORKED, the sink gets an
 * EVENT_REALLOC_BEGIN for each realloc that was in progress at the fork, if
 * nothing of the realloc has been passed on.  The operands of this
 * EVENT_REALLOC_BEGIN are the old address, the new address (0: unknown) and the
 * ticket of the fork.
 */
typedef void order_sink(void *context, const struct order_producer *s,
			const struct event *ev);

/* Is 'stamp' the stamp of the producer's last tick, and is this tick brief? */
static inline bool
order_is_brief(const struct order_producer *s, uint64_t stamp)
{
	return s->tick_is_brief && stamp == s->tick;
}

/*
 * A run: allocs and frees of one producer, from its 'pos' on.  There are two
 * sorts of runs.  In a run without stamps, each event is one word.  Words that
 * change the stack (event_is_stack()) may be before, between and after these
 * events.  In a run with stamps, each event is two words, of which the second
 * is the stamp.
 */
struct order_run {
	const uint64_t *words;
	size_t count;	 /* number of words */
	bool is_stamped; /* each event has a stamp */
	/*
	 * The stamp of all events of the run; in a run with stamps, the stamp
	 * of the event before the run.
	 */
	uint64_t stamp;
	/*
	 * The run sink sets the next two members for the words that it takes.
	 */
	/* stack of the first event; after the call, stack of the next event */
	uint32_t stack;
	/* number of events in the words taken; 0 before the call */
	size_t events_taken;
};

/*
 * A run sink takes the first few words of a run and returns their number;
 * order_round() then moves producer->pos past these words, and offers the rest
 * to the run sink again.  If the run sink takes no word, the next event goes to
 * the order_sink.
 */
typedef size_t order_run_sink(void *context,
			      const struct order_producer *producer,
			      struct order_run *run);

struct order {
	/*
	 * binary heap of producers, at most 'queue_max'; the producer with the
	 * smallest stamp is first
	 */
	struct order_producer **queue;
	uint32_t queue_max, queue_count;
	uint32_t open_count; /* number of producers with an open realloc */
	/* the producers whose 'realloc_listed' is set */
	struct open_reallocs open;
	order_sink *sink;
	/* set by the caller; NULL: every event goes to 'sink' */
	order_run_sink *run_sink;
	void *context; /* first argument of both sinks */
	/*
	 * order_round() reports at most this many more reallocs that were in
	 * progress at a fork.  order_init() sets UINT64_MAX.  The caller can
	 * lower the limit, because even a small ring file can claim F forks and
	 * R open reallocs, which would need F times R reports.
	 */
	uint64_t fork_reports_left;
	/* for pass_fork(): the producer whose fork has returned */
	const struct order_producer *forking;
	/* Results of the last round. */
	uint64_t event_count; /* number of events passed on */
	/* number of producers that had an event when the round began */
	uint32_t active_count;
	/* one of the producers that had an event; not set if none had */
	const struct order_producer *active;
	/*
	 * The producer whose open realloc stopped the round, or NULL.  With
	 * 'force': the last producer whose open realloc would have stopped the
	 * round without 'force'.
	 */
	const struct order_producer *blocked;
};

/*
 * Prepare '*o' for the first round.  'queue' has room for 'queue_max' producers
 * and stays the caller's; a round takes at most that many producers.
 */
void order_init(struct order *o, struct order_producer **queue,
		uint32_t queue_max, order_sink *sink, void *context);

/*
 * Do one round over 'n' producers: read their heads, and pass on the events
 * that rules 3 and 4 allow.  'until' is the time T, as a stamp.  With 'force',
 * an open realloc whose end event is not published does not stop the other
 * producers.  If another thread gets memory of the old block of such a realloc,
 * order_round() first passes on a free of the old block, and passes on an alloc
 * of the new block at the end of the realloc.
 */
void order_round(struct order *o, struct order_producer *const *producers,
		 uint32_t n, uint64_t until, bool force);

#endif /* ORDER_H */
