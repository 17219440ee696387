/* SPDX-License-Identifier: MIT */
/*
 * test_events.c - records become the right events; each defect is reported once
 *
 * Records become the logical events of hatf.h, with the live set, ids and
 * lifetimes that follow from them.  The stage reports each defect of a trace
 * once, at the event where it becomes visible.  It does not apply rules for our
 * own traces to those of other programs.
 */
#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/streams.h"

#define MAX	     64
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* One record, with the fields in the order in which most tests use them. */
struct step {
	unsigned tag;
	uint64_t thread, time, size, address, old_address, heap;
};

enum origin {
	OURS,  /* with our header */
	CHILD, /* and with that of a forked child */
	FOREIGN,
};

/* The result of a trace. */
struct outcome {
	struct hatf_event event[MAX]; /* without comments */
	size_t n;
	struct hatf_events_stats stats;
};

static void
put_step(struct hand *h, const struct step *s)
{
	hand_put(h, s->tag, 1);
	if (s->tag == HATF_CREATE_HEAP || s->tag == HATF_DESTROY_HEAP)
		hand_put(h, s->heap, 1);
	if (s->tag != HATF_FREE && s->tag <= HATF_REALLOC_FREE)
		hand_put(h, s->size, 4);
	if (s->tag >= HATF_REALLOC_NO_ALLOC && s->tag <= HATF_REALLOC_FREE)
		hand_put(h, s->old_address, 4);
	if (s->tag <= HATF_REALLOC_FREE)
		hand_put(h, s->address, 4);
	hand_put(h, s->thread, 1);
	if (s->tag <= HATF_REALLOC_FREE)
		hand_put(h, s->heap, 1);
	hand_put(h, s->time, 2);
}

static struct outcome
run(enum origin origin, const struct step *steps, size_t count)
{
	static const unsigned widths[][2] = { { 2, 2 }, { 3, 1 }, { 4, 1 } };
	struct outcome o = { 0 };
	struct hand h = { 0 };
	struct hatf_reader *reader;
	struct hatf_events *events;
	struct hatf_event event;
	size_t n;
	int fd;

	if (origin != FOREIGN)
		hand_comment(&h, origin == OURS ? "HATF 1.0\n"
						: "HATF 1.0\nparent_pid=7\n");
	for (size_t i = 0; i < COUNT(widths); i++) {
		hand_interpretation(&h, widths[i][0], HATF_NONE, 0, 0, 0);
		hand_width(&h, widths[i][0], widths[i][1]);
	}
	for (size_t i = 0; i < count; i++)
		put_step(&h, &steps[i]);
	fd = hand_file(h.bytes, h.used);
	ck_assert_int_eq(reader_of_fd(fd, HATF_READER_METADATA, &reader, NULL),
			 HATF_OK);
	ck_assert_int_eq(hatf_events_open(reader, &events), HATF_OK);
	while (hatf_events_read(events, &event, 1, &n) == HATF_OK)
		if (event.kind != HATF_EVENT_COMMENT)
			o.event[o.n++] = event;
	o.stats.struct_nbytes = sizeof(o.stats);
	hatf_events_get_stats(events, &o.stats);
	hatf_events_close(events);
	hatf_reader_close(reader);
	close(fd);
	hand_fini(&h);
	return o;
}

#define RUN(origin, steps) run(origin, steps, COUNT(steps))

/* Check the number of events and the violation of each. */
static void
expect(const struct outcome *o, size_t n, const enum hatf_violation *want)
{
	uint64_t count = 0;

	ck_assert_uint_eq(o->n, n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_int_eq(o->event[i].violation, want[i]);
		count += want[i] != HATF_VIOLATION_NONE;
	}
	ck_assert_uint_eq(o->stats.violation_count, count);
}

/* Like expect(), for a rule that applies only to our own traces. */
static void
expect_of_ours(const struct step *steps, size_t step_count,
	       const enum hatf_violation *want, size_t n)
{
	const struct outcome o = run(OURS, steps, step_count);
	const struct outcome foreign = run(FOREIGN, steps, step_count);

	expect(&o, n, want);
	ck_assert_uint_eq(foreign.stats.violation_count, 0);
}

static const enum hatf_violation none[MAX];

