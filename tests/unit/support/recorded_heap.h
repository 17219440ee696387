/* SPDX-License-Identifier: MIT */
/*
 * recorded_heap.h - a heap without a lock, whose threads record with record.h
 *
 * The threads take blocks from each other, and record each operation as
 * interpose.c does.  A consumer orders the events.  The file that includes this
 * one defines THREADS, the number of threads, BLOCKS, the number of blocks, and
 * WORDS, the size of a ring.  It also defines wake_writer() and
 * wake_is_wanted().
 */
#ifndef TESTS_RECORDED_HEAP_H
#define TESTS_RECORDED_HEAP_H

#include "tests/unit/support/checks.h"
#include <sched.h>
#include <stdlib.h>

#include "preload/process/attach.h"
#include "preload/record/record.h"
#include "preload/record/ring_wait.h"
#include "preload/record/thread.h"
#include "preload/record/wake.h"

/* The most words of an operation: two wide events, each with a tick. */
#define ROOM 64u

/*
 * Functions that record.c calls only in situations that do not occur here.  The
 * real ones, if linked, would record this test program itself.
 */
struct thread *
attach_thread(uint64_t parent, uint64_t start)
{
	(void)parent;
	(void)start;
	abort();
}

struct thread *
attach_nested(struct thread *t)
{
	(void)t;
	abort();
}

bool
wake_has_writer(void)
{
	abort();
}

void
wake_count_unattached(void)
{
	abort();
}

static struct thread threads[THREADS];
static struct order_producer *list[THREADS], *heap[THREADS];
static struct order order;
static _Atomic unsigned running; /* threads */

/* The heap: a block is free if its number is in its place. */
static _Atomic unsigned free_blocks[BLOCKS];

/* Take the free block of any thread; 0: there is none. */
static inline unsigned
heap_take(unsigned from)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		/* acquire: pairs with the release in heap_give(). */
		const unsigned block = atomic_exchange_explicit(
			&free_blocks[(from + i) % BLOCKS], 0,
			memory_order_acquire);

		if (block != 0)
			return block;
	}
	return 0;
}

static inline void
heap_give(unsigned block)
{
	atomic_store_explicit(&free_blocks[block - 1], block,
			      memory_order_release);
}

static inline void *
address_of(unsigned block)
{
	return (void *)(uintptr_t)(block * 8);
}

static inline unsigned
do_realloc(unsigned block, unsigned i)
{
	struct thread *t = thread_self;
	uint64_t limit = 0;
	const bool as_words = record_realloc_old(t, address_of(block), &limit);
	unsigned taken;

	if (!as_words)
		t = record_realloc_begin(address_of(block));
	taken = heap_take(i);
	if (taken != 0)
		heap_give(block);
	else
		taken = block;
	if (!as_words || !record_realloc_word(t, address_of(taken), 1, limit))
		record_realloc_end(t, 0, address_of(block), address_of(taken),
				   1);
	return taken;
}

/* Do one operation; return the block that the thread has after it. */
static inline unsigned
operate(unsigned block, unsigned i)
{
	if (block == 0) {
		block = heap_take(i);
		if (block != 0)
			record_alloc(address_of(block), 1);
		return block;
	}
	if (i % 7 == 0)
		return do_realloc(block, i);
	if (!record_free(address_of(block)))
		record_free_slow(address_of(block));
	heap_give(block);
	return 0;
}

/* Wait for room, so that record.c never needs to wait for a writer. */
static inline void
await_room(struct thread *t)
{
	while (t->head + ROOM > ring_limit(t->ring))
		sched_yield();
	t->limit = ring_limit(t->ring);
}

/* Empty the thread's ring; if the thread has none, give it one. */
static inline void
prepare(struct thread *t)
{
	void *memory = t->ring;

	if (memory == NULL)
		ck_assert_int_eq(posix_memalign(&memory, RING_HEADER_NBYTES,
						ring_nbytes(WORDS)),
				 0);
	t->ring = ring_init(memory, WORDS);
	t->mask = WORDS - 1;
	t->tick = t->alloc_tick = t->free_tick = CLOCK_NO_TICK;
	t->limit = ring_limit(t->ring);
	t->producer = (struct order_producer){ .ring = t->ring };
	atomic_store_explicit(&t->state, THREAD_ACTIVE, memory_order_relaxed);
}

/* Consumer: order the events up to this stamp, and release their room. */
static inline void
drain(uint64_t until)
{
	order_round(&order, list, THREADS, until, false);
	for (unsigned i = 0; i < THREADS; i++)
		ring_wait_release(threads[i].ring, threads[i].producer.pos);
}

#endif /* TESTS_RECORDED_HEAP_H */
