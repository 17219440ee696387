/* SPDX-License-Identifier: MIT */
/*
 * test_order_owners.c - few stamps suffice: the protocol of ORDER.md
 *
 * A simulated machine with threads, an allocator, an owner table and a writer.
 * All of their operations are split into the steps that other processors can
 * come between; the consumer reads the heads of the rings one by one.  Between
 * its rounds the writer grants the tick of clock.h to some thread.  Blocks
 * share pages and lie across pages, and the allocator reuses memory at once,
 * often as a part of another block.  In each of many random schedules, no live
 * memory may be allocated and no block freed that is not live, according to the
 * events that order_round() passes on.
 *
 * To show that the schedules can find an error, the test leaves out each rule
 * of the protocol in turn, and must then find one.
 *
 * runs early: it takes half a minute under a sanitizer
 */
#include "tests/unit/support/checks.h"
#include <string.h>

#include "preload/record/ring_wait.h"
#include "tests/unit/support/order_rings.h"

#define UNIT	   16u /* bytes; blocks are whole units */
#define UNITS	   24u /* of the heap */
#define PAGE_UNITS 4u
#define PAGES	   (UNITS / PAGE_UNITS)
#define UNITS_MAX  6u /* of a block */
#define BASE	   0x1000u

/* The rule that the simulated protocol lacks. */
static enum rule {
	ALL_RULES_HOLD,
	CLAIM_BEFORE_THE_STAMP,
	LOOK_AGAIN_AFTER_THE_STAMP,
	FREE_CLAIMS_THE_WHOLE_BLOCK,
	ALLOC_CLAIMS_THE_WHOLE_BLOCK,
	BUMP_IF_THE_SIZE_IS_UNKNOWN,
	WRITER_BUMPS,
	WRITER_BUMPS_AFTER_ITS_STAMP,
	WRITER_READS_HEADS_LAST,
	BEGIN_HAS_THE_SIZE,
	REVOKE_BUMPS,
	REVOKE_BUMPS_FIRST,
	READ_THE_WORD_AGAIN,
	RULE_COUNT
} lacking;

struct block {
	unsigned at, units; /* 'units' 0: none */
};

/* The values of the clock word; a larger value is a tick. */
#define STAMPED_WORD 0u
#define PENDING_WORD 1u

static struct {
	uint64_t now, epoch;
	uint64_t word;		  /* clock_tick */
	unsigned grantee;	  /* who may use the tick */
	unsigned granting;	  /* the next step of a grant */
	uint64_t fresh;		  /* the tick that is being granted */
	unsigned owner[PAGES];	  /* thread number; 0: nobody */
	bool taken[UNITS];	  /* in the allocator's view */
	struct block held[UNITS]; /* by the program */
	unsigned held_count;
	unsigned live[UNITS]; /* by the sink's events: units of the block */
	const char *wrong;
	/* The consumer. */
	unsigned reading; /* its next step */
	uint64_t until;
	unsigned stamped, unstamped, ticked;
} machine;

enum step {
	REST,
	READ, /* the clock word */
	BUMP_TO_REVOKE,
	REVOKE,
	CHECK,
	CLAIM,
	STAMP,
	LOOK,
	PUBLISH,
	CONFIRM,
	CALL,
};

enum what {
	ALLOC,
	FREE,
	BEGIN,
	END,
};

static struct actor {
	enum step step;
	enum what what;
	struct block block, old;
	bool is_unknown; /* the size of the block that ends */
	bool has_given;	 /* the allocator has the old block of a realloc */
	bool is_stamped;
	bool is_settling; /* the event is published; revoke the tick */
	uint64_t epoch, epoch_read, stamp;
	uint64_t word, announced; /* the word as read; the tick of the ring */
} actors[THREADS];

static uint32_t seed;

static unsigned
pick(unsigned n)
{
	seed = seed * 1664525u + 1013904223u;
	return (unsigned)((uint64_t)(seed >> 8) * n >> 24);
}

/* The sink ---------------------------------------------------------------- */