START_TEST(objects_have_ids_and_lifetimes)
{
	static const struct step steps[] = {
		{ .tag = 0, .time = 10, .size = 100, .address = 16 },
		{ .tag = 0, .time = 11, .size = 50, .address = 32 },
		{ .tag = 1, .time = 12, .address = 16 },
		{ .tag = 0, .time = 13, .size = 7, .address = 16 },
		{ .tag = 1, .time = 14, .address = 16 },
	};
	const struct outcome o = RUN(OURS, steps);
	const struct hatf_event *const e = o.event;

	expect(&o, 5, none);
	ck_assert_int_eq(e[0].kind, HATF_EVENT_ALLOC);
	ck_assert_uint_eq(e[0].record, 1); /* after the header */
	ck_assert_uint_eq(e[0].object, 1);
	ck_assert_uint_eq(e[0].address, 16);
	ck_assert_uint_eq(e[0].size, 100);
	ck_assert_uint_eq(e[0].birth_time, 10);
	ck_assert_uint_eq(e[0].birth_event, 0);
	ck_assert_int_eq(e[2].kind, HATF_EVENT_FREE);
	ck_assert_uint_eq(e[2].object, 1);
	ck_assert_uint_eq(e[2].address, 0);
	ck_assert_uint_eq(e[2].old_address, 16);
	ck_assert_uint_eq(e[2].old_size, 100);
	ck_assert_uint_eq(e[2].birth_time, 10);
	ck_assert_uint_eq(e[3].object, 3);
	ck_assert_uint_eq(e[4].object, 3);
	ck_assert_uint_eq(e[4].birth_event, 3);
	ck_assert_uint_eq(o.stats.event_count, 5);
	ck_assert_uint_eq(o.stats.live_count, 1);
	ck_assert_uint_eq(o.stats.live_nbytes, 50);
	ck_assert_uint_eq(o.stats.peak_live_count, 2);
	ck_assert_uint_eq(o.stats.peak_live_nbytes, 150);
	ck_assert_uint_eq(o.stats.first_time, 10);
	ck_assert_uint_eq(o.stats.last_time, 14);
	ck_assert_uint_eq(o.stats.thread_count, 1);
}
END_TEST

START_TEST(every_kind_of_realloc_is_one_event)
{
	static const struct step steps[] = {
		/* realloc(NULL, 10) */
		{ .tag = 4, .size = 10, .address = 16 },
		{ .tag = 0, .size = 10, .address = 16 },
		/* in place */
		{ .tag = 2, .size = 20, .address = 16, .old_address = 16 },
		/* the call fails */
		{ .tag = 2, .size = 99, .address = 0, .old_address = 16 },
		/* the block moves */
		{ .tag = 3, .size = 30, .address = 64, .old_address = 16 },
		{ .tag = 0, .size = 30, .address = 64 },
		{ .tag = 1, .address = 16 },
		/* realloc(p, 0) */
		{ .tag = 5, .size = 0, .address = 0, .old_address = 64 },
		{ .tag = 1, .address = 64 },
		/* realloc(NULL, n) fails */
		{ .tag = 2, .size = 5, .address = 0, .old_address = 0 },
	};
	static const struct {
		uint64_t old_address, address, size, old_size, object;
	} want[] = {
		{ 0, 16, 10, 0, 1 },  { 16, 16, 20, 10, 1 },
		{ 16, 0, 99, 20, 1 }, { 16, 64, 30, 20, 1 },
		{ 64, 0, 0, 30, 1 },  { 0, 0, 5, 0, 0 },
	};
	const struct outcome o = RUN(OURS, steps);

	expect(&o, COUNT(want), none);
	for (size_t i = 0; i < COUNT(want); i++) {
		const struct hatf_event *const e = &o.event[i];

		ck_assert_int_eq(e->kind, HATF_EVENT_REALLOC);
		ck_assert_uint_eq(e->old_address, want[i].old_address);
		ck_assert_uint_eq(e->address, want[i].address);
		ck_assert_uint_eq(e->size, want[i].size);
		ck_assert_uint_eq(e->old_size, want[i].old_size);
		ck_assert_uint_eq(e->object, want[i].object);
	}
	ck_assert_uint_eq(o.stats.event_count, COUNT(want));
	ck_assert_uint_eq(o.stats.live_count, 0);
	ck_assert_uint_eq(o.stats.live_nbytes, 0);
	ck_assert_uint_eq(o.stats.peak_live_nbytes, 30);
}
END_TEST

