/* SPDX-License-Identifier: MIT */
/*
 * test_clock.c - ticks keep the order of events, in every interleaving
 *
 * A model of the protocol of clock.h, split into the steps that read or write
 * memory or the clock.  Threads allocate and free one block, which any thread
 * may free; a writer grants the tick, renews it and goes idle.  The test tries
 * all schedules of a few operations, and visits each state once.  An event on
 * the block must have a later stamp than an earlier event of another thread on
 * it.  To show that the search can fail, it must find an error in each protocol
 * that lacks a step.
 *
 * The simulated clock counts its readings: a larger number is a later reading.
 *
 * runs early: it takes half a minute under a sanitizer
 */
#include "tests/unit/support/checks.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "preload/clock/clock.h"

#define THREADS	   2
#define NOBODY	   THREADS
#define OPERATIONS 2 /* of each thread */
#define DUTIES	   2 /* of the writer */

/* At most eleven numbers are in use, and a step adds one. */
#define NUMBERS_MAX 24

/* The values of the clock word; larger values are ticks. */
enum {
	STAMPED,
	PENDING,
	IDLE,
	FIRST_TICK
};

enum heap {
	FREE,
	BUSY,
	LIVE
};

enum kind {
	ALLOC_IT,
	FREE_IT,
	ELSEWHERE, /* another block, which no other thread uses */
};

/* The next step of a thread in record_word(), put_event(), read_tick(). */
enum place {
	OUTSIDE,
	READ,	 /* read the word, in the fast path */
	READ_ON, /* ... in the loop */
	OWNER,	 /* is this thread the owner? */
	STILL,	 /* ... and is the word unchanged? */
	REVOKE,
	WAKE,
	STAMP,
	READ_AFTER,
	PUBLISH,
};

enum duty {
	REST,
	GRANT_OWNER,
	GRANT_PENDING,
	GRANT_CLOCK,
	GRANT_TICK,
	RENEW_TICK,
};

struct actor {
	uint8_t place, operations;
	uint8_t announced; /* thread.tick */
	uint8_t word, stamp;
	uint8_t last; /* stamp of its last event: a ring's never decrease */
	uint8_t kind, is_settling;
};

struct machine {
	struct actor thread[THREADS];
	uint8_t duty, duties, target, fresh; /* the writer's */
	uint8_t word, owner, clock;
	uint8_t heap, last_thread, last_stamp; /* the block's last event */
};

/* The step that is left out of the protocol. */
static enum {
	NOTHING,
	THE_READ_AFTER,
	THE_PENDING,
	THE_SECOND_LOOK,
} lacking;

/* ---------------------------------------------------------- visited states */

#define SEEN_MAX (1u << 22)

static struct machine *seen;
static uint8_t *is_used;
static size_t seen_count;

static size_t
hash(const struct machine *m)
{
	const uint8_t *const p = (const uint8_t *)m;
	uint64_t h = 1469598103934665603u;

	for (size_t i = 0; i < sizeof(*m); i++)
		h = (h ^ p[i]) * 1099511628211u;
	return (size_t)(h ^ h >> 29) % SEEN_MAX;
}

static bool
is_new(const struct machine *m)
{
	size_t i = hash(m);

	for (; is_used[i]; i = (i + 1) % SEEN_MAX)
		if (memcmp(&seen[i], m, sizeof(*m)) == 0)
			return false;
	ck_assert_uint_lt(seen_count, SEEN_MAX / 8 * 7);
	seen_count++;
	is_used[i] = 1;
	seen[i] = *m;
	return true;
}

/*
 * Only the order of ticks and stamps matters.  Renumber those in use, so that
 * states become equal if they differ in the numbers only.
 */
static struct machine
normalized(const struct machine *m)
{
	struct machine n = *m;
	uint8_t *const numbers[] = {
		&n.word,	   &n.fresh,
		&n.last_stamp,	   &n.thread[0].announced,
		&n.thread[0].word, &n.thread[0].stamp,
		&n.thread[0].last, &n.thread[1].announced,
		&n.thread[1].word, &n.thread[1].stamp,
		&n.thread[1].last,
	};
	uint8_t rank[NUMBERS_MAX] = { 0 };
	uint8_t next = FIRST_TICK;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		rank[*numbers[i]] = 1;
	for (unsigned i = FIRST_TICK; i < NUMBERS_MAX; i++)
		if (rank[i] != 0)
			rank[i] = next++;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (*numbers[i] >= FIRST_TICK)
			*numbers[i] = rank[*numbers[i]];
	n.clock = next;
	return n;
}

