/* SPDX-License-Identifier: MIT */
/*
 * test_history.c - merged spans and points keep what was live and allocated
 *
 * Along axes of any length, the spans have the sums and the maximum of all
 * events, the points replay to what each stack has live, and there are at most
 * SPANS_MAX and POINTS_MAX of them, in order.
 */
#include "tools/summary/history.h"

#include "tests/unit/support/checks.h"
#include <stdlib.h>

#define STACK_COUNT 200
#define EVENT_COUNT 30000

/* A heap that grows and shrinks at random. */
struct model {
	struct history *history;
	struct account_list stacks;
	struct amount live, allocated;
	uint64_t max_nbytes, at;
};

static void
step(struct model *m)
{
	const uint32_t row = (uint32_t)(rand() % STACK_COUNT);
	struct amount *const stack = &m->stacks.rows[row].live;
	const uint64_t nbytes = (uint64_t)row + 1;

	if (m->at >= m->history->span_end || m->history->span_count == 0)
		history_advance(m->history, m->at, &m->stacks, &m->live);
	history_mark(m->history, row);
	if (stack->count != 0 && rand() % 2 != 0) {
		amount_subtract(stack, nbytes);
		amount_subtract(&m->live, nbytes);
	} else {
		amount_add(stack, nbytes);
		amount_add(&m->live, nbytes);
		amount_add(&m->allocated, nbytes);
		amount_add(&history_now(m->history)->allocated, nbytes);
	}
	if (m->live.nbytes > history_now(m->history)->most)
		history_now(m->history)->most = m->live.nbytes;
	if (m->live.nbytes > m->max_nbytes)
		m->max_nbytes = m->live.nbytes;
}

static void
check_spans(const struct model *m)
{
	const struct history *const h = m->history;
	struct amount allocated = { 0, 0 };
	uint64_t max_nbytes = 0;

	ck_assert_uint_le(h->span_count, SPANS_MAX);
	for (size_t i = 0; i < h->span_count; i++) {
		if (i > 0)
			ck_assert_uint_gt(h->spans[i].number,
					  h->spans[i - 1].number);
		amount_sum(&allocated, &h->spans[i].allocated);
		if (h->spans[i].most > max_nbytes)
			max_nbytes = h->spans[i].most;
	}
	ck_assert_uint_eq(allocated.count, m->allocated.count);
	ck_assert_uint_eq(allocated.nbytes, m->allocated.nbytes);
	ck_assert_uint_eq(max_nbytes, m->max_nbytes);
	ck_assert_uint_eq(h->spans[h->span_count - 1].number,
			  m->at >> h->span_shift);
	ck_assert_uint_eq(h->spans[h->span_count - 1].live.nbytes,
			  m->live.nbytes);
}

static void
check_points(const struct model *m)
{
	const struct history *const h = m->history;
	uint64_t nbytes[STACK_COUNT] = { 0 };
	size_t changes = 0;

	ck_assert_uint_lt(h->point_count, POINTS_MAX);
	for (size_t i = 0; i < h->point_count; i++) {
		const struct point *const p = &h->points[i];

		if (i > 0)
			ck_assert_uint_gt(p->number, p[-1].number);
		for (size_t j = 0; j < p->change_count; j++)
			nbytes[p->changes[j].stack] = p->changes[j].nbytes;
		changes += p->change_count;
	}
	ck_assert_uint_eq(changes, h->change_total);
	for (uint32_t row = 0; row < STACK_COUNT; row++)
		ck_assert_uint_eq(nbytes[row], m->stacks.rows[row].live.nbytes);
}

/* Events are 'gap' units apart at most. */
static void
run(uint64_t gap)
{
	struct model m = {
		.history = calloc(1, sizeof(*m.history)),
	};

	ck_assert(account_list_reach(&m.stacks, STACK_COUNT - 1));
	ck_assert(history_reach(m.history, STACK_COUNT - 1));
	srand(1);
	for (int i = 0; i < EVENT_COUNT; i++) {
		m.at += (uint64_t)rand() % gap;
		step(&m);
	}
	history_end(m.history, &m.stacks, &m.live);
	ck_assert(!m.history->no_memory);
	check_spans(&m);
	check_points(&m);
	history_free(m.history);
	free(m.history);
	account_list_free(&m.stacks);
}

START_TEST(test_gaps)
{
	static const uint64_t gaps[] = { 1, 2, 3, 1000, 1u << 30, 1ull << 49 };

	run(gaps[_i]);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("history");
	TCase *const tcase = tcase_create("history");
	SRunner *const runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, test_gaps, 0, 6);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