START_TEST(a_foreign_realloc_may_come_alone)
{
	static const struct step steps[] = {
		{ .tag = 0, .size = 10, .address = 16 },
		{ .tag = 4, .size = 20, .address = 32, .old_address = 16 },
		{ .tag = 3, .size = 30, .address = 32, .old_address = 32 },
		{ .tag = 3, .size = 40, .address = 16, .old_address = 32 },
		{ .tag = 0, .size = 5, .address = 32 },
		{ .tag = 5, .old_address = 16 },
		{ .tag = 1, .address = 32 },
	};
	const struct outcome o = RUN(FOREIGN, steps);

	expect(&o, 7, none);
	ck_assert_uint_eq(o.event[3].object, 1);
	ck_assert_uint_eq(o.event[3].old_size, 30);
	ck_assert_uint_eq(o.event[5].object, 1);
	ck_assert_uint_eq(o.stats.live_count, 0);
	ck_assert_uint_eq(o.stats.peak_live_nbytes, 45);
}
END_TEST

START_TEST(a_realloc_that_announces_no_free_leaves_the_old_block)
{
	static const struct step steps[] = {
		{ .tag = 0, .size = 10, .address = 16 },
		{ .tag = 4, .size = 20, .address = 32, .old_address = 16 },
		{ .tag = 0, .size = 20, .address = 32 },
		{ .tag = 1, .address = 16 },
		{ .tag = 1, .address = 32 },
	};
	const struct outcome o = RUN(FOREIGN, steps);

	expect(&o, 4, none);
	ck_assert_uint_eq(o.event[2].old_size, 10);
	ck_assert_uint_eq(o.stats.live_count, 0);
}
END_TEST

START_TEST(a_realloc_without_its_alloc_moves_the_block)
{
	static const struct step steps[] = {
		{ .tag = 0, .size = 10, .address = 16 },
		{ .tag = 4, .size = 20, .address = 32, .old_address = 16 },
		{ .tag = 4, .size = 30, .address = 48 },
		{ .tag = 0, .size = 30, .address = 48 },
		/* freed meanwhile, so no longer live */
		{ .tag = 1, .address = 16 },
	};
	static const enum hatf_violation want[] = {
		0,
		0,
		0,
		HATF_VIOLATION_FREE_UNKNOWN,
	};
	const struct outcome o = RUN(FOREIGN, steps);

	expect(&o, COUNT(want), want);
	ck_assert_uint_eq(o.stats.live_count, 2);
}
END_TEST

START_TEST(a_foreign_realloc_has_all_its_parts_or_none)
{
	static const struct step steps[] = {
		{ .tag = 0, .size = 10, .address = 16 },
		{ .tag = 3, .size = 20, .address = 32, .old_address = 16 },
		{ .tag = 0, .size = 20, .address = 32 },
		{ .tag = 1, .address = 32 },
		{ .tag = 0, .size = 10, .address = 16 },
	};
	static const enum hatf_violation want[] = {
		0,
		0,
		HATF_VIOLATION_PAIRING,
		0,
	};
	const struct outcome o = RUN(FOREIGN, steps);

	expect(&o, COUNT(want), want);
}
END_TEST

START_TEST(our_realloc_must_be_followed_by_its_parts)
{
	static const struct step steps[] = {
		{ .tag = 0, .size = 10, .address = 16 },
		/* the free is missing */
		{ .tag = 3, .size = 20, .address = 32, .old_address = 16 },
		{ .tag = 0, .size = 20, .address = 32 },
		{ .tag = 0, .size = 1, .address = 48 },
		/* another size */
		{ .tag = 4, .size = 20, .address = 64 },
		{ .tag = 0, .size = 21, .address = 64 },
		{ .tag = 1, .address = 48 },
		/* another thread */
		{ .tag = 5, .old_address = 64 },
		{ .tag = 8, .thread = 1 },
		{ .tag = 1, .address = 64, .thread = 1 },
		/* addresses that do not fit the tag */
		{ .tag = 2, .size = 2, .address = 80, .old_address = 32 },
		{ .tag = 1, .address = 80 },
	};
	static const enum hatf_violation want[] = {
		0,
		0,
		HATF_VIOLATION_PAIRING, /* alloc 48 */
		0,
		HATF_VIOLATION_PAIRING, /* free 48 */
		0,
		HATF_VIOLATION_PAIRING,	     /* createThread */
		HATF_VIOLATION_FREE_UNKNOWN, /* free 64 */
		HATF_VIOLATION_PAIRING,
		0,
	};
	const struct outcome o = RUN(OURS, steps);

	expect(&o, COUNT(want), want);
	ck_assert_uint_eq(o.stats.live_count, 0);
}
END_TEST