/* ------------------------------------------------------------------- steps */

/* Publish the event; return false if its stamp breaks the order. */
static bool
publish(struct machine *m, unsigned id)
{
	struct actor *const a = &m->thread[id];

	if (a->stamp > a->last)
		a->last = a->stamp;
	if (a->kind != ELSEWHERE) {
		if (m->last_thread != id && m->last_stamp >= a->last)
			return false;
		m->last_thread = (uint8_t)id;
		m->last_stamp = a->last;
		m->heap = a->kind == ALLOC_IT ? LIVE : FREE;
	}
	/* Clear values that no longer matter, so that equal states match. */
	a->place = OUTSIDE;
	a->word = a->stamp = a->is_settling = a->kind = 0;
	return true;
}

/* Begin an operation; return false if the thread has none to do. */
static bool
begin(struct machine *m, struct actor *a, bool elsewhere)
{
	if (a->operations == 0 || (m->heap == BUSY && !elsewhere))
		return false;
	a->operations--;
	a->kind = ELSEWHERE;
	if (!elsewhere) {
		a->kind = m->heap == FREE ? ALLOC_IT : FREE_IT;
		m->heap = BUSY;
	}
	a->place = READ;
	return true;
}

/* Continue as the word that the thread has read says. */
static void
use_word(struct actor *a)
{
	if (a->is_settling) {
		a->place = PUBLISH;
	} else if (a->word == PENDING || a->word == STAMPED) {
		a->place = STAMP;
	} else {
		a->announced = a->stamp = a->word;
		a->place = PUBLISH;
	}
}

static void
read_word(const struct machine *m, struct actor *a)
{
	const bool is_hot = a->place == READ;

	a->word = m->word;
	if (is_hot && a->word == a->announced)
		use_word(a);
	else if (a->word == STAMPED)
		use_word(a);
	else
		a->place = a->word == IDLE ? WAKE : OWNER;
}

static bool
step_thread(struct machine *m, unsigned id)
{
	struct actor *const a = &m->thread[id];

	switch (a->place) {
	case READ:
	case READ_ON:
		read_word(m, a);
		break;
	case OWNER:
		a->place = m->owner == id ? STILL : REVOKE;
		if (a->place == STILL && lacking == THE_SECOND_LOOK)
			use_word(a);
		break;
	case STILL:
		if (m->word == a->word)
			use_word(a);
		else
			a->place = REVOKE;
		break;
	case REVOKE:
	case WAKE:
		if (m->word == a->word)
			m->word = STAMPED;
		a->place = READ_ON;
		break;
	case STAMP:
		a->stamp = ++m->clock;
		a->place = lacking == THE_READ_AFTER ? PUBLISH : READ_AFTER;
		break;
	case READ_AFTER:
		a->is_settling = m->word != STAMPED;
		a->place = a->is_settling ? READ_ON : PUBLISH;
		break;
	default:
		return publish(m, id);
	}
	return true;
}

/* Begin a duty of the writer, number 'choice'. */
static bool
begin_duty(struct machine *m, unsigned choice)
{
	if (choice < THREADS && m->word == STAMPED) {
		m->target = (uint8_t)choice;
		m->duty = GRANT_OWNER;
	} else if (choice == THREADS && m->word >= FIRST_TICK) {
		m->fresh = ++m->clock;
		m->duty = RENEW_TICK;
	} else if (choice == THREADS + 1) {
		m->word = IDLE;
	} else {
		return false;
	}
	m->duties--;
	return true;
}

