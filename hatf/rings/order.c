/* SPDX-License-Identifier: MIT */
/*
 * order.c - see order.h
 *
 * The queue is a binary heap of producers by the stamp of their next event.
 */

#include "hatf/rings/order.h"

#include <stddef.h>

#include "hatf/rings/order_run.h"

void
order_init(struct order *o, struct order_producer **queue, uint32_t queue_max,
	   order_sink *sink, void *context)
{
	*o = (struct order){
		.queue = queue,
		.queue_max = queue_max,
		.sink = sink,
		.context = context,
		.fork_reports_left = UINT64_MAX,
	};
}

static void
decode_wide(const struct order_producer *s, uint64_t word, struct event *ev)
{
	const struct ring *const r = s->ring;
	const uint64_t pos = s->pos;

	ev->type = (enum event_type)(word >> 3 & 31);
	ev->words = (unsigned)(word >> 8 & 255);
	ev->flags = (unsigned)(word >> 16 & 0xffff);
	ev->stamp = ring_get(r, pos + 1);
	ev->by_tick = ev->stamp == s->tick;
	ev->by_brief_tick = order_is_brief(s, ev->stamp);
	/*
	 * Recovery checks the lengths in ring files beforehand.  Limit the loop
	 * nevertheless, so that a wrong length cannot overflow the array.
	 */
	for (unsigned i = 2; i < ev->words && i < EVENT_WORDS_MAX; i++)
		ev->operand[i - 2] = ring_get(r, pos + i);
}

/*
 * Decode the begin event or the end event of a realloc.  For the end event,
 * 'old' is the old address from the begin event.
 */
static void
decode_realloc(uint64_t word, uint64_t old, struct event *ev)
{
	const uint64_t address = word & ~EVENT_REALLOC_EXTRA_BITS;

	ev->flags = 0;
	if ((word & EVENT_REALLOC_IS_END) != 0) {
		ev->type = EVENT_REALLOC_END;
		ev->operand[0] = old;
		ev->operand[1] = address;
		ev->operand[2] = word >> EVENT_SIZE_SHIFT;
	} else {
		ev->type = EVENT_REALLOC_BEGIN;
		ev->flags = (unsigned)(word >> EVENT_SIZE_SHIFT);
		ev->operand[0] = address;
	}
}

/* Decode the event at s->pos. */
static void
decode(const struct order_producer *s, struct event *ev)
{
	const struct ring *const r = s->ring;
	const uint64_t pos = s->pos;
	const uint64_t word = ring_get(r, pos);
	const unsigned kind = word & EVENT_KIND_MASK;

	if (kind == EVENT_KIND_WIDE) {
		decode_wide(s, word, ev);
		return;
	}
	if (kind == EVENT_KIND_REALLOC) {
		ev->words = 1;
		ev->stamp = s->stamp;
		ev->by_tick = true;
		ev->by_brief_tick = order_is_brief(s, s->stamp);
		decode_realloc(word, s->realloc_old, ev);
		return;
	}
	const bool stamped = kind == EVENT_KIND_ALLOC_STAMPED ||
			     kind == EVENT_KIND_FREE_STAMPED ||
			     kind == EVENT_KIND_CALLOC_STAMPED;

	ev->words = 1 + stamped;
	ev->by_tick = !stamped;
	ev->stamp = stamped ? ring_get(r, pos + 1) : s->stamp;
	ev->by_brief_tick = !stamped && order_is_brief(s, s->stamp);
	ev->operand[0] = word & ~EVENT_ADDRESS_EXTRA_BITS;
	if (kind == EVENT_KIND_FREE || kind == EVENT_KIND_FREE_STAMPED) {
		ev->type = EVENT_FREE;
		ev->flags = 0;
		return;
	}
	ev->type = EVENT_ALLOC;
	ev->flags = kind >= EVENT_KIND_CALLOC ? EVENT_FLAG_ZEROED : 0;
	ev->operand[1] = word >> EVENT_SIZE_SHIFT;
	ev->operand[2] = 0;
}

/*
 * Decode the next event into s->event, and move s->pos past the ticks and the
 * changes of the stack that precede the event.  Return false if no event is
 * published yet.  If a stamp is smaller than the previous stamp of the ring,
 * replace it by the previous stamp, so that the stamps of a ring never
 * decrease.  A tick, for example, may be older than the stamped event that
 * precedes it in the ring.
 */