/* Regression: only the sizes were compared. */
START_TEST(our_parts_have_the_order_time_and_heap_of_their_realloc)
{
	static const struct step steps[] = {
		{ .tag = 0, .size = 10, .address = 16 },
		/* the free comes first */
		{ .tag = 3, .size = 20, .address = 32, .old_address = 16 },
		{ .tag = 1, .address = 16 },
		{ .tag = 0, .size = 20, .address = 32 },
		/* another time */
		{ .tag = 3, .size = 5, .address = 48, .old_address = 32 },
		{ .tag = 0, .size = 5, .address = 48, .time = 1 },
		{ .tag = 1, .address = 32, .time = 1 },
		{ .tag = 5, .old_address = 48, .time = 1 },
		{ .tag = 1, .address = 48, .time = 2 },
		/* another heap */
		{ .tag = 4, .size = 5, .address = 64, .time = 2 },
		{ .tag = 0, .size = 5, .address = 64, .heap = 7, .time = 2 },
		{ .tag = 0, .size = 1, .address = 80, .time = 2 },
	};
	static const enum hatf_violation want[] = {
		0,
		0,
		HATF_VIOLATION_PAIRING, /* realloc of 32 */
		HATF_VIOLATION_PAIRING, /* ... of 48 */
		HATF_VIOLATION_PAIRING, /* ... to 64 */
		HATF_VIOLATION_PAIRING, /* alloc 80 */
	};

	expect_of_ours(steps, COUNT(steps), want, COUNT(want));
}
END_TEST

START_TEST(the_heap_of_malloc_does_not_end)
{
	static const struct step steps[] = {
		{ .tag = 0, .size = 10, .address = 16 },
		{ .tag = 7, .heap = 0 },
	};
	static const enum hatf_violation want[] = {
		0,
		HATF_VIOLATION_HEAP,
	};

	expect_of_ours(steps, COUNT(steps), want, COUNT(want));
}
END_TEST

START_TEST(a_part_that_the_end_cuts_off_is_counted)
{
	static const struct step steps[] = {
		{ .tag = 4, .size = 10, .address = 16 },
	};
	static const struct step foreign[] = {
		{ .tag = 0, .size = 10, .address = 16 },
		{ .tag = 3, .size = 10, .address = 32, .old_address = 16 },
		{ .tag = 0, .size = 10, .address = 32 },
	};

	/* This trace of ours has no trailer, so its end proves nothing. */
	ck_assert_uint_eq(RUN(OURS, steps).stats.violation_count, 0);
	ck_assert_uint_eq(RUN(FOREIGN, steps).stats.violation_count, 0);
	ck_assert_uint_eq(RUN(FOREIGN, foreign).stats.violation_count, 1);
}
END_TEST

START_TEST(each_wrong_use_of_a_block_is_told_once)
{
	static const struct step steps[] = {
		{ .tag = 0, .size = 10, .address = 16 },
		{ .tag = 0, .size = 20, .address = 16 }, /* over a live block */
		{ .tag = 1, .address = 16 },
		{ .tag = 1, .address = 16 }, /* double free */
		{ .tag = 2, .size = 5, .address = 32, .old_address = 32 },
		/* the trace has known the block since its realloc */
		{ .tag = 1, .address = 32 },
		{ .tag = 2, .size = 5, .address = 0, .old_address = 48 },
		{ .tag = 0, .size = 1, .address = 64 },
		{ .tag = 0, .size = 1, .address = 80 },
		{ .tag = 3, .size = 9, .address = 80, .old_address = 64 },
		{ .tag = 0, .size = 9, .address = 80 },
		{ .tag = 1, .address = 64 },
		/* failed call: no violation */
		{ .tag = 0, .size = 3, .address = 0 },
	};
	static const enum hatf_violation want[] = {
		0,
		HATF_VIOLATION_ALLOC_LIVE,
		0,
		HATF_VIOLATION_FREE_UNKNOWN,
		HATF_VIOLATION_REALLOC_UNKNOWN,
		0,
		HATF_VIOLATION_REALLOC_UNKNOWN,
		0,
		0,
		HATF_VIOLATION_ALLOC_LIVE,
		0,
	};
	const struct outcome o = RUN(OURS, steps);

	expect(&o, COUNT(want), want);
	ck_assert_uint_eq(o.event[2].object, 2);
	ck_assert_uint_eq(o.event[10].object, 0);
	ck_assert_uint_eq(o.stats.live_count, 1);
	ck_assert_uint_eq(o.stats.live_nbytes, 9);
	ck_assert_uint_eq(o.stats.peak_live_nbytes, 20);
}
END_TEST

