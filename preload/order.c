/* SPDX-License-Identifier: MIT */
/* order.c - see order.h; a heap of threads by the stamp of their next event */

#include "order.h"

#include <stddef.h>

void
order_init(struct order *o, struct thread **heap, uint32_t heap_max,
	   order_sink *sink, void *context)
{
	*o = (struct order){
		.heap = heap,
		.heap_max = heap_max,
		.sink = sink,
		.context = context,
	};
}

static void
decode_wide(const struct ring *r, uint64_t pos, uint64_t word, struct event *ev)
{
	ev->type = (enum event_type)(word >> 3 & 31);
	ev->words = (unsigned)(word >> 8 & 255);
	ev->flags = (unsigned)(word >> 16 & 0xffff);
	ev->stamp = ring_get(r, pos + 1);
	for (unsigned i = 2; i < ev->words; i++)
		ev->operand[i - 2] = ring_get(r, pos + i);
}

/* The event at 'pos'; 'stamp' is that of the one before it. */
static void
decode(const struct ring *r, uint64_t pos, uint64_t stamp, struct event *ev)
{
	const uint64_t word = ring_get(r, pos);
	const unsigned kind = word & EVENT_KIND_MASK;

	if (kind == EVENT_KIND_WIDE) {
		decode_wide(r, pos, word, ev);
		return;
	}
	const bool stamped = kind == EVENT_KIND_ALLOC_STAMPED ||
			     kind == EVENT_KIND_FREE_STAMPED ||
			     kind == EVENT_KIND_CALLOC_STAMPED;

	ev->words = 1 + stamped;
	ev->stamp = stamped ? ring_get(r, pos + 1) : stamp;
	ev->operand[0] = word & ~EVENT_ADDRESS_REST;
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
 * Make t->event the event at t->pos; false if there is none yet.  Stamps within
 * a ring never fall: a tick may be older than what was stamped before it.
 */
static bool
peek(struct thread *t)
{
	while (!t->has_event) {
		if (t->pos == t->seen_head)
			return false;
		decode(t->source, t->pos, t->stamp, &t->event);
		if (t->event.stamp < t->stamp)
			t->event.stamp = t->stamp;
		t->has_event = t->event.type != EVENT_TICK;
		if (!t->has_event) {
			t->stamp = t->event.stamp;
			t->pos += t->event.words;
		}
	}
	return true;
}

static void
consume(struct thread *t)
{
	t->stamp = t->event.stamp;
	t->pos += t->event.words;
	t->has_event = false;
}

static void
sift_down(struct order *o, uint32_t i)
{
	struct thread *const t = o->heap[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= o->heap_count)
			break;
		if (child + 1 < o->heap_count &&
		    o->heap[child + 1]->event.stamp <
			    o->heap[child]->event.stamp)
			child++;
		if (o->heap[child]->event.stamp >= t->event.stamp)
			break;
		o->heap[i] = o->heap[child];
		i = child;
	}
	o->heap[i] = t;
}

/* The smallest stamp of all threads but the first; none: the largest number. */
static uint64_t
second_stamp(const struct order *o)
{
	uint64_t stamp = UINT64_MAX;

	for (uint32_t i = 1; i < o->heap_count && i <= 2; i++)
		if (o->heap[i]->event.stamp < stamp)
			stamp = o->heap[i]->event.stamp;
	return stamp;
}

static void
pass(struct order *o, const struct thread *t, const struct event *ev)
{
	o->event_count++;
	o->sink(o->context, t, ev);
}

static void make_way(struct order *o, struct thread *const *threads, uint32_t n,
		     uint64_t address, uint64_t stamp);

/* 't' gives up its block before another thread's event at 'stamp' gets it. */
static void
pass_realloc_early(struct order *o, struct thread *const *threads, uint32_t n,
		   struct thread *t, uint64_t stamp)
{
	struct event ev;

