/* SPDX-License-Identifier: MIT */
/*
 * test_order_schedules.c - every schedule of a simulated machine is causal
 *
 * The machine has threads whose operations are split into the steps that the
 * hardware can interleave (take a stamp, publish, call the allocator, ...), an
 * allocator that reuses a freed address at once, and a consumer whose rounds
 * can happen between any two steps.  For every schedule: no live address is
 * allocated, no free address is freed, and the sink gets each event exactly
 * once.
 */
#include "tests/unit/support/checks.h"
#include <string.h>

#include "preload/record/ring_wait.h"
#include "tests/unit/support/order_rings.h"

#define BLOCKS 12u /* few, so that each is reused soon */

static struct {
	uint64_t now;
	bool is_free[BLOCKS + 1]; /* in the allocator's view */
	unsigned held[BLOCKS];	  /* in use by the program */
	unsigned held_count;
	bool live[BLOCKS + 1]; /* according to the sink's events */
	uint64_t done, seen;   /* operations done; events that the sink got */
	const char *wrong;
} machine;

enum step {
	REST,
	FREE_STAMP,
	FREE_PUBLISH,
	FREE_REAL,
	ALLOC_REAL,
	ALLOC_STAMP,
	ALLOC_PUBLISH,
	BEGIN_STAMP,
	BEGIN_PUBLISH,
	REALLOC_TAKE,
	REALLOC_GIVE,
	END_STAMP,
	END_PUBLISH,
};

static struct actor {
	enum step step;
	unsigned old, block;
	uint64_t stamp;
} actors[THREADS];

static uint32_t seed;

static unsigned
pick(unsigned n)
{
	seed = seed * 1664525u + 1013904223u;
	return (unsigned)((uint64_t)(seed >> 8) * n >> 24);
}

static void
set_live(unsigned block, bool live)
{
	if (machine.live[block] == live && machine.wrong == NULL)
		machine.wrong =
			live ? "allocated while live" : "freed while not live";
	machine.live[block] = live;
}

static void
judge(void *context, const struct order_producer *s, const struct event *ev)
{
	(void)context;
	(void)s;
	machine.seen++;
	switch (ev->type) {
	case EVENT_ALLOC:
		set_live((unsigned)ev->operand[0] / 8, true);
		break;
	case EVENT_FREE:
		set_live((unsigned)ev->operand[0] / 8, false);
		break;
	default: /* a realloc: an alloc, then a free, as in the trace */
		if (ev->operand[0] == ev->operand[1])
			break;
		set_live((unsigned)ev->operand[1] / 8, true);
		set_live((unsigned)ev->operand[0] / 8, false);
	}
}

/* Allocate a block; 0: all are in use. */
static unsigned
allocate(void)
{
	const unsigned start = pick(BLOCKS);

	for (unsigned i = 0; i < BLOCKS; i++) {
		const unsigned b = 1 + (start + i) % BLOCKS;

		if (machine.is_free[b]) {
			machine.is_free[b] = false;
			return b;
		}
	}
	return 0;
}

static unsigned
held_take(void)
{
	const unsigned i = pick(machine.held_count);
	const unsigned b = machine.held[i];

	machine.held[i] = machine.held[--machine.held_count];
	return b;
}

static void
begin_operation(struct actor *a)
{
	const unsigned choice = pick(3);

	if (choice == 0 || machine.held_count == 0) {
		a->step = ALLOC_REAL;
		return;
	}
	a->old = held_take();
	a->step = choice == 1 ? FREE_STAMP : BEGIN_STAMP;
}

static void
end_operation(struct actor *a, unsigned returned)
{
	if (returned != 0)
		machine.held[machine.held_count++] = returned;
	machine.done++;
	a->step = REST;
}

static void
advance(unsigned id)
{
	struct actor *const a = &actors[id];

	switch (a->step) {
	case REST:
		begin_operation(a);
		return;
	case FREE_STAMP:
	case ALLOC_STAMP:
	case BEGIN_STAMP:
	case END_STAMP:
		a->stamp = machine.now;
		a->step++;
		return;
	case FREE_PUBLISH:
		put_free(id, a->stamp, a->old * 8);
		a->step++;
		return;
	case FREE_REAL:
		machine.is_free[a->old] = true;
		end_operation(a, 0);
		return;
	case ALLOC_REAL:
		a->block = allocate();
		a->step = a->block != 0 ? ALLOC_STAMP : REST;
		return;
	case ALLOC_PUBLISH:
		put_alloc(id, a->stamp, a->block * 8);
		end_operation(a, a->block);
		return;
	case BEGIN_PUBLISH:
		put_begin(id, a->stamp, a->old * 8);
		a->step++;
		return;
	case REALLOC_TAKE:
		a->block = allocate();
		a->step++;
		if (a->block == 0) { /* no free block: stay in place */
			a->block = a->old;
			a->step = END_STAMP;
		}
		return;
	case REALLOC_GIVE:
		machine.is_free[a->old] = true;
		a->step++;
		return;
	case END_PUBLISH:
		put_end(id, a->stamp, a->old * 8, a->block * 8);
		end_operation(a, a->block);
		return;
	}
}

static void
consume_round(uint64_t until)
{
	run(until);
	for (unsigned i = 0; i < THREADS; i++)
		ring_wait_release(threads[i].ring, threads[i].producer.pos);
}

/* Finish the operations in progress. */
static void
settle(void)
{
	for (unsigned n = 0; n < 1000; n++, machine.now++) {
		const unsigned id = pick(THREADS);

		if (actors[id].step != REST)
			advance(id);
		if (pick(8) == 0)
			consume_round(machine.now);
	}
	consume_round(UINT64_MAX);
}

static void
simulate(uint32_t with_seed, unsigned steps)
{
	uint64_t until = 0;
	bool has_until = false;

	seed = with_seed;
	memset(&machine, 0, sizeof(machine));
	memset(actors, 0, sizeof(actors));
	for (unsigned b = 1; b <= BLOCKS; b++)
		machine.is_free[b] = true;
	set_up(judge);
	for (unsigned n = 0; n < steps && machine.wrong == NULL; n++) {
		machine.now++;
		if (pick(12) != 0) {
			advance(pick(THREADS));
			continue;
		}
		/* The consumer reads the clock now, and the heads later. */
		if (has_until)
			consume_round(until);
		else
			until = machine.now;
		has_until = !has_until;
	}
	settle();
}

START_TEST(test_every_schedule_is_causal)
{
	for (uint32_t s = 1; s <= 3000; s++) {
		simulate(s * 2654435761u, 600);
		ck_assert_msg(machine.wrong == NULL, "schedule %u: %s", s,
			      machine.wrong);
		ck_assert_msg(machine.seen == machine.done,
			      "schedule %u: %u operations, %u came out", s,
			      (unsigned)machine.done, (unsigned)machine.seen);
		for (unsigned i = 0; i < machine.held_count; i++)
			ck_assert(machine.live[machine.held[i]]);
	}
}
END_TEST

int
main(void)
{
	Suite *const s = suite_create("order schedules");
	TCase *const tc = tcase_create("order schedules");
	SRunner *const runner = srunner_create(s);

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_every_schedule_is_causal);
	suite_add_tcase(s, tc);
	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