START_TEST(time_must_not_go_back)
{
	static const struct step steps[] = {
		{ .tag = 0, .time = 5, .size = 1, .address = 16 },
		{ .tag = 1, .time = 4, .address = 16 },
		{ .tag = 0, .time = 4, .size = 1, .address = 16 },
		{ .tag = 4, .time = 6, .size = 1, .address = 32 },
		{ .tag = 0, .time = 5, .size = 1, .address = 32 },
		{ .tag = 1, .time = 6, .address = 32 },
	};
	static const enum hatf_violation want[] = {
		0, HATF_VIOLATION_TIME, 0, 0, HATF_VIOLATION_TIME,
	};
	const struct outcome o = RUN(OURS, steps);

	expect(&o, COUNT(want), want);
	ck_assert_uint_eq(o.stats.first_time, 5);
	ck_assert_uint_eq(o.stats.last_time, 6);
}
END_TEST

static const struct step thread_steps[] = {
	{ .tag = 0, .thread = 0, .size = 1, .address = 16 },
	{ .tag = 8, .thread = 1 },
	{ .tag = 0, .thread = 1, .size = 1, .address = 32 },
	{ .tag = 9, .thread = 1 },
	{ .tag = 1, .thread = 1, .address = 32 }, /* after the thread's end */
	{ .tag = 9, .thread = 1 },
	{ .tag = 8, .thread = 1 },		  /* created again */
	{ .tag = 1, .thread = 2, .address = 16 }, /* never created */
	{ .tag = 8, .thread = 0 },
	{ .tag = 9, .thread = 3 },
	{ .tag = 8, .thread = 1 }, /* while the thread lives */
};

START_TEST(our_threads_are_created_used_and_destroyed_in_that_order)
{
	static const enum hatf_violation bad = HATF_VIOLATION_THREAD;
	static const enum hatf_violation want[] = { 0,	 0,   0,   0,	bad, 0,
						    bad, bad, bad, bad, bad };
	const struct outcome o = RUN(OURS, thread_steps);

	expect(&o, COUNT(want), want);
	ck_assert_int_eq(o.event[1].kind, HATF_EVENT_THREAD_CREATE);
	ck_assert_int_eq(o.event[3].kind, HATF_EVENT_THREAD_DESTROY);
	ck_assert_uint_eq(o.stats.thread_count, 4);
	ck_assert_uint_eq(o.stats.event_count, 4);
}
END_TEST

START_TEST(foreign_threads_need_no_creation)
{
	static const enum hatf_violation bad = HATF_VIOLATION_THREAD;
	static const enum hatf_violation want[] = { 0, 0, 0, 0, bad, 0,
						    0, 0, 0, 0, bad };
	const struct outcome o = RUN(FOREIGN, thread_steps);

	expect(&o, COUNT(want), want);
	ck_assert_uint_eq(o.stats.thread_count, 4);
}
END_TEST

static const struct step heap_steps[] = {
	{ .tag = 0, .size = 100, .address = 16 },
	{ .tag = 6, .heap = 1 },
	/*
	 * A block of a heap at the address of the block that contains the heap.
	 */
	{ .tag = 0, .heap = 1, .size = 10, .address = 16 },
	{ .tag = 0, .heap = 1, .size = 10, .address = 32 },
	{ .tag = 1, .heap = 1, .address = 16 },
	{ .tag = 7, .heap = 1 }, /* frees all blocks in it */
	{ .tag = 1, .address = 16 },
	/* heap not created */
	{ .tag = 0, .heap = 2, .size = 1, .address = 48 },
	{ .tag = 7, .heap = 2 },
	{ .tag = 7, .heap = 2 },
};

START_TEST(heaps_have_blocks_of_their_own)
{
	static const enum hatf_violation bad = HATF_VIOLATION_HEAP;
	static const enum hatf_violation want[] = { 0, 0, 0,   0, 0,
						    0, 0, bad, 0, bad };
	const struct outcome o = RUN(OURS, heap_steps);

	expect(&o, COUNT(want), want);
	ck_assert_uint_eq(o.event[6].old_size, 100);
	ck_assert_uint_eq(o.stats.live_count, 0);
	ck_assert_uint_eq(o.stats.live_nbytes, 0);
	ck_assert_uint_eq(o.stats.peak_live_count, 3);
}
END_TEST