	if (t->has_event && t->event.type == EVENT_REALLOC_END) {
		ev = t->event;
		t->realloc_done = true;
		make_way(o, threads, n, ev.operand[1], stamp);
	} else {
		ev = (struct event){ .type = EVENT_FREE };
		ev.operand[0] = t->realloc_old;
		t->realloc_freed = true;
	}
	ev.stamp = stamp;
	pass(o, t, &ev);
}

/*
 * An event at 'stamp' is about to get 'address': reallocs under way that had it
 * go first.  The recursion ends because each step marks one thread.
 */
static void
make_way(struct order *o, struct thread *const *threads, uint32_t n,
	 uint64_t address, uint64_t stamp)
{
	for (uint32_t i = 0; o->open_count != 0 && i < n; i++) {
		struct thread *const t = threads[i];

		if (t->realloc_open && !t->realloc_done && !t->realloc_freed &&
		    t->realloc_old == address)
			pass_realloc_early(o, threads, n, t, stamp);
	}
}

static void
begin_realloc(struct order *o, struct thread *t)
{
	t->realloc_open = true;
	t->realloc_done = t->realloc_freed = false;
	t->realloc_old = t->event.operand[0];
	o->open_count++;
	consume(t);
}

static void
end_realloc(struct order *o, struct thread *const *threads, uint32_t n,
	    struct thread *t)
{
	struct event ev = t->event;

	if (t->realloc_open) {
		t->realloc_open = false;
		o->open_count--;
	}
	if (!t->realloc_done) {
		make_way(o, threads, n, ev.operand[1], ev.stamp);
		if (t->realloc_freed) {
			ev.type = EVENT_ALLOC;
			ev.flags = 0;
			ev.operand[0] = ev.operand[1];
			ev.operand[1] = ev.operand[2];
			ev.operand[2] = 0;
		}
		/* If its free was all that there was, that is written. */
		if (!t->realloc_freed || ev.operand[0] != 0)
			pass(o, t, &ev);
	}
	t->realloc_done = t->realloc_freed = false;
	consume(t);
}

/* Is the begin at hand without its end?  Nothing else can follow it. */
static bool
lacks_end(const struct thread *t)
{
	return t->event.type == EVENT_REALLOC_BEGIN &&
	       t->pos + t->event.words == t->seen_head;
}

static void
step(struct order *o, struct thread *const *threads, uint32_t n,
     struct thread *t)
{
	switch (t->event.type) {
	case EVENT_REALLOC_BEGIN:
		begin_realloc(o, t);
		break;
	case EVENT_REALLOC_END:
		end_realloc(o, threads, n, t);
		break;
	case EVENT_ALLOC:
		if (o->open_count != 0)
			make_way(o, threads, n, t->event.operand[0],
				 t->event.stamp);
		pass(o, t, &t->event);
		consume(t);
		break;
	default:
		pass(o, t, &t->event);
		consume(t);
	}
}

static void
build_heap(struct order *o, struct thread *const *threads, uint32_t n,
	   uint64_t until)
{
	o->heap_count = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct thread *const t = threads[i];

		t->seen_head = ring_head(t->source);
		if (peek(t) && t->event.stamp <= until &&
		    o->heap_count < o->heap_max)
			o->heap[o->heap_count++] = t;
	}
	for (uint32_t i = o->heap_count / 2; i-- > 0;)
		sift_down(o, i);
}

void
order_round(struct order *o, struct thread *const *threads, uint32_t n,
	    uint64_t until, bool force)
{
	o->event_count = 0;
	o->blocked = NULL;
	build_heap(o, threads, n, until);
	while (o->heap_count > 0) {
		struct thread *const t = o->heap[0];
		uint64_t bound = second_stamp(o);

		if (bound > until)
			bound = until;
		do {
			if (lacks_end(t) && !t->is_dead) {
				o->blocked = t;
				if (!force)
					return;
			}
			step(o, threads, n, t);
		} while (peek(t) && t->event.stamp <= bound);
		if (!t->has_event || t->event.stamp > until)
			o->heap[0] = o->heap[--o->heap_count];
		if (o->heap_count > 0)
			sift_down(o, 0);
	}
}
