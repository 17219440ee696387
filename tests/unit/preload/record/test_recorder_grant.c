/* SPDX-License-Identifier: MIT */
/*
 * test_recorder_grant.c - ticks granted and revoked, on real threads
 *
 * What test_clock.c shows for a model must hold for the fast path itself.
 * Several threads record through record.h what they do with blocks that they
 * take from each other without a lock.  Meanwhile the consumer grants the tick
 * to one thread after the other, far more often than the writer does, and
 * orders the events.  No live address may be allocated and no free one freed.
 * At times one thread works alone, so that some grants last.
 */
#include "tests/unit/support/checks.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "preload/clock/clock.h"

#define THREADS 3
#define WORDS	1024u
#define BLOCKS	4u
#define ROUNDS	100000u /* operations of each thread */
#define TURN	5000u	/* operations between two stretches of being alone */
#define ALONE	500u

/* The consumer's view of the heap, according to the trace. */
#include "tests/unit/support/blocks.h"
#include "tests/unit/support/recorded_heap.h"

static _Atomic unsigned alone; /* 0, or the number of a thread and 1 */

/* No producer needs the writer here. */
void
wake_writer(void)
{
	abort();
}

bool
wake_is_wanted(uint64_t used, uint64_t capacity)
{
	(void)used;
	(void)capacity;
	abort();
}

static uint64_t ticks; /* granted */

static void *
produce(void *argument)
{
	struct thread *const t = argument;
	const unsigned me = (unsigned)(t - threads) + 1;
	unsigned block = 0;

	thread_self = t;
	for (unsigned i = 0; i < ROUNDS; i++) {
		const unsigned who =
			atomic_load_explicit(&alone, memory_order_relaxed);

		if (i % TURN == me * TURN / (THREADS + 1) && who == 0)
			atomic_store_explicit(&alone, me, memory_order_relaxed);
		if (i % TURN == me * TURN / (THREADS + 1) + ALONE && who == me)
			atomic_store_explicit(&alone, 0, memory_order_relaxed);
		if (who != 0 && who != me)
			sched_yield();
		await_room(t);
		block = operate(block, i);
	}
	atomic_store_explicit(&alone, 0, memory_order_relaxed);
	await_room(t);
	if (block != 0)
		operate(block, 1);
	thread_self = &thread_unattached;
	/* release: the consumer that sees it also sees the last head. */
	atomic_fetch_sub_explicit(&running, 1, memory_order_release);
	return NULL;
}

/* One round of the writer, which grants the tick to the next thread. */
static void
consume(unsigned round)
{
	const uint64_t stamp = clock_stamp();

	clock_renew(stamp);
	drain(stamp);
	if (clock_is_stamped() &&
	    clock_grant_begin(&threads[round / 2 % THREADS]))
		ticks += clock_grant_end();
	sched_yield();
}

START_TEST(test_grants_between_threads)
{
	pthread_t ids[THREADS];

	clock_init(false);
	clock_go_stamped();
	order_init(&order, heap, THREADS, judge, NULL);
	for (unsigned b = 1; b <= BLOCKS; b++)
		heap_give(b);
	atomic_store_explicit(&running, THREADS, memory_order_relaxed);
	for (unsigned i = 0; i < THREADS; i++) {
		prepare(&threads[i]);
		list[i] = &threads[i].producer;
	}
	for (unsigned i = 0; i < THREADS; i++)
		ck_assert_int_eq(
			pthread_create(&ids[i], NULL, produce, &threads[i]), 0);
	/* acquire: pairs with the release in produce(). */
	for (unsigned round = 0;
	     atomic_load_explicit(&running, memory_order_acquire) != 0; round++)
		consume(round);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	drain(UINT64_MAX);
	ck_assert_uint_eq(mistakes, 0);
	ck_assert_uint_ge(seen, ROUNDS);
	ck_assert_uint_gt(ticks, 0);
	for (unsigned i = 0; i < THREADS; i++) {
		ck_assert_uint_eq(threads[i].producer.pos, threads[i].head);
		free(threads[i].ring);
	}
	for (unsigned b = 1; b <= BLOCKS; b++)
		ck_assert(!live[b]);
}
END_TEST

int
main(void)
{
	Suite *const s = suite_create("recorder_grant");
	TCase *const tc = tcase_create("recorder_grant");
	SRunner *const runner = srunner_create(s);

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_grants_between_threads);
	suite_add_tcase(s, tc);
	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