START_TEST(foreign_and_inherited_heaps_need_no_creation)
{
	static const enum hatf_violation want[MAX] = {
		[9] = HATF_VIOLATION_HEAP,
	};
	const struct outcome foreign = RUN(FOREIGN, heap_steps);
	/* The heaps of a child may come from its parent. */
	const struct outcome child = RUN(CHILD, heap_steps);

	expect(&foreign, 10, want);
	expect(&child, 10, want);
}
END_TEST

START_TEST(there_may_be_many_heaps)
{
	struct step steps[MAX];
	struct outcome o;

	for (unsigned i = 0; i < MAX; i++)
		steps[i] = (struct step){
			.tag = i % 2 ? HATF_ALLOC : HATF_CREATE_HEAP,
			.heap = i / 2 + 1,
			.size = i,
			.address = 16,
		};
	o = run(OURS, steps, MAX);
	expect(&o, MAX, none);
	ck_assert_uint_eq(o.stats.live_count, MAX / 2);
}
END_TEST

START_TEST(a_forked_child_may_free_what_its_parent_made)
{
	static const struct step steps[] = {
		{ .tag = 1, .address = 16 },
		{ .tag = 1, .address = 16 }, /* only once */
		{ .tag = 0, .size = 1, .address = 32 },
		{ .tag = 1, .address = 32 },
		{ .tag = 1, .address = 32 }, /* allocated by this trace */
		/*
		 * the call fails, so the block is still inherited; then it
		 * moves
		 */
		{ .tag = 2, .size = 9, .old_address = 48 },
		{ .tag = 3, .size = 9, .address = 64, .old_address = 48 },
		{ .tag = 0, .size = 9, .address = 64 },
		{ .tag = 1, .address = 48 },
		{ .tag = 2, .size = 7, .address = 80, .old_address = 80 },
		{ .tag = 1, .address = 80 },
		{ .tag = 1, .address = 80 },
	};
	static const enum hatf_violation want[] = {
		0,
		HATF_VIOLATION_FREE_UNKNOWN,
		0,
		0,
		HATF_VIOLATION_FREE_UNKNOWN,
		0,
		0,
		0,
		0,
		HATF_VIOLATION_FREE_UNKNOWN,
	};
	const struct outcome o = RUN(CHILD, steps);

	expect(&o, COUNT(want), want);
	ck_assert(o.event[0].inherited);
	ck_assert(!o.event[1].inherited);
	ck_assert(!o.event[3].inherited);
	ck_assert(o.event[5].inherited && o.event[6].inherited);
	ck_assert_uint_eq(o.event[6].object, 2);
	ck_assert_uint_eq(o.event[8].old_size, 7);
	ck_assert_uint_eq(o.stats.inherited_count, 4);
	ck_assert_uint_eq(o.stats.live_count, 1);
	/* In the trace of a process without a parent, they are violations. */
	ck_assert_int_eq(RUN(OURS, steps).event[0].violation,
			 HATF_VIOLATION_FREE_UNKNOWN);
	ck_assert_int_eq(RUN(FOREIGN, steps).event[0].violation,
			 HATF_VIOLATION_FREE_UNKNOWN);
}
END_TEST

START_TEST(free_of_null_is_nothing_in_a_foreign_trace)
{
	static const struct step steps[] = { { .tag = 1, .address = 0 } };

	ck_assert_uint_eq(RUN(FOREIGN, steps).stats.violation_count, 0);
	ck_assert_uint_eq(RUN(OURS, steps).stats.violation_count, 1);
	ck_assert_uint_eq(RUN(CHILD, steps).stats.violation_count, 1);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		objects_have_ids_and_lifetimes,
		every_kind_of_realloc_is_one_event,
		a_foreign_realloc_may_come_alone,
		a_realloc_that_announces_no_free_leaves_the_old_block,
		a_realloc_without_its_alloc_moves_the_block,
		a_foreign_realloc_has_all_its_parts_or_none,
		our_realloc_must_be_followed_by_its_parts,
		our_parts_have_the_order_time_and_heap_of_their_realloc,
		the_heap_of_malloc_does_not_end,
		a_part_that_the_end_cuts_off_is_counted,
		each_wrong_use_of_a_block_is_told_once,
		time_must_not_go_back,
		our_threads_are_created_used_and_destroyed_in_that_order,
		foreign_threads_need_no_creation,
		heaps_have_blocks_of_their_own,
		foreign_and_inherited_heaps_need_no_creation,
		there_may_be_many_heaps,
		a_forked_child_may_free_what_its_parent_made,
		free_of_null_is_nothing_in_a_foreign_trace,
	};

	return hand_run("events", tests, COUNT(tests));
}