static void
say_wrong(const char *what)
{
	if (machine.wrong == NULL)
		machine.wrong = what;
}

static unsigned
unit_of(uint64_t address)
{
	return (unsigned)(address - BASE) / UNIT;
}

static void
judge_free(uint64_t address)
{
	if (machine.live[unit_of(address)] == 0)
		say_wrong("freed while not live");
	machine.live[unit_of(address)] = 0;
}

static void
judge_alloc(uint64_t address, uint64_t nbytes)
{
	const unsigned at = unit_of(address);
	const unsigned units = (unsigned)(nbytes / UNIT);

	for (unsigned u = 0; u < UNITS; u++)
		if (machine.live[u] != 0 && u < at + units &&
		    at < u + machine.live[u])
			say_wrong("allocated over a live block");
	machine.live[at] = units;
}

static void
judge(void *context, const struct order_producer *s, const struct event *ev)
{
	(void)context;
	(void)s;
	switch (ev->type) {
	case EVENT_ALLOC:
		judge_alloc(ev->operand[0], ev->operand[1]);
		break;
	case EVENT_FREE:
		judge_free(ev->operand[0]);
		break;
	default:
		if (ev->operand[0] == ev->operand[1]) {
			judge_free(ev->operand[0]);
			judge_alloc(ev->operand[1], ev->operand[2]);
			break;
		}
		judge_alloc(ev->operand[1], ev->operand[2]);
		judge_free(ev->operand[0]);
	}
}

/* The allocator ----------------------------------------------------------- */

static struct block
allocate(void)
{
	const unsigned start = pick(UNITS);
	struct block b = { 0, 1 + pick(UNITS_MAX) };

	for (unsigned i = 0; i < UNITS; i++) {
		unsigned n = 0;

		b.at = (start + i) % UNITS;
		while (n < b.units && b.at + n < UNITS &&
		       !machine.taken[b.at + n])
			n++;
		if (n < b.units)
			continue;
		memset(&machine.taken[b.at], true, b.units);
		return b;
	}
	return (struct block){ 0, 0 };
}

static void
give(struct block b)
{
	memset(&machine.taken[b.at], false, b.units);
}

static struct block
take_held(void)
{
	const unsigned i = pick(machine.held_count);
	const struct block b = machine.held[i];

	machine.held[i] = machine.held[--machine.held_count];
	return b;
}

/* A thread ---------------------------------------------------------------- */

static bool
is_free_like(const struct actor *a)
{
	return a->what == FREE || a->what == BEGIN;
}

/* The pages that the event is about: [first, end). */
static void
pages_of(const struct actor *a, unsigned *first, unsigned *end)
{
	const struct block b = is_free_like(a) ? a->old : a->block;
	unsigned units = b.units;

	if (is_free_like(a) ? lacking == FREE_CLAIMS_THE_WHOLE_BLOCK
			    : lacking == ALLOC_CLAIMS_THE_WHOLE_BLOCK)
		units = 1;
	*first = b.at / PAGE_UNITS;
	*end = (b.at + units - 1) / PAGE_UNITS + 1;
}

static bool
owns_all(unsigned id)
{
	unsigned first, end;

	pages_of(&actors[id], &first, &end);
	for (unsigned p = first; p < end; p++)
		if (machine.owner[p] != id + 1)
			return false;
	return true;
}

static void
claim(unsigned id)
{
	unsigned first, end;

	pages_of(&actors[id], &first, &end);
	for (unsigned p = first; p < end; p++)
		machine.owner[p] = id + 1;
}

/* Put words into the ring; the consumer publishes them when it reads a head. */
static void
put_hidden(unsigned id, uint64_t word, uint64_t stamp, bool is_stamped)
{
	struct thread *const t = &threads[id];

	ring_put(t->ring, t->head++, word);
	if (is_stamped)
		ring_put(t->ring, t->head++, stamp);
}

static void
put_wide_hidden(unsigned id, uint64_t first, uint64_t stamp,
		const uint64_t *operand, unsigned n)
{
	put_hidden(id, first, stamp, true);
	for (unsigned i = 0; i < n; i++)
		put_hidden(id, operand[i], 0, false);
}