static bool
peek(struct order_producer *s)
{
	while (!s->has_event) {
		if (s->pos == s->seen_head)
			return false;
		if (event_is_stack(ring_get(s->ring, s->pos))) {
			s->stack = event_stack_of(ring_get(s->ring, s->pos));
			s->pos++;
			continue;
		}
		decode(s, &s->event);
		if (s->event.type == EVENT_TICK) {
			s->tick = s->event.stamp;
			s->tick_is_brief =
				(s->event.flags & EVENT_FLAG_BRIEF) != 0;
		}
		if (s->event.stamp < s->stamp)
			s->event.stamp = s->stamp;
		s->has_event = s->event.type != EVENT_TICK;
		if (!s->has_event) {
			s->stamp = s->event.stamp;
			s->pos += s->event.words;
		}
	}
	return true;
}

static void
consume(struct order_producer *s)
{
	s->stamp = s->event.stamp;
	s->pos += s->event.words;
	s->has_event = false;
}

static void
sift_down(struct order *o, uint32_t i)
{
	struct order_producer *const s = o->queue[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= o->queue_count)
			break;
		if (child + 1 < o->queue_count &&
		    o->queue[child + 1]->event.stamp <
			    o->queue[child]->event.stamp)
			child++;
		if (o->queue[child]->event.stamp >= s->event.stamp)
			break;
		o->queue[i] = o->queue[child];
		i = child;
	}
	o->queue[i] = s;
}

/*
 * Return the smallest stamp of all producers in the queue but the first;
 * UINT64_MAX if there is no other producer.
 */
static uint64_t
second_stamp(const struct order *o)
{
	uint64_t stamp = UINT64_MAX;

	for (uint32_t i = 1; i < o->queue_count && i <= 2; i++)
		if (o->queue[i]->event.stamp < stamp)
			stamp = o->queue[i]->event.stamp;
	return stamp;
}

static void
pass(struct order *o, const struct order_producer *s, const struct event *ev)
{
	o->event_count++;
	o->sink(o->context, s, ev);
}

static bool
is_begin(const struct event *ev)
{
	return ev->type == EVENT_REALLOC_BEGIN ||
	       ev->type == EVENT_HEAP_REALLOC_BEGIN;
}

static bool
is_end(const struct event *ev)
{
	return ev->type == EVENT_REALLOC_END ||
	       ev->type == EVENT_HEAP_REALLOC_END;
}

/* The memory that an allocation gets. */
struct span {
	uint64_t address, nbytes;
};

/*
 * Has a realloc with this end event kept all 'nbytes' of its old block?  Return
 * true if the realloc failed, or if it neither moved nor shrank the block.
 */
static bool
has_kept(const struct event *end, uint64_t old, uint64_t nbytes)
{
	if (end->operand[1] == 0)
		return (end->flags & EVENT_FLAG_FREED) == 0;
	return end->operand[1] == old && end->operand[2] >= nbytes;
}

/*
 * Return the address of the last of 'nbytes' bytes from 'first' on.  If there
 * are no bytes, return 'first'.
 */
static uint64_t
last_byte(uint64_t first, uint64_t nbytes)
{
	const uint64_t more = nbytes == 0 ? 0 : nbytes - 1;

	return more <= UINT64_MAX - first ? first + more : UINT64_MAX;
}

/*
 * Find a realloc in 'o->open' whose old block overlapped the memory 'span'.
 * Return its producer, or NULL.
 */
static struct order_producer *
find_open_realloc(struct order *o, struct span span)
{
	if (span.address == 0)
		return NULL;
	return open_reallocs_find(&o->open, span.address,
				  last_byte(span.address, span.nbytes));
}

/*
 * Let find_open_realloc() find the open realloc of 's' from now on, unless the
 * sink already has the realloc or its free.  The caller has called peek() for
 * 's'.
 */
