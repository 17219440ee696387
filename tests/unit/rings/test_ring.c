/* SPDX-License-Identifier: MIT */
/*
 * test_ring.c - the single-producer, single-consumer ring
 *
 * The consumer must get every published word once, in order and with its value,
 * for any scheduling of producer and consumer, also if the ring is full most of
 * the time and the consumer releases room late.  ThreadSanitizer checks that
 * the memory orders in ring.h are sufficient.
 */
#include "tests/unit/support/checks.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "preload/record/ring_wait.h"

#define CAPACITY 64
#define GROWN	 (8 * CAPACITY)
#define EVENTS	 200000u

static struct ring *
make_ring(void)
{
	void *memory = NULL;

	ck_assert_int_eq(
		posix_memalign(&memory, RING_HEADER_NBYTES, ring_nbytes(GROWN)),
		0);
	return ring_init(memory, CAPACITY);
}

/* An event is 1 to 3 words: its number, and the number again. */
static unsigned
words_of(uint64_t event)
{
	return 1 + (unsigned)(event % 3);
}

static void *
produce(void *argument)
{
	struct ring *const r = argument;
	uint64_t head = 0;

	for (uint64_t i = 0; i < EVENTS; i++) {
		const unsigned n = words_of(i);

		while (head + n > ring_limit(r)) {
			ring_wait_announce(r);
			ring_wait_sleep(r, head + n, 1000000);
		}
		for (unsigned k = 0; k < n; k++)
			ring_put(r, head++, i);
		ring_publish(r, head);
	}
	return NULL;
}

/* A ring keeps its words when it grows, at any position and by any factor. */
START_TEST(test_growth_keeps_the_words)
{
	for (uint64_t tail = 0; tail < 2 * GROWN; tail += 7) {
		for (uint64_t n = 0; n <= CAPACITY; n += 4) {
			struct ring *const r = make_ring();
			const uint64_t more = 2u * CAPACITY << (tail + n) % 3;

			ring_wait_release(r, tail);
			for (uint64_t i = tail; i < tail + n; i++)
				ring_put(r, i, ~i);
			ring_publish(r, tail + n);
			/* Not while the producer may be writing. */
			ck_assert(!ring_wait_grow(r, more));
			ck_assert_uint_eq(ring_limit(r), tail + CAPACITY);
			ring_wait_announce(r);
			ck_assert(ring_wait_grow(r, more));
			ck_assert(!ring_wait_is_pending(r));
			ck_assert_uint_eq(ring_limit(r), tail + more);
			for (uint64_t i = tail + n; i < tail + more; i++)
				ring_put(r, i, ~i);
			for (uint64_t i = tail; i < tail + more; i++)
				ck_assert_uint_eq(ring_get(r, i), ~i);
			free(r);
		}
	}
}
END_TEST

/* If '_i' is 1, the ring grows during the test. */
START_TEST(test_two_threads)
{
	struct ring *const r = make_ring();
	/*
	 * The capacity that this thread knows; a ring of GROWN does not grow.
	 */
	uint64_t pos = 0, words = 0, capacity = _i == 1 ? CAPACITY : GROWN;
	pthread_t producer;

	ck_assert_int_eq(pthread_create(&producer, NULL, produce, r), 0);
	for (uint64_t i = 0; i < EVENTS; i++) {
		while (pos == ring_head(r))
			sched_yield();
		/* Events are published whole. */
		ck_assert_uint_ge(ring_head(r) - pos, words_of(i));
		for (unsigned k = 0; k < words_of(i); k++, pos++)
			ck_assert_uint_eq(ring_get(r, pos), i);
		words += words_of(i);
		/* Release room late, after a "block", as the writer does. */
		if (i % 17 == 0 || ring_wait_is_pending(r))
			ring_wait_release(r, pos);
		if (i > EVENTS / 4 && capacity < GROWN &&
		    ring_wait_grow(r, 2 * capacity))
			capacity *= 2;
	}
	pthread_join(producer, NULL);
	ck_assert_uint_eq(ring_head(r), words);
	ck_assert_uint_eq(capacity, GROWN);
	free(r);
}
END_TEST

START_TEST(test_limit_is_kept)
{
	struct ring *const r = make_ring();

	ck_assert_uint_eq(ring_limit(r), CAPACITY);
	for (uint64_t i = 0; i < CAPACITY; i++)
		ring_put(r, i, ~i);
	ring_publish(r, CAPACITY);
	ck_assert_uint_eq(ring_head(r), CAPACITY);
	ck_assert_uint_eq(ring_limit(r), CAPACITY);
	for (uint64_t i = 0; i < CAPACITY; i++)
		ck_assert_uint_eq(ring_get(r, i), ~i);
	ring_wait_release(r, 5);
	ck_assert_uint_eq(ring_limit(r), CAPACITY + 5);
	free(r);
}
END_TEST

START_TEST(test_wait_returns_without_a_consumer)
{
	struct ring *const r = make_ring();

	ring_publish(r, CAPACITY);
	ring_wait_announce(r);
	ck_assert(ring_wait_is_pending(r));
	ring_wait_sleep(r, CAPACITY + 1, 1000000);
	ck_assert(!ring_wait_is_pending(r));
	/* With room, the function returns at once, whatever the time-out. */
	ring_wait_release(r, 1);
	ring_wait_announce(r);
	ring_wait_sleep(r, CAPACITY + 1, 0);
	free(r);
}
END_TEST

/*
 * A release in the middle of a round wakes the producer only once half of the
 * ring is free.  A release at the end of a round wakes it if there is any room.
 */
START_TEST(test_release_wakes_for_enough_room)
{
	struct ring *const r = make_ring();

	ring_publish(r, CAPACITY);
	ring_wait_announce(r);
	ring_wait_release(r, 0);
	ck_assert(ring_wait_is_pending(r));
	ring_wait_release_part(r, CAPACITY / 2 - 1);
	ck_assert(ring_wait_is_pending(r));
	/* The words are free, although the producer sleeps on. */
	ck_assert_uint_eq(ring_limit(r), CAPACITY + CAPACITY / 2 - 1);
	ring_wait_release_part(r, CAPACITY / 2);
	ck_assert(!ring_wait_is_pending(r));

	ring_publish(r, CAPACITY + CAPACITY / 2);
	ring_wait_announce(r);
	ring_wait_release_part(r, CAPACITY / 2 + 1);
	ck_assert(ring_wait_is_pending(r));
	ring_wait_release(r, CAPACITY / 2 + 1);
	ck_assert(!ring_wait_is_pending(r));
	free(r);
}
END_TEST

int
main(void)
{
	Suite *const s = suite_create("ring");
	TCase *const tc = tcase_create("ring");
	SRunner *const runner = srunner_create(s);

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, test_two_threads, 0, 2);
	tcase_add_test(tc, test_growth_keeps_the_words);
	tcase_add_test(tc, test_limit_is_kept);
	tcase_add_test(tc, test_wait_returns_without_a_consumer);
	tcase_add_test(tc, test_release_wakes_for_enough_room);
	suite_add_tcase(s, tc);
	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