static void
publish(unsigned id)
{
	struct actor *const a = &actors[id];
	const uint64_t old = BASE + (uint64_t)a->old.at * UNIT;
	const uint64_t address = BASE + (uint64_t)a->block.at * UNIT;
	const uint64_t size = (uint64_t)a->block.units * UNIT;
	const unsigned code = a->is_unknown || lacking == BEGIN_HAS_THE_SIZE
				      ? 0
				      : event_size_code(a->old.units * UNIT);
	const uint64_t operand[] = { old, address, size };

	if (a->word > PENDING_WORD && a->word != a->announced) {
		a->announced = a->word;
		put_hidden(id, event_wide(EVENT_TICK, 2, 0), a->word, true);
	}
	if (a->what == ALLOC)
		put_hidden(id,
			   size << EVENT_SIZE_SHIFT | address |
				   (a->is_stamped ? EVENT_KIND_ALLOC_STAMPED
						  : EVENT_KIND_ALLOC),
			   a->stamp, a->is_stamped);
	else if (a->what == FREE)
		put_hidden(id,
			   old | (a->is_stamped ? EVENT_KIND_FREE_STAMPED
						: EVENT_KIND_FREE),
			   a->stamp, a->is_stamped);
	else if (a->what == BEGIN && a->is_stamped)
		put_wide_hidden(id, event_wide(EVENT_REALLOC_BEGIN, 3, code),
				a->stamp, operand, 1);
	else if (a->what == BEGIN)
		put_hidden(id,
			   (uint64_t)code << EVENT_SIZE_SHIFT | old |
				   EVENT_KIND_REALLOC,
			   0, false);
	else if (a->is_stamped)
		put_wide_hidden(id, event_wide(EVENT_REALLOC_END, 5, 0),
				a->stamp, operand, 3);
	else
		put_hidden(id,
			   size << EVENT_SIZE_SHIFT | EVENT_REALLOC_IS_END |
				   address | EVENT_KIND_REALLOC,
			   0, false);
}

static void
begin_operation(struct actor *a)
{
	const unsigned choice = pick(3);

	a->is_unknown = false;
	if (choice == 0 || machine.held_count == 0) {
		a->what = ALLOC;
		a->block = allocate();
		a->step = a->block.units != 0 ? READ : REST;
		return;
	}
	a->old = take_held();
	a->what = choice == 1 ? FREE : BEGIN;
	/* A realloc whose size is unknown may be passed by a part of it. */
	a->is_unknown = a->what == FREE && pick(8) == 0;
	a->has_given = false;
	a->step = READ;
}

/* The event is published: what the thread does next. */
static void
call(struct actor *a)
{
	switch (a->what) {
	case ALLOC:
	case END:
		machine.held[machine.held_count++] = a->block;
		a->step = REST;
		return;
	case FREE:
		give(a->old);
		a->step = REST;
		return;
	case BEGIN:
		break;
	}
	if (a->has_given) {
		give(a->old);
		a->what = END;
		a->step = READ;
		return;
	}
	a->block = pick(3) == 0 ? (struct block){ 0, 0 } : allocate();
	if (a->block.units != 0) {
		a->has_given = true; /* in the next step */
		return;
	}
	/* Stay in place; give back the end of the block, if it has one. */
	a->block = a->old;
	a->block.units = 1 + pick(a->old.units);
	give(a->old);
	memset(&machine.taken[a->block.at], true, a->block.units);
	a->what = END;
	a->step = READ;
}

static void
look_again(unsigned id)
{
	struct actor *const a = &actors[id];
	const bool knows =
		!a->is_unknown || lacking == BUMP_IF_THE_SIZE_IS_UNKNOWN;

	if (lacking != LOOK_AGAIN_AFTER_THE_STAMP &&
	    (!knows || (!a->is_unknown && !owns_all(id))))
		machine.epoch++;
	a->epoch = a->epoch_read;
	a->step = PUBLISH;
}