static void
go_on_with_duty(struct machine *m)
{
	switch (m->duty) {
	case GRANT_OWNER:
		m->owner = m->target;
		m->duty = GRANT_PENDING;
		if (lacking == THE_PENDING)
			m->duty = GRANT_CLOCK;
		break;
	case GRANT_PENDING:
		m->duty = m->word == STAMPED ? GRANT_CLOCK : REST;
		if (m->word == STAMPED)
			m->word = PENDING;
		break;
	case GRANT_CLOCK:
		m->fresh = ++m->clock;
		m->duty = GRANT_TICK;
		break;
	case GRANT_TICK:
		if (m->word == (lacking == THE_PENDING ? STAMPED : PENDING))
			m->word = m->fresh;
		m->duty = REST;
		break;
	default: /* RENEW_TICK */
		if (m->word >= FIRST_TICK && m->word < m->fresh)
			m->word = m->fresh;
		m->duty = REST;
	}
	if (m->duty == REST)
		m->fresh = m->target = 0;
}

/* Try all schedules from this state; return false if one fails. */
static bool explore(const struct machine *m);

static bool
explore_writer(const struct machine *m)
{
	struct machine next = *m;

	if (m->duty != REST) {
		go_on_with_duty(&next);
		return explore(&next);
	}
	for (unsigned choice = 0; m->duties != 0 && choice < THREADS + 2;
	     choice++) {
		next = *m;
		if (begin_duty(&next, choice) && !explore(&next))
			return false;
	}
	return true;
}

static bool
explore_thread(const struct machine *m, unsigned id)
{
	struct machine next = *m;

	if (m->thread[id].place != OUTSIDE)
		return step_thread(&next, id) && explore(&next);
	for (unsigned elsewhere = 0; elsewhere < 2; elsewhere++) {
		next = *m;
		if (begin(&next, &next.thread[id], elsewhere) &&
		    !explore(&next))
			return false;
	}
	return true;
}

static bool
explore(const struct machine *reached)
{
	const struct machine normal = normalized(reached);
	const struct machine *const m = &normal;

	if (!is_new(m))
		return true;
	for (unsigned id = 0; id < THREADS; id++)
		if (!explore_thread(m, id))
			return false;
	return explore_writer(m);
}

/*
 * Search from the first event on, with 'word' in the clock and 'owner' as the
 * owner of the tick, if 'word' is a tick.
 */
static bool
holds(uint8_t word, uint8_t owner)
{
	struct machine m;

	memset(&m, 0, sizeof(m));
	for (unsigned id = 0; id < THREADS; id++)
		m.thread[id].operations = OPERATIONS;
	if (word >= FIRST_TICK)
		m.thread[owner].announced = word;
	m.duties = DUTIES;
	m.word = word;
	m.owner = owner;
	m.clock = FIRST_TICK;
	m.last_thread = NOBODY;
	memset(is_used, 0, SEEN_MAX);
	seen_count = 0;
	return explore(&m);
}

static void
set_up(void)
{
	seen = malloc(SEEN_MAX * sizeof(*seen));
	is_used = malloc(SEEN_MAX);
	ck_assert(seen != NULL && is_used != NULL);
}

static void
tear_down(void)
{
	free(seen);
	free(is_used);
	lacking = NOTHING;
}

START_TEST(test_all_schedules)
{
	ck_assert(holds(STAMPED, NOBODY));
	ck_assert(holds(FIRST_TICK, 0));
	ck_assert(holds(IDLE, 1));
}
END_TEST

START_TEST(test_what_each_step_is_for)
{
	lacking = THE_READ_AFTER;
	ck_assert(!holds(STAMPED, NOBODY));
	lacking = THE_PENDING;
	ck_assert(!holds(STAMPED, NOBODY));
	lacking = THE_SECOND_LOOK;
	ck_assert(!holds(FIRST_TICK, 0));
}
END_TEST