static void
list_realloc(struct order *o, struct order_producer *s)
{
	const uint64_t nbytes = event_coded_nbytes(s->realloc_code);

	if (s->realloc_done || s->realloc_freed)
		return;
	/*
	 * The size code is rounded up, so 'realloc_last' may lie behind the old
	 * block, and an allocation there looks as if it were in the old block.
	 * If the realloc has kept its old block, no other thread can have got
	 * memory of that block.  Then set 'realloc_last' to 0 (no bytes).
	 */
	s->realloc_last = last_byte(s->realloc_old, nbytes);
	if (s->has_event && is_end(&s->event) &&
	    has_kept(&s->event, s->realloc_old, nbytes))
		s->realloc_last = 0;
	s->realloc_listed = true;
	open_reallocs_add(&o->open, s);
}

static void
unlist_realloc(struct order *o, struct order_producer *s)
{
	if (s->realloc_listed)
		open_reallocs_remove(&o->open, s);
	s->realloc_listed = false;
}

/*
 * Return the event that stands for the whole realloc with the end event 'end'.
 */
static struct event
whole_realloc(const struct event *end)
{
	struct event ev = *end;

	if (ev.type == EVENT_HEAP_REALLOC_END)
		ev.type = EVENT_HEAP_REALLOC;
	return ev;
}

/*
 * Return the alloc that remains of a realloc whose free is already passed on.
 */
static struct event
alloc_of_realloc(const struct event *end)
{
	const bool in_pool = end->type == EVENT_HEAP_REALLOC_END;
	struct event ev = *end;

	ev.type = in_pool ? EVENT_HEAP_ALLOC : EVENT_ALLOC;
	ev.flags = 0;
	ev.operand[0] = end->operand[1];
	ev.operand[1] = end->operand[2];
	ev.operand[2] = in_pool ? end->operand[3] : 0;
	ev.operand[3] = 0;
	return ev;
}

/*
 * The realloc of 's' must precede an event of another thread, whose stamp is
 * 'stamp'.  Pass on the realloc with this stamp.  If 'done' is true, pass on
 * the whole realloc; its end must be the next event of 's'.  If 'done' is
 * false, pass on only the free of the old block.
 */
static void
pass_realloc_early(struct order *o, struct order_producer *s, bool done,
		   uint64_t stamp)
{
	struct event ev;

	if (done) {
		ev = whole_realloc(&s->event);
	} else {
		ev = (struct event){ .type = EVENT_FREE };
		if (s->realloc_heap != 0)
			ev.type = EVENT_HEAP_FREE;
		ev.operand[0] = s->realloc_old;
		ev.operand[1] = s->realloc_heap;
	}
	ev.stamp = stamp;
	pass(o, s, &ev);
	/*
	 * Change these flags only now.  During pass(), the sink may commit the
	 * events before this one.  For such a commit, this event must count as
	 * not passed on.
	 */
	s->realloc_done = done;
	s->realloc_freed = !done;
}

/*
 * Is the stamp of the next event of 's' exact?  It is if the event has its own
 * stamp or the stamp of a tick.  Otherwise the event can have happened at any
 * time from the stamp to the next change of the epoch (ORDER.md).
 */
static bool
has_own_stamp(const struct order_producer *s)
{
	return s->event.words > 1 || !s->event.by_tick ||
	       s->event.stamp == s->tick;
}

/*
 * Return the memory that a realloc allocates.  The next event of 's' must be
 * the end event of the realloc.
 */
static struct span
taken_at_end(const struct order_producer *s)
{
	return (struct span){ s->event.operand[1], s->event.operand[2] };
}

/*
 * Did the old block of the open realloc of 's' certainly overlap 'span'?  The
 * caller knows that an old block of the largest size that the size code allows
 * overlaps 'span'.  Return true if an old block of the smallest size does, too.
 */
static bool
is_certain(const struct order_producer *s, struct span span)
{
	return span.address <=
	       last_byte(s->realloc_old,
			 event_coded_nbytes_min(s->realloc_code));
}

/*
 * The open realloc of 's' must precede an event by which another thread gets
 * 'span'.  Can the whole realloc be passed on now, before that event?  It can
 * if all of these are true:
 *  - The end of the realloc is the next event of 's'.
 *  - The old block certainly overlapped 'span'.
 *  - The event of the other thread has an exact stamp ('is_exact'), or the
 *    realloc did not move its block.
 * Otherwise the memory of the new block may still be in use in the trace,
 * because the free of the block that was there has not been passed on.
 */
