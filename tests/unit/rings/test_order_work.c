/* SPDX-License-Identifier: MIT */
/*
 * test_order_work.c - the work for a round grows no faster than its events
 *
 * The rings are those of a hostile ring file: each has an open realloc.  The
 * tests count the events that the sink gets, and the open reallocs that the
 * order looks at.
 */
#include "tests/unit/support/checks.h"
#include <stdlib.h>

#include "hatf/rings/order.h"

#define RINGS 4000
#define WORDS 64

/* Maximum number of calls of open_reallocs.h for an event. */
#define CALLS 4

static struct order_producer producers[RINGS];
static struct order_producer *all[RINGS], *space[RINGS];
static struct order order;
static uint64_t taken[EVENT_TYPE_COUNT];

static void
count_event(void *context, const struct order_producer *s,
	    const struct event *ev)
{
	(void)context;
	(void)s;
	taken[ev->type]++;
}

static void
put(unsigned id, unsigned n, const uint64_t *words)
{
	struct ring *const r = producers[id].ring;
	const uint64_t head = ring_head(r);

	for (unsigned i = 0; i < n; i++)
		ring_put(r, head + i, words[i]);
	ring_publish(r, head + n);
}

/* Put the begin of a realloc of 'nbytes' bytes at 'old'. */
static void
put_begin(unsigned id, uint64_t stamp, uint64_t old, uint64_t nbytes)
{
	put(id, 3,
	    (uint64_t[]){
		    event_wide(EVENT_REALLOC_BEGIN, 3, event_size_code(nbytes)),
		    stamp, old });
}

static void
put_alloc(unsigned id, uint64_t stamp, uint64_t address)
{
	put(id, 2,
	    (uint64_t[]){ 8ull << EVENT_SIZE_SHIFT | address |
				  EVENT_KIND_ALLOC_STAMPED,
			  stamp });
}

static void
put_forked(unsigned id, uint64_t stamp, uint64_t ticket)
{
	put(id, 3,
	    (uint64_t[]){ event_wide(EVENT_FORK, 3, EVENT_FLAG_FORKED), stamp,
			  ticket });
}

static void
set_up(void)
{
	for (unsigned i = 0; i < RINGS; i++) {
		void *memory = NULL;

		ck_assert_int_eq(posix_memalign(&memory, RING_HEADER_NBYTES,
						ring_nbytes(WORDS)),
				 0);
		producers[i] = (struct order_producer){
			.id = i,
			.ring = ring_init(memory, WORDS),
		};
		all[i] = &producers[i];
	}
	order_init(&order, space, RINGS, count_event, NULL);
}

static void
tear_down(void)
{
	for (unsigned i = 0; i < RINGS; i++)
		free(producers[i].ring);
}

/* Pass on all 'n' events, and check the work that this took. */
static void
check_round(uint64_t n)
{
	order_round(&order, all, RINGS, UINT64_MAX, true);
	for (unsigned i = 0; i < RINGS; i++)
		ck_assert_uint_eq(producers[i].pos,
				  ring_head(producers[i].ring));
	ck_assert_uint_le(order.open.step_count,
			  n * CALLS * OPEN_REALLOCS_DEPTH);
	ck_assert_uint_gt(order.open.step_count, 0);
}

/* Allocations that take nothing of any old block. */
START_TEST(test_allocations_elsewhere)
{
	set_up();
	for (unsigned i = 0; i < RINGS; i++) {
		put_begin(i, 1, (uint64_t)(i + 1) << 20, 1 << 12);
		for (unsigned k = 0; k < 4; k++)
			put_alloc(i, 2 + k,
				  ((uint64_t)(i + 1) << 20) + (1u << 16));
	}
	check_round(RINGS * 5);
	ck_assert_uint_eq(taken[EVENT_ALLOC], RINGS * 4);
	ck_assert_uint_eq(taken[EVENT_FREE], 0);
	ck_assert_uint_eq(order.open_count, RINGS);
	tear_down();
}
END_TEST

/* All old blocks are one, and each allocation is in it. */
START_TEST(test_one_block)
{
	set_up();
	for (unsigned i = 0; i < RINGS; i++) {
		put_begin(i, 1, 1 << 20, 1 << 20);
		for (unsigned k = 0; k < 4; k++)
			put_alloc(i, 2 + k, (1u << 20) + 64);
	}
	check_round(RINGS * 5);
	ck_assert_uint_eq(taken[EVENT_ALLOC], RINGS * 4);
	ck_assert_uint_eq(taken[EVENT_FREE], RINGS);
	tear_down();
}
END_TEST

/* Each realloc of a ring begins before the one before it has ended. */
START_TEST(test_begins_without_ends)
{
	set_up();
	for (unsigned i = 0; i < RINGS; i++)
		for (unsigned k = 0; k < 16; k++)
			put_begin(i, 1 + k, (uint64_t)(i + 1) << 20, 1 << 12);
	check_round(RINGS * 16);
	ck_assert_uint_eq(order.open_count, RINGS);
	tear_down();
}
END_TEST

/* At each of many forks, all reallocs are in progress. */
START_TEST(test_forks)
{
	const uint64_t limit = 5 * RINGS;

	set_up();
	for (unsigned i = 0; i < RINGS; i++) {
		put_begin(i, 1, (uint64_t)(i + 1) << 20, 1 << 12);
		for (unsigned k = 0; k < 4; k++)
			put_forked(i, 2 + k, i * 4 + k);
	}
	order.fork_reports_left = limit;
	check_round(RINGS * 5 + limit);
	ck_assert_uint_eq(taken[EVENT_FORK], RINGS * 4);
	ck_assert_uint_eq(taken[EVENT_REALLOC_BEGIN], limit);
	ck_assert_uint_eq(order.fork_reports_left, 0);
	tear_down();
}
END_TEST

int
main(void)
{
	Suite *const s = suite_create("order_work");
	TCase *const tc = tcase_create("order_work");
	SRunner *const runner = srunner_create(s);

	tcase_add_test(tc, test_allocations_elsewhere);
	tcase_add_test(tc, test_one_block);
	tcase_add_test(tc, test_begins_without_ends);
	tcase_add_test(tc, test_forks);
	suite_add_tcase(s, tc);
	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
