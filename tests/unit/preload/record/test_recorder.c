/* SPDX-License-Identifier: MIT */
/*
 * test_recorder.c - producers, clock, rings and order together, on real threads
 *
 * What test_order.c shows for simulated schedules must hold on real hardware.
 * Several threads record what they do with a small heap that they share, in the
 * order that interpose.c keeps, stamped by the real clock, while another thread
 * drains, orders and commits.  No live address may be allocated and no free one
 * freed, and every event must come out.  ThreadSanitizer checks that the memory
 * orders in ring.h are sufficient.
 */
#include "tests/unit/support/checks.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "hatf/rings/image.h"
#include "preload/clock/clock.h"
#include "preload/record/ring_wait.h"
#include "preload/record/thread.h"

#define THREADS 3
#define WORDS	1024u
#define BLOCKS	16u
#define ROUNDS	60000u /* operations of each thread */

/* The consumer's view of the heap, according to the trace. */
#include "tests/unit/support/blocks.h"

static struct thread threads[THREADS];
static struct order_producer *list[THREADS], *heap[THREADS];
static struct order order;
static struct image image;
static _Atomic unsigned running;

/* The heap: it allocates a freed block again at once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned free_blocks[BLOCKS], free_count;

static unsigned
heap_take(void)
{
	unsigned block = 0;

	pthread_mutex_lock(&lock);
	if (free_count > 0)
		block = free_blocks[--free_count];
	pthread_mutex_unlock(&lock);
	return block;
}

static void
heap_give(unsigned block)
{
	pthread_mutex_lock(&lock);
	free_blocks[free_count++] = block;
	pthread_mutex_unlock(&lock);
}

static void
push(struct thread *t, unsigned n, const uint64_t *words)
{
	while (t->head + n > ring_limit(t->ring)) {
		ring_wait_announce(t->ring);
		ring_wait_sleep(t->ring, t->head + n, 1000000);
	}
	for (unsigned i = 0; i < n; i++)
		ring_put(t->ring, t->head++, words[i]);
	ring_publish(t->ring, t->head);
}

static unsigned
do_alloc(struct thread *t)
{
	const unsigned block = heap_take();

	if (block != 0)
		push(t, 2,
		     (uint64_t[]){ 1ull << EVENT_SIZE_SHIFT | block * 8 |
					   EVENT_KIND_ALLOC_STAMPED,
				   clock_stamp() });
	return block;
}

static void
do_free(struct thread *t, unsigned block)
{
	push(t, 2,
	     (uint64_t[]){ block * 8 | EVENT_KIND_FREE_STAMPED,
			   clock_stamp() });
	heap_give(block);
}

static unsigned
do_realloc(struct thread *t, unsigned old)
{
	unsigned block;

	push(t, 3,
	     (uint64_t[]){ event_wide(EVENT_REALLOC_BEGIN, 3, 0), clock_stamp(),
			   old * 8 });
	block = heap_take();
	if (block != 0)
		heap_give(old);
	else
		block = old;
	push(t, 5,
	     (uint64_t[]){ event_wide(EVENT_REALLOC_END, 5, 0), clock_stamp(),
			   old * 8, block * 8, 1 });
	return block;
}

static void *
produce(void *argument)
{
	struct thread *const t = argument;
	unsigned block = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		if (block == 0) {
			block = do_alloc(t);
		} else if (i % 3 == 0) {
			block = do_realloc(t, block);
		} else {
			do_free(t, block);
			block = 0;
		}
	}
	if (block != 0)
		do_free(t, block);
	/* release: the consumer that sees it also sees the last head. */
	atomic_fetch_sub_explicit(&running, 1, memory_order_release);
	return NULL;
}

static void
drain(uint64_t until)
{
	struct image_commit commit = { .grain = 1 };

	order_round(&order, list, THREADS, until, false);
	/*
	 * Commit the events that came out, then release the room, as the writer
	 * does.
	 */
	for (unsigned i = 0; i < THREADS; i++)
		image_commit_ring(threads[i].ring, list[i], false,
				  image_next_seq(&image));
	commit.event_count = seen;
	image_commit(&image, &commit);
	for (unsigned i = 0; i < THREADS; i++)
		ring_wait_release(threads[i].ring, threads[i].producer.pos);
}

START_TEST(test_real_threads)
{
	pthread_t ids[THREADS];

	image_init(&image, (const uint64_t[2]){ 0, 0 }, 1);
	clock_init(true);
	order_init(&order, heap, THREADS, judge, NULL);
	for (unsigned b = 1; b <= BLOCKS; b++)
		free_blocks[free_count++] = b;
	atomic_store_explicit(&running, THREADS, memory_order_relaxed);
	for (unsigned i = 0; i < THREADS; i++) {
		void *memory = NULL;

		ck_assert_int_eq(posix_memalign(&memory, RING_HEADER_NBYTES,
						ring_nbytes(WORDS)),
				 0);
		threads[i].ring = ring_init(memory, WORDS);
		image_begin_ring(threads[i].ring, i, false);
		threads[i].producer = (struct order_producer){
			.ring = threads[i].ring,
		};
		list[i] = &threads[i].producer;
	}
	for (unsigned i = 0; i < THREADS; i++)
		ck_assert_int_eq(
			pthread_create(&ids[i], NULL, produce, &threads[i]), 0);
	/* acquire: pairs with the release in produce(). */
	while (atomic_load_explicit(&running, memory_order_acquire) != 0) {
		drain(clock_stamp());
		sched_yield();
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	drain(UINT64_MAX);
	ck_assert_uint_eq(mistakes, 0);
	ck_assert_uint_ge(seen, ROUNDS);
	for (unsigned i = 0; i < THREADS; i++) {
		ck_assert_uint_eq(threads[i].producer.pos, threads[i].head);
		ck_assert_uint_eq(
			image_last_ring_commit(threads[i].ring, image.seq)->pos,
			threads[i].head);
		free(threads[i].ring);
	}
	for (unsigned b = 1; b <= BLOCKS; b++)
		ck_assert(!live[b]);
}
END_TEST

int
main(void)
{
	Suite *const s = suite_create("recorder");
	TCase *const tc = tcase_create("recorder");
	SRunner *const runner = srunner_create(s);

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_real_threads);
	suite_add_tcase(s, tc);
	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