static bool
is_whole(const struct order_producer *s, struct span span, bool is_exact)
{
	return s->has_event && is_end(&s->event) && is_certain(s, span) &&
	       (is_exact || s->event.operand[1] == s->realloc_old);
}

/*
 * The next event of 'taker' allocates 'span'.  Pass on the open reallocs whose
 * old blocks overlapped 'span'.  The new block of such a realloc may in turn
 * lie in the old block of another open realloc, which must be passed on first,
 * and so on.  This chain can have as many reallocs as there are threads, and
 * the stack of the writer thread is small.  So link the producers by
 * 'realloc_after' instead of recursing.  The loop ends because each step takes
 * one producer from 'o->open' or from the chain.
 */
static void
pass_open_reallocs(struct order *o, const struct order_producer *taker,
		   struct span span)
{
	const uint64_t stamp = taker->event.stamp;
	const bool is_exact = has_own_stamp(taker);
	struct order_producer *last = NULL;

	for (;;) {
		const struct span taken =
			last != NULL ? taken_at_end(last) : span;
		struct order_producer *s = find_open_realloc(o, taken);

		if (s == NULL && last == NULL)
			return;
		if (s == NULL) {
			/*
			 * All reallocs that must precede the realloc of 'last'
			 * have been passed on, so pass on this realloc.
			 */
			s = last;
			last = s->realloc_after;
			pass_realloc_early(o, s, true, stamp);
			continue;
		}
		unlist_realloc(o, s);
		if (!is_whole(s, taken, is_exact)) {
			pass_realloc_early(o, s, false, stamp);
			continue;
		}
		s->realloc_after = last;
		last = s;
	}
}

static void
begin_realloc(struct order *o, struct order_producer *s)
{
	/*
	 * Count the producer once, even if a damaged ring file begins a realloc
	 * while the previous realloc of the producer is still open.
	 */
	o->open_count += !s->realloc_open;
	unlist_realloc(o, s);
	s->realloc_open = true;
	s->realloc_done = s->realloc_freed = false;
	s->realloc_old = s->event.operand[0];
	s->realloc_code =
		s->event.type == EVENT_REALLOC_BEGIN ? s->event.flags : 0;
	s->realloc_heap = s->event.type == EVENT_HEAP_REALLOC_BEGIN
				  ? s->event.operand[1]
				  : 0;
	consume(s);
}

static void
end_realloc(struct order *o, struct order_producer *s)
{
	struct event ev = whole_realloc(&s->event);

	unlist_realloc(o, s);
	o->open_count -= s->realloc_open;
	s->realloc_open = false;
	if (!s->realloc_done) {
		pass_open_reallocs(o, s, taken_at_end(s));
		if (s->realloc_freed)
			ev = alloc_of_realloc(&s->event);
		/*
		 * If the sink already has the free, and the realloc did no more
		 * than free its block, nothing remains to pass on.
		 */
		if (!s->realloc_freed || ev.operand[0] != 0)
			pass(o, s, &ev);
	}
	s->realloc_done = s->realloc_freed = false;
	consume(s);
}

/*
 * Is the next event of 's' the begin event of a realloc whose end event is not
 * published?  In a ring, the end event directly follows the begin event.  It is
 * therefore missing if the begin event is the last event of the ring.
 */
static bool
lacks_end(const struct order_producer *s)
{
	return is_begin(&s->event) && s->pos + s->event.words == s->seen_head;
}

/*
 * The fork of order->forking has returned.  Report that the realloc of 's' was
 * open at this fork.
 */
static void
pass_fork_report(void *order, struct order_producer *s)
{
	struct order *const o = order;
	const struct event *const fork = &o->forking->event;
	const bool ends = s->has_event && is_end(&s->event);
	const struct event ev = {
		.type = EVENT_REALLOC_BEGIN,
		.stamp = fork->stamp,
		.operand = {
			s->realloc_old,
			ends ? s->event.operand[1] : 0,
			fork->operand[0],
		},
	};

	if (o->fork_reports_left == 0)
		return;
	o->fork_reports_left--;
	pass(o, s, &ev);
}

/*
 * A fork has returned.  If a realloc began before the fork and ends after it,
 * the child may have the old or the new block.  Report these reallocs, and then
 * pass on the fork.
 */