static void
read_word(unsigned id)
{
	struct actor *const a = &actors[id];
	const bool is_mine = machine.grantee == id;

	a->word = machine.word;
	if (a->word != STAMPED_WORD && !is_mine)
		a->step =
			lacking == REVOKE_BUMPS_FIRST ? REVOKE : BUMP_TO_REVOKE;
	else if (a->is_settling)
		a->step = CALL;
	else if (a->word > PENDING_WORD)
		a->step = PUBLISH;
	else
		a->step = CHECK;
	if (a->step == PUBLISH) {
		a->is_stamped = false;
		machine.ticked++;
	}
	if (a->step == CALL)
		a->is_settling = false;
}

static void
revoke(struct actor *a)
{
	if (a->step == REVOKE && machine.word == a->word)
		machine.word = STAMPED_WORD;
	if (a->step == BUMP_TO_REVOKE && lacking != REVOKE_BUMPS)
		machine.epoch++;
	if (lacking == REVOKE_BUMPS_FIRST)
		a->step = a->step == REVOKE ? BUMP_TO_REVOKE : READ;
	else
		a->step = a->step == REVOKE ? READ : REVOKE;
}

static void
check(unsigned id)
{
	struct actor *const a = &actors[id];

	a->epoch_read = machine.epoch;
	a->is_stamped = a->is_unknown || a->word == PENDING_WORD ||
			a->epoch != a->epoch_read || !owns_all(id);
	machine.stamped += a->is_stamped;
	machine.unstamped += !a->is_stamped;
	a->step = !a->is_stamped ? PUBLISH : CLAIM;
	if (a->is_stamped && lacking == CLAIM_BEFORE_THE_STAMP)
		a->step = STAMP;
}

static void
advance(unsigned id)
{
	struct actor *const a = &actors[id];

	switch (a->step) {
	case REST:
		begin_operation(a);
		return;
	case READ:
		read_word(id);
		return;
	case BUMP_TO_REVOKE:
	case REVOKE:
		revoke(a);
		return;
	case CHECK:
		check(id);
		return;
	case CLAIM:
		if (!a->is_unknown)
			claim(id);
		a->step = lacking == CLAIM_BEFORE_THE_STAMP ? LOOK : STAMP;
		return;
	case STAMP:
		a->stamp = machine.now;
		a->step = lacking == CLAIM_BEFORE_THE_STAMP ? CLAIM : LOOK;
		return;
	case LOOK:
		look_again(id);
		return;
	case PUBLISH:
		publish(id);
		a->step = a->is_stamped && lacking != READ_THE_WORD_AGAIN
				  ? CONFIRM
				  : CALL;
		return;
	case CONFIRM:
		a->is_settling = machine.word != STAMPED_WORD;
		a->step = a->is_settling ? READ : CALL;
		return;
	case CALL:
		call(a);
		return;
	}
}

/* The writer -------------------------------------------------------------- */

static void
read_head(unsigned id)
{
	ring_publish(threads[id].ring, threads[id].head);
}

/* The steps of a round: stamp, bump, one head after the other, merge. */
static void
advance_writer(void)
{
	const bool early = lacking == WRITER_READS_HEADS_LAST;
	const unsigned step = machine.reading++;
	const unsigned first_head = early ? 0 : 2;
	const unsigned stamp_at = (early ? THREADS : 0u) +
				  (lacking == WRITER_BUMPS_AFTER_ITS_STAMP);
	const unsigned bump_at = (early ? THREADS : 0u) +
				 (lacking != WRITER_BUMPS_AFTER_ITS_STAMP);

	if (step == stamp_at) {
		machine.until = machine.now;
	} else if (step == bump_at) {
		if (lacking != WRITER_BUMPS)
			machine.epoch++;
	} else if (step < THREADS + 2) {
		read_head(step - first_head);
	} else {
		run(machine.until);
		machine.reading = 0;
		for (unsigned i = 0; i < THREADS; i++)
			ring_wait_release(threads[i].ring,
					  threads[i].producer.pos);
	}
}

