/* SPDX-License-Identifier: MIT */
/*
 * order_rings.h - rings with hand-made events, and an order over them
 *
 * For tests of order.h.  A block has 8 bytes.
 */
#ifndef TESTS_ORDER_RINGS_H
#define TESTS_ORDER_RINGS_H

#include <stdlib.h>
#include <string.h>

#include "preload/record/thread.h"
#include "tests/unit/support/checks.h"

#define WORDS	4096
#define THREADS 4

static struct thread threads[THREADS];
static struct order_producer *list[THREADS], *heap[THREADS];
static struct order order;

static void
set_up(order_sink *sink)
{
	for (unsigned i = 0; i < THREADS; i++) {
		struct ring *r = threads[i].ring;

		if (r == NULL)
			ck_assert_int_eq(posix_memalign((void **)&r,
							RING_HEADER_NBYTES,
							ring_nbytes(WORDS)),
					 0);
		memset(&threads[i], 0, sizeof(threads[i]));
		threads[i].ring = ring_init(r, WORDS);
		threads[i].producer =
			(struct order_producer){ .id = i, .ring = r };
		list[i] = &threads[i].producer;
	}
	order_init(&order, heap, THREADS, sink, NULL);
}

static void
put(unsigned id, unsigned n, const uint64_t *words)
{
	struct thread *const t = &threads[id];

	for (unsigned i = 0; i < n; i++)
		ring_put(t->ring, t->head++, words[i]);
	ring_publish(t->ring, t->head);
}

static __attribute__((unused)) void
put_alloc(unsigned id, uint64_t stamp, uint64_t address)
{
	put(id, 2,
	    (uint64_t[]){ 8ull << EVENT_SIZE_SHIFT | address |
				  EVENT_KIND_ALLOC_STAMPED,
			  stamp });
}

static __attribute__((unused)) void
put_free(unsigned id, uint64_t stamp, uint64_t address)
{
	put(id, 2, (uint64_t[]){ address | EVENT_KIND_FREE_STAMPED, stamp });
}

static __attribute__((unused)) void
put_begin(unsigned id, uint64_t stamp, uint64_t old)
{
	put(id, 3,
	    (uint64_t[]){ event_wide(EVENT_REALLOC_BEGIN, 3, 0), stamp, old });
}

static __attribute__((unused)) void
put_end(unsigned id, uint64_t stamp, uint64_t old, uint64_t new)
{
	put(id, 5,
	    (uint64_t[]){ event_wide(EVENT_REALLOC_END, 5, 0), stamp, old, new,
			  8 });
}

static void
run(uint64_t until)
{
	order_round(&order, list, THREADS, until, false);
}

#endif /* TESTS_ORDER_RINGS_H */
