/* SPDX-License-Identifier: MIT */
/*
 * test_trellis.c - the lanes agree with plain dynamic programming
 *
 * For random rules and classes, the cost of every state must equal that of
 * plain dynamic programming, and the traced path must have the least cost, with
 * no turn before a tied use.
 */
#include "hatf/codec/trellis.h"
#include "tests/unit/support/mini.h"

#define USES 200

static struct trellis_rules rules[2];
static struct trellis_path path[2];
static struct trellis_turn turns[USES];

static void
fill(struct trellis_costs *c, uint64_t *seed, unsigned most, bool never)
{
	for (unsigned i = 0; i < TRELLIS_STATES; i++) {
		const uint64_t n = mini_random(seed) >> 32;

		c->state[i] =
			(int16_t)(never && n % 8 == 0 ? TRELLIS_NEVER
						      : n / 8 % (most + 1));
	}
}

/*
 * Random rules that allow all changes; state 7 fits any value, so the costs of
 * the states stay close.
 */
static void
make_rules(struct trellis_rules *r, uint64_t *seed)
{
	fill(&r->within[0], seed, 4, false);
	fill(&r->across, seed, 12, false);
	fill(&r->aslant, seed, 16, false);
	for (unsigned i = 0; i < TRELLIS_STATES; i++)
		r->within[1].state[i] = TRELLIS_NEVER;
	for (unsigned class = 0; class < TRELLIS_CLASSES; class ++) {
		fill(&r->stay[class], seed, 8, true);
		fill(&r->enter[class], seed, 8, true);
		r->stay[class].state[7] = 8;
		if (class & TRELLIS_TIED)
			for (unsigned i = 0; i < TRELLIS_STATES; i++)
				r->enter[class].state[i] = TRELLIS_NEVER;
	}
}

/* Return the cost of a use that changes the state from 'from' to 'to'. */
static int
use_cost(const struct trellis_rules *r, unsigned class, unsigned from,
	 unsigned to)
{
	const int across = r->across.state[to ^ 1];
	const int aslant = r->aslant.state[to ^ 1];

	if (from == to)
		return r->stay[class].state[to];
	if (from % 2 == to % 2)
		return r->within[class / TRELLIS_TIED].state[to] +
		       r->stay[class].state[to];
	return r->enter[class].state[to] +
	       (from == (to ^ 1) && across < aslant ? across : aslant);
}

/* Compute the costs after a use, one state at a time. */
static struct trellis_costs
plain_step(const struct trellis_rules *r, unsigned class,
	   const struct trellis_costs *before)
{
	struct trellis_costs after;

	for (unsigned to = 0; to < TRELLIS_STATES; to++) {
		int least = INT16_MAX;

		for (unsigned from = 0; from < TRELLIS_STATES; from++) {
			const int cost = before->state[from] +
					 use_cost(r, class, from, to);

			least = cost < least ? cost : least;
		}
		after.state[to] = (int16_t)least;
	}
	return after;
}

static int
least_of(const struct trellis_costs *c)
{
	int least = c->state[0];

	for (unsigned i = 1; i < TRELLIS_STATES; i++)
		least = c->state[i] < least ? c->state[i] : least;
	return least;
}

static void
check_costs(const struct trellis_job *job)
{
	struct trellis_costs now = *job->start;

	for (size_t i = 0; i < USES; i++) {
		now = plain_step(job->rules, job->classes[i], &now);
		for (unsigned k = 0; k < TRELLIS_STATES; k++)
			mini_check(now.state[k] ==
				   job->path->costs[i].state[k]);
	}
}

/* Check that the turns, from first to last, add up to the least cost. */
static void
check_trace(const struct trellis_job *job)
{
	unsigned state;
	size_t left = trellis_trace(job, USES, turns, &state);
	int cost = job->start->state[state];

	for (size_t i = 0; i < USES; i++) {
		unsigned next = state;

		if (left != 0 && turns[left - 1].use == i) {
			next = turns[--left].state;
			mini_check(next != state);
			mini_check(job->classes[i] < TRELLIS_TIED);
		}
		cost += use_cost(job->rules, job->classes[i], state, next);
		state = next;
	}
	mini_check(left == 0);
	ck_assert_int_eq(cost, least_of(&job->path->costs[USES - 1]));
}

START_TEST(lanes_do_what_the_rules_say)
{
	uint64_t seed = 88172645463325252u + (unsigned)_i;
	uint8_t classes[2][USES];
	struct trellis_costs start[2];
	struct trellis_job job[2];

	for (unsigned k = 0; k < 2; k++) {
		make_rules(&rules[k], &seed);
		fill(&start[k], &seed, 20, true);
		start[k].state[0] = 0;
		for (size_t i = 0; i < USES; i++)
			classes[k][i] = (uint8_t)((mini_random(&seed) >> 32) %
						  (_i % 2 ? TRELLIS_TIED
							  : TRELLIS_CLASSES));
		for (size_t i = 1; i < USES && _i % 3 == 0; i++)
			if (mini_random(&seed) >> 60 != 0)
				classes[k][i] = classes[k][i - 1];
		/* A repeated value can cost nothing. */
		for (unsigned class = 0; class < TRELLIS_CLASSES; class += 2)
			rules[k].stay[class].state[class % TRELLIS_STATES] = 0;
		job[k] = (struct trellis_job){ &rules[k], &start[k], classes[k],
					       &path[k] };
	}
	/*
	 * No state can be entered at a tied use, so every state must allow
	 * to stay.
	 */
	for (unsigned class = TRELLIS_TIED; class < TRELLIS_CLASSES; class ++)
		for (unsigned i = 0; i < TRELLIS_STATES; i++)
			rules[0].stay[class].state[i] =
				rules[1].stay[class].state[i] = (int16_t)i;
	trellis_run(&job[0], USES);
	check_costs(&job[0]);
	check_trace(&job[0]);
	trellis_run_two(&job[1], &job[0], USES);
	for (unsigned k = 0; k < 2; k++) {
		check_costs(&job[k]);
		check_trace(&job[k]);
	}
}
END_TEST

START_TEST(no_uses_end_where_it_is_cheapest)
{
	const struct trellis_costs start = { { 9, 8, 7, 6, 5, 6, 7, 8 } };
	const struct trellis_job job = { &rules[0], &start, NULL, &path[0] };
	unsigned state;

	trellis_run(&job, 0);
	ck_assert_uint_eq(trellis_trace(&job, 0, turns, &state), 0);
	ck_assert_uint_eq(state, 4);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("trellis");
	TCase *const tc = tcase_create("trellis");

	tcase_add_loop_test(tc, lanes_do_what_the_rules_say, 0, 200);
	tcase_add_test(tc, no_uses_end_where_it_is_cheapest);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