static void
pass_fork(struct order *o, struct order_producer *forking)
{
	o->forking = forking;
	if (o->fork_reports_left != 0)
		open_reallocs_visit(&o->open, pass_fork_report, o);
	pass(o, forking, &forking->event);
	consume(forking);
}

static void
step(struct order *o, struct order_producer *s)
{
	switch (s->event.type) {
	case EVENT_REALLOC_BEGIN:
	case EVENT_HEAP_REALLOC_BEGIN:
		begin_realloc(o, s);
		break;
	case EVENT_REALLOC_END:
	case EVENT_HEAP_REALLOC_END:
		end_realloc(o, s);
		break;
	case EVENT_ALLOC:
	case EVENT_HEAP_ALLOC:
		if (o->open_count != 0)
			pass_open_reallocs(
				o, s,
				(struct span){ s->event.operand[0],
					       s->event.operand[1] });
		pass(o, s, &s->event);
		consume(s);
		break;
	case EVENT_HEAP_REALLOC:
		if (o->open_count != 0)
			pass_open_reallocs(o, s, taken_at_end(s));
		pass(o, s, &s->event);
		consume(s);
		break;
	case EVENT_HANDOVER:
		pass(o, s, &s->event);
		s->id = s->event.operand[0];
		consume(s);
		break;
	case EVENT_FORK:
		if ((s->event.flags & EVENT_FLAG_FORKED) != 0) {
			pass_fork(o, s);
			break;
		}
		__attribute__((fallthrough));
	default:
		pass(o, s, &s->event);
		consume(s);
	}
}

/*
 * Pass runs to the run sink until the run sink takes no more.  In a run without
 * stamps, all events have the stamp of the event before the run, so no event of
 * another producer has to come between them.  In a run with stamps, no stamp is
 * above 'bound', which is at most the next stamp of every other producer.
 */
static void
pass_runs(struct order *o, struct order_producer *s, uint64_t bound)
{
	size_t taken;

	do {
		struct order_run run = order_run_find(s);

		if (run.count == 0)
			run = order_run_find_stamped(s, bound);
		taken = run.count == 0 ? 0 : o->run_sink(o->context, s, &run);
		o->event_count += run.events_taken;
		if (run.is_stamped && taken != 0)
			s->stamp = run.words[taken - 1];
		s->pos += taken;
		s->stack = run.stack;
	} while (taken != 0);
}

static void
fill_queue(struct order *o, struct order_producer *const *producers, uint32_t n,
	   uint64_t until)
{
	o->queue_count = 0;
	o->open_count = 0;
	o->open.root = NULL;
	for (uint32_t i = 0; i < n; i++) {
		struct order_producer *const s = producers[i];
		bool has_event;

		s->seen_head = ring_head(s->ring);
		has_event = peek(s);
		s->realloc_listed = false;
		o->open_count += s->realloc_open;
		if (s->realloc_open)
			list_realloc(o, s);
		if (!has_event)
			continue;
		o->active_count++;
		o->active = s;
		if (s->event.stamp <= until && o->queue_count < o->queue_max)
			o->queue[o->queue_count++] = s;
	}
	for (uint32_t i = o->queue_count / 2; i-- > 0;)
		sift_down(o, i);
}

void
order_round(struct order *o, struct order_producer *const *producers,
	    uint32_t n, uint64_t until, bool force)
{
	o->event_count = 0;
	o->active_count = 0;
	o->blocked = NULL;
	fill_queue(o, producers, n, until);
	while (o->queue_count > 0) {
		struct order_producer *const s = o->queue[0];
		uint64_t bound = second_stamp(o);

		if (bound > until)
			bound = until;
		do {
			if (lacks_end(s) && !s->is_dead) {
				o->blocked = s;
				if (!force)
					return;
			}
			step(o, s);
			if (o->run_sink != NULL && o->open_count == 0)
				pass_runs(o, s, bound);
		} while (peek(s) && s->event.stamp <= bound);
		/*
		 * List only a realloc that is still open.  Most reallocs have
		 * ended by now, and so are never listed.
		 */
		if (s->realloc_open && !s->realloc_listed)
			list_realloc(o, s);
		if (!s->has_event || s->event.stamp > until)
			o->queue[0] = o->queue[--o->queue_count];
		if (o->queue_count > 0)
			sift_down(o, 0);
	}
}