/* The real functions, called in the order of a grant. */
START_TEST(test_grant)
{
	int me, other;

	clock_init(false);
	ck_assert(!clock_is_stamped());
	ck_assert(clock_is_owned(clock_tick, &other));
	ck_assert(!clock_grant_begin(&me)); /* nothing to grant */
	ck_assert(clock_go_stamped());
	ck_assert_uint_eq(clock_tick, CLOCK_STAMPED);

	const uint64_t before = clock_stamp();

	ck_assert_uint_eq(clock_tick_after(before), CLOCK_STAMPED);
	ck_assert(clock_grant_begin(&me));
	ck_assert_uint_eq(clock_tick_after(before), CLOCK_PENDING);
	ck_assert(clock_is_owned(CLOCK_PENDING, &me));
	ck_assert(clock_grant_end());

	const uint64_t tick = clock_tick;

	ck_assert_uint_gt(tick, before);
	ck_assert_uint_lt(tick, clock_stamp());
	ck_assert(!clock_is_stamped());
	ck_assert(clock_is_owned(tick, &me));
	ck_assert(!clock_is_owned(tick, &other));
	ck_assert(!clock_is_owned(tick - 1, &me)); /* a former tick */
	clock_renew(tick - 1);
	ck_assert_uint_eq(clock_tick, tick);
	clock_revoke(tick - 1);
	ck_assert_uint_eq(clock_tick, tick);

	const uint64_t epoch = clock_epoch;

	clock_revoke(tick);
	ck_assert_uint_eq(clock_tick, CLOCK_STAMPED);
	ck_assert(clock_is_stamped());
	ck_assert_uint_gt(clock_epoch, epoch); /* the tick claimed no pages */
}
END_TEST

START_TEST(test_grant_comes_to_nothing)
{
	int me;

	clock_init(true);
	clock_go_stamped();
	ck_assert(clock_grant_begin(&me));
	clock_revoke(CLOCK_PENDING);
	ck_assert(!clock_grant_end());
	ck_assert_uint_eq(clock_tick, CLOCK_STAMPED);
	/* An idle clock leaves idle mode without a tick. */
	ck_assert(clock_grant_begin(&me));
	ck_assert(clock_grant_end());

	const uint64_t epoch = clock_epoch;

	clock_set_idle();
	ck_assert_uint_gt(clock_epoch, epoch);
	ck_assert(clock_wake());
	ck_assert_uint_eq(clock_tick, CLOCK_STAMPED);
}
END_TEST

/* Unfenced mode, from its beginning to the second thread. */
START_TEST(test_unfenced_mode)
{
	clock_init(true);
	if (!clock_has_counter) {
		ck_assert(!clock_omits_fences());
		ck_assert_uint_eq(clock_tick, CLOCK_STAMPED);
		return;
	}
	ck_assert(clock_omits_fences());
	ck_assert_uint_eq(clock_tick, CLOCK_UNFENCED);
	ck_assert(clock_is_stamped());
	clock_renew(clock_stamp());
	ck_assert_uint_eq(clock_tick, CLOCK_UNFENCED);
	/* The mode lasts while the writer sleeps. */
	clock_set_idle();
	ck_assert(clock_omits_fences());
	ck_assert(clock_wake());
	ck_assert_uint_eq(clock_tick, CLOCK_UNFENCED);

	const uint64_t epoch = clock_epoch;

	clock_go_stamped();
	ck_assert(!clock_omits_fences());
	ck_assert_uint_eq(clock_tick, CLOCK_STAMPED);
	ck_assert_uint_gt(clock_epoch, epoch);
	/* The mode does not come back. */
	clock_set_idle();
	ck_assert(clock_wake());
	ck_assert_uint_eq(clock_tick, CLOCK_STAMPED);
}
END_TEST

/* A second thread begins while the writer sleeps. */
START_TEST(test_unfenced_mode_ends_idle)
{
	clock_init(true);
	clock_set_idle();
	clock_go_stamped();
	ck_assert_uint_eq(clock_tick, CLOCK_IDLE);
	ck_assert(clock_wake());
	ck_assert_uint_eq(clock_tick, CLOCK_STAMPED);
}
END_TEST

int
main(void)
{
	Suite *const s = suite_create("clock");
	TCase *const model = tcase_create("model");
	TCase *const real = tcase_create("real");
	SRunner *const runner = srunner_create(s);

	tcase_set_timeout(model, 300);
	tcase_add_checked_fixture(model, set_up, tear_down);
	tcase_add_test(model, test_all_schedules);
	tcase_add_test(model, test_what_each_step_is_for);
	tcase_add_test(real, test_grant);
	tcase_add_test(real, test_grant_comes_to_nothing);
	tcase_add_test(real, test_unfenced_mode);
	tcase_add_test(real, test_unfenced_mode_ends_idle);
	suite_add_tcase(s, model);
	suite_add_tcase(s, real);
	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
