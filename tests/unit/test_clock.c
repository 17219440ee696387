/* SPDX-License-Identifier: MIT */
/*
 * test_clock.c - who may go by the tick: every interleaving of a small machine
 *
 * A model of clock.h's protocol, cut into the steps at which memory or the clock
 * is read or written: threads that allocate and free one block, whoever frees it,
 * and a writer that grants the tick, renews it and goes idle.  All schedules of a
 * few operations are tried (states that were met before are not met again).  What
 * must hold: an event on the block is later, by stamp, than another thread's event
 * on it before.  The same search must find the mistake in a protocol that lacks a
 * step, or it would prove nothing.
 *
 * The clock counts how often it was read: a larger number is a later reading.
 */
#include "support/checks.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "preload/record/clock.h"

#define THREADS	   2
#define NOBODY	   THREADS
#define OPERATIONS 2 /* of each thread */
#define DUTIES	   2 /* of the writer */

/* Those in use are eleven at most, and a step adds one. */
#define NUMBERS_MAX 24

/* What the word is; larger ones are ticks. */
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
	ELSEWHERE, /* another block, which no other thread ever sees */
};

/* Where a thread is in record_word(), put_event(), read_tick(). */
enum place {
	OUTSIDE,
	READ,	 /* the word, in the hot path */
	READ_ON, /* ... in the loop */
	OWNER,	 /* is it this one? */
	STILL,	 /* ... and is the word the same? */
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
	uint8_t last; /* stamp of its last event: they do not fall in a ring */
	uint8_t kind, is_settling;
};

struct machine {
	struct actor thread[THREADS];
	uint8_t duty, duties, target, fresh; /* the writer's */
	uint8_t word, owner, clock;
	uint8_t heap, last_thread, last_stamp; /* the block's last event */
};

/* What is left out of the protocol. */
static enum {
	NOTHING,
	THE_READ_AFTER,
	THE_PENDING,
	THE_SECOND_LOOK,
} lacking;

/* ------------------------------------------------------- states met before */

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
 * Only the order of ticks and stamps counts: number those anew that are still
 * somewhere, so that states which differ in nothing else are one.
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

/* Publish the event; false if it comes before what it follows. */
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
	/* What no longer matters must not tell two states apart. */
	a->place = OUTSIDE;
	a->word = a->stamp = a->is_settling = a->kind = 0;
	return true;
}

/* False if there is nothing to do for it. */
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

/* It may go by the word that it has read. */
static void
go_by_word(struct actor *a)
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
		go_by_word(a);
	else if (a->word == STAMPED)
		go_by_word(a);
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
			go_by_word(a);
		break;
	case STILL:
		if (m->word == a->word)
			go_by_word(a);
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

/* A duty begins; 'choice' is which. */
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

/* Try all schedules from here; false if one goes wrong. */
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

/* From the first event on, with the tick at somebody's or at nobody's. */
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

/* The real one: what each side is told, in the order of a grant. */
START_TEST(test_grant)
{
	int me, other;

	clock_init(false);
	ck_assert(!clock_is_stamped());
	ck_assert(clock_is_owned(clock_tick, &other));
	ck_assert(!clock_grant_begin(&me)); /* nothing to be granted */
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
	clock_revoke(tick);
	ck_assert_uint_eq(clock_tick, CLOCK_STAMPED);
	ck_assert(clock_is_stamped());
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
	/* An idle clock wakes without a tick. */
	ck_assert(clock_grant_begin(&me));
	ck_assert(clock_grant_end());
	clock_set_idle();
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
	suite_add_tcase(s, model);
	suite_add_tcase(s, real);
	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