/*
 * The steps of a grant, as clock_grant_begin() and clock_grant_end() do them,
 * or a renewal of the tick.
 */
static void
advance_grant(void)
{
	switch (machine.granting) {
	case 0:
		if (machine.word > PENDING_WORD)
			machine.word = machine.now;
		if (machine.word != STAMPED_WORD)
			return;
		machine.grantee = pick(THREADS);
		break;
	case 1:
		if (machine.word != STAMPED_WORD) {
			machine.granting = 0;
			return;
		}
		machine.word = PENDING_WORD;
		break;
	case 2:
		machine.fresh = machine.now;
		break;
	default:
		if (machine.word == PENDING_WORD)
			machine.word = machine.fresh;
		machine.granting = 0;
		return;
	}
	machine.granting++;
}

/* Finish the operations in progress, and take all events. */
static void
settle(void)
{
	for (unsigned n = 0; n < 1000 && machine.wrong == NULL; n++) {
		const unsigned id = pick(THREADS);

		machine.now++;
		if (actors[id].step != REST)
			advance(id);
	}
	for (unsigned i = 0; i < THREADS; i++)
		read_head(i);
	run(UINT64_MAX);
	for (unsigned u = 0; u < UNITS; u++)
		if (machine.live[u] != 0)
			machine.held_count--;
	if (machine.held_count != 0)
		say_wrong("live blocks of the trace and of the program");
}

/* Choose the thread that goes on: in some schedules often the same one. */
static unsigned
pick_thread(unsigned last, unsigned burst)
{
	return pick(burst) != 0 ? last : pick(THREADS);
}

static const char *
simulate(uint32_t with_seed, unsigned steps)
{
	/* Ticks, few ticks, or next to none. */
	const unsigned grant_every =
		(const unsigned[]){ 3, 60, 100000 }[with_seed % 3];
	const unsigned burst =
		(const unsigned[]){ 1, 8, 30 }[with_seed / 3 % 3];
	unsigned id = 0;

	seed = with_seed;
	memset(&machine, 0, sizeof(machine));
	memset(actors, 0, sizeof(actors));
	machine.epoch = 1;
	machine.now = PENDING_WORD;
	set_up(judge);
	for (unsigned n = 0; n < steps && machine.wrong == NULL; n++) {
		machine.now++;
		if (machine.reading == 0 && pick(grant_every) == 0)
			advance_grant();
		else if (pick(10) == 0)
			advance_writer();
		else
			advance(id = pick_thread(id, burst));
	}
	settle();
	return machine.wrong;
}

START_TEST(test_every_schedule_is_right)
{
	unsigned stamped = 0, unstamped = 0, ticked = 0;

	lacking = ALL_RULES_HOLD;
	for (uint32_t s = 1; s <= 20000; s++) {
		const char *const wrong = simulate(s * 2654435761u, 600);

		ck_assert_msg(wrong == NULL, "schedule %u: %s", s, wrong);
		stamped += machine.stamped;
		unstamped += machine.unstamped;
		ticked += machine.ticked;
	}
	/* All kinds of event have been tried. */
	ck_assert_uint_gt(stamped, 100000);
	ck_assert_uint_gt(unstamped, 20000);
	ck_assert_uint_gt(ticked, 10000);
}
END_TEST

START_TEST(test_no_rule_can_be_left_out)
{
	lacking = (enum rule)_i;
	for (uint32_t s = 1; s <= 200000; s++)
		if (simulate(s * 2654435761u, 600) != NULL)
			return;
	ck_abort_msg("without rule %d no schedule is wrong", _i);
}
END_TEST

int
main(void)
{
	Suite *const s = suite_create("order and owners");
	TCase *const tc = tcase_create("order and owners");
	SRunner *const runner = srunner_create(s);

	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, test_every_schedule_is_right);
	tcase_add_loop_test(tc, test_no_rule_can_be_left_out,
			    ALL_RULES_HOLD + 1, RULE_COUNT);
	suite_add_tcase(s, tc);
	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
