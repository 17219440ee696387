/* SPDX-License-Identifier: MIT */
/*
 * test_recorder_unfenced.c - a second thread begins in unfenced mode
 *
 * With HATFTRACE_CLOCK=us or ns, the first thread reads the clock without a
 * fence until a second thread begins.  Nothing tells the first thread about
 * this, as if clone(2) had made the second thread.  From then on the two take
 * blocks from each other.  Meanwhile the consumer orders the events, and sets
 * the clock idle at times.  No live address may be allocated and no free one
 * freed, and no time may lie in the future.
 */
#include "tests/unit/support/checks.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "preload/clock/clock.h"

#define THREADS 2
#define WORDS	1024u
#define BLOCKS	3u
#define RUNS	400u
#define ROUNDS	2000u /* operations of each thread in a run */

/* The consumer's view of the heap, according to the trace. */
#include "tests/unit/support/blocks.h"
#include "tests/unit/support/recorded_heap.h"

static _Atomic bool is_second_due, has_second_begun;
static unsigned due; /* the operation of the first thread that sets this */
static _Atomic unsigned unfenced, fenced; /* operations of the first thread */

void
wake_writer(void)
{
}

bool
wake_is_wanted(uint64_t used, uint64_t capacity)
{
	(void)used;
	(void)capacity;
	return true;
}

static void
judge_block(void *context, const struct order_producer *producer,
	    const struct event *ev)
{
	if (ev->type != EVENT_THREAD)
		judge(context, producer, ev);
}

/* Check the stamp of the last event of 't', if the event has one. */
static void
check_stamp(const struct thread *t)
{
	const uint64_t word = ring_get(t->ring, t->head - 2);

	if (t->tick == CLOCK_UNFENCED_OWN &&
	    (word & EVENT_KIND_MASK) == EVENT_KIND_FREE_STAMPED)
		ck_assert_uint_le(ring_get(t->ring, t->head - 1),
				  clock_stamp());
}

/*
 * The second thread never omits a fence, and the first thread does not once it
 * can know of an event of the second thread.
 */
static void
check_mode(const struct thread *t, bool is_first)
{
	/* acquire: the mode is read after this flag. */
	const bool has_begun =
		atomic_load_explicit(&has_second_begun, memory_order_acquire);
	const bool omits = record_omits_fence(t->tick);

	ck_assert(!omits || (is_first && !has_begun));
	unfenced += is_first && omits;
	fenced += is_first && !omits;
}

static void *
produce(void *argument)
{
	struct thread *const t = argument;
	const bool is_first = t == threads;
	unsigned block = 0;

	thread_self = t;
	/* relaxed: the second thread may begin without any synchronization. */
	while (!is_first &&
	       !atomic_load_explicit(&is_second_due, memory_order_relaxed))
		;
	if (!is_first) {
		clock_go_stamped();
		record_event(EVENT_THREAD, 0, 0, 1, 0);
		/* release: pairs with the acquire in check_mode(). */
		atomic_store_explicit(&has_second_begun, true,
				      memory_order_release);
	}
	for (unsigned i = 0; i < ROUNDS || (i < 2 * ROUNDS && block != 0);
	     i++) {
		await_room(t);
		if (is_first && i == due)
			atomic_store_explicit(&is_second_due, true,
					      memory_order_relaxed);
		block = operate(block, i);
		check_mode(t, is_first);
		if (is_first && block == 0 && i < due)
			check_stamp(t);
	}
	thread_self = &thread_unattached;
	/* release: the consumer that sees it also sees the last head. */
	atomic_fetch_sub_explicit(&running, 1, memory_order_release);
	return NULL;
}

/* One round of the writer, which goes idle after some rounds. */
static void
consume(unsigned round)
{
	const uint64_t stamp = clock_stamp();

	clock_renew(stamp);
	clock_bump();
	drain(stamp);
	if (round % 16 == 15)
		clock_set_idle();
	sched_yield();
}

static void
run(unsigned number)
{
	pthread_t ids[THREADS];

	clock_init(true);
	due = number * 7919 % (ROUNDS - 100) + 20;
	atomic_store_explicit(&is_second_due, false, memory_order_relaxed);
	atomic_store_explicit(&has_second_begun, false, memory_order_relaxed);
	order_init(&order, heap, THREADS, judge_block, NULL);
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
	for (unsigned i = 0; i < THREADS; i++) {
		ck_assert_uint_eq(threads[i].producer.pos, threads[i].head);
		threads[i] = (struct thread){ .ring = threads[i].ring };
	}
	for (unsigned b = 1; b <= BLOCKS; b++)
		ck_assert(!live[b]);
}

START_TEST(test_second_thread_begins)
{
	for (unsigned i = 0; i < RUNS; i++)
		run(i);
	ck_assert_uint_ge(seen, RUNS * ROUNDS);
	/* Both kinds of stamps occur. */
	ck_assert_uint_gt(fenced, RUNS);
	if (clock_has_counter)
		ck_assert_uint_gt(unfenced, RUNS);
	for (unsigned i = 0; i < THREADS; i++)
		free(threads[i].ring);
}
END_TEST

int
main(void)
{
	Suite *const s = suite_create("recorder_unfenced");
	TCase *const tc = tcase_create("recorder_unfenced");
	SRunner *const runner = srunner_create(s);

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_second_thread_begins);
	suite_add_tcase(s, tc);
	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
