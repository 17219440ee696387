/* SPDX-License-Identifier: MIT */
/*
 * test_order.c - the events of several rings become one causal sequence
 *
 * Small cases with hand-made stamps test each rule of order.h;
 * test_order_schedules.c tests all of them together.
 */
#include "tests/unit/support/checks.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/record/ring_wait.h"
#include "tests/unit/support/order_rings.h"

/* The events that the sink got, as text: "A1:100 F0:200 R1:100>300". */
static char out[1u << 16];

static void
note(void *context, const struct order_producer *s, const struct event *ev)
{
	char *const end = out + strlen(out);
	const size_t left = sizeof(out) - strlen(out);

	(void)context;
	if (ev->type == EVENT_ALLOC)
		snprintf(end, left, "A%u:%u ", (unsigned)s->id,
			 (unsigned)ev->operand[0]);
	else if (ev->type == EVENT_FREE)
		snprintf(end, left, "F%u:%u ", (unsigned)s->id,
			 (unsigned)ev->operand[0]);
	else if (ev->type == EVENT_REALLOC_END)
		snprintf(end, left, "R%u:%u>%u ", (unsigned)s->id,
			 (unsigned)ev->operand[0], (unsigned)ev->operand[1]);
	else if (ev->type == EVENT_REALLOC_BEGIN)
		snprintf(end, left, "M%u:%u>%u@%u ", (unsigned)s->id,
			 (unsigned)ev->operand[0], (unsigned)ev->operand[1],
			 (unsigned)ev->operand[2]);
	else if (ev->type == EVENT_FORK)
		snprintf(end, left, "%c%u:%u ", ev->flags != 0 ? 'K' : 'k',
			 (unsigned)s->id, (unsigned)ev->operand[0]);
	else if (ev->type == EVENT_HEAP_ALLOC)
		snprintf(end, left, "A%u:%u@%u ", (unsigned)s->id,
			 (unsigned)ev->operand[0], (unsigned)ev->operand[2]);
	else if (ev->type == EVENT_HEAP_FREE)
		snprintf(end, left, "F%u:%u@%u ", (unsigned)s->id,
			 (unsigned)ev->operand[0], (unsigned)ev->operand[1]);
	else if (ev->type == EVENT_HEAP_REALLOC)
		snprintf(end, left, "R%u:%u>%u@%u ", (unsigned)s->id,
			 (unsigned)ev->operand[0], (unsigned)ev->operand[1],
			 (unsigned)ev->operand[3]);
	else if (ev->type == EVENT_HANDOVER)
		snprintf(end, left, "H%u:%u ", (unsigned)s->id,
			 (unsigned)ev->operand[0]);
	else
		snprintf(end, left, "?%u ", (unsigned)ev->type);
}

static void
put_fork(unsigned id, uint64_t stamp, uint64_t ticket, unsigned flags)
{
	put(id, 3,
	    (uint64_t[]){ event_wide(EVENT_FORK, 3, flags), stamp, ticket });
}

/* Put a wide event of heap 7. */
static void
put_pool_alloc(unsigned id, uint64_t stamp, uint64_t address)
{
	put(id, 6,
	    (uint64_t[]){ event_wide(EVENT_HEAP_ALLOC, 6, 0), stamp, address, 8,
			  7, 0 });
}

static void
put_pool_begin(unsigned id, uint64_t stamp, uint64_t old)
{
	put(id, 4,
	    (uint64_t[]){ event_wide(EVENT_HEAP_REALLOC_BEGIN, 4, 0), stamp,
			  old, 7 });
}

static void
put_pool_end(unsigned id, uint64_t stamp, uint64_t old, uint64_t new)
{
	put(id, 6,
	    (uint64_t[]){ event_wide(EVENT_HEAP_REALLOC_END, 6, 0), stamp, old,
			  new, 64, 7 });
}

/* The same in one word, without a stamp; put an EVENT_TICK before. */
static void
put_begin_word(unsigned id, uint64_t tick, uint64_t old)
{
	put(id, 3,
	    (uint64_t[]){ event_wide(EVENT_TICK, 2, 0), tick,
			  old | EVENT_KIND_REALLOC });
}

static void
put_end_word(unsigned id, uint64_t tick, uint64_t new)
{
	put(id, 3,
	    (uint64_t[]){ event_wide(EVENT_TICK, 2, 0), tick,
			  64ull << EVENT_SIZE_SHIFT | EVENT_REALLOC_IS_END |
				  new | EVENT_KIND_REALLOC });
}

static void
set_up_noting(void)
{
	set_up(note);
	out[0] = '\0';
}

START_TEST(test_merges_by_stamp)
{
	set_up_noting();
	put_alloc(1, 10, 16);
	put_alloc(0, 5, 8);
	put_free(1, 20, 16);
	put_free(0, 15, 8);
	put_alloc(2, 17, 8);
	run(100);
	ck_assert_str_eq(out, "A0:8 A1:16 F0:8 A2:8 F1:16 ");
	ck_assert_uint_eq(order.event_count, 5);
}
END_TEST

START_TEST(test_later_stamps_wait)
{
	set_up_noting();
	put_alloc(0, 5, 8);
	put_alloc(0, 15, 16);
	put_alloc(1, 10, 24);
	run(10);
	ck_assert_str_eq(out, "A0:8 A1:24 ");
	run(20);
	ck_assert_str_eq(out, "A0:8 A1:24 A0:16 ");
}
END_TEST

START_TEST(test_a_ring_is_handed_over)
{
	set_up_noting();
	put_alloc(1, 10, 16);
	put(1, 3, (uint64_t[]){ event_wide(EVENT_HANDOVER, 3, 0), 20, 3 });
	put_free(1, 30, 16);
	put_free(0, 25, 8);
	/* End the round between the events of the two threads. */
	run(15);
	ck_assert_str_eq(out, "A1:16 ");
	ck_assert_uint_eq(threads[1].producer.id, 1);
	run(100);
	ck_assert_str_eq(out, "A1:16 H1:3 F0:8 F3:16 ");
	ck_assert_uint_eq(threads[1].producer.id, 3);
}
END_TEST

START_TEST(test_a_tick_stamps_the_events_after_it)
{
	set_up_noting();
	put(0, 2, (uint64_t[]){ event_wide(EVENT_TICK, 2, 0), 50 });
	put(0, 1, (uint64_t[]){ 8ull << EVENT_SIZE_SHIFT | 8 });
	put_alloc(1, 40, 16);
	put_alloc(1, 60, 24);
	run(100);
	ck_assert_str_eq(out, "A1:16 A0:8 A1:24 ");
}
END_TEST

/* Append the address of the event, and "b" if its tick is brief. */
static void
note_brief(void *context, const struct order_producer *s,
	   const struct event *ev)
{
	const size_t used = strlen(out);

	(void)context;
	ck_assert(ev->by_tick || !ev->by_brief_tick);
	ck_assert(ev->by_brief_tick == order_is_brief(s, ev->stamp) ||
		  !ev->by_tick);
	snprintf(out + used, sizeof(out) - used, "%u%s ",
		 (unsigned)ev->operand[0], ev->by_brief_tick ? "b" : "");
}

/* A tick is brief for the events with its stamp, up to the next tick. */
START_TEST(test_brief_ticks)
{
	set_up(note_brief);
	out[0] = '\0';
	put(0, 2,
	    (uint64_t[]){ event_wide(EVENT_TICK, 2, EVENT_FLAG_BRIEF), 50 });
	put(0, 2, (uint64_t[]){ 8, 16 });
	put_alloc(0, 60, 24);
	put(0, 1, (uint64_t[]){ 32 });
	put(0, 2,
	    (uint64_t[]){ event_wide(EVENT_TICK, 2, EVENT_FLAG_BRIEF), 70 });
	put(0, 1, (uint64_t[]){ 40 });
	put(0, 2, (uint64_t[]){ event_wide(EVENT_TICK, 2, 0), 80 });
	put(0, 1, (uint64_t[]){ 48 });
	run(100);
	ck_assert_str_eq(out, "8b 16b 24 32 40b 48 ");
}
END_TEST

/* Append a word of a run: "a1:8", and "+5" if it has the stack 5. */
static void
note_word(const struct order_producer *producer, uint64_t word, uint32_t stack)
{
	const size_t used = strlen(out);
	char text[16] = "";

	if (stack != 0)
		snprintf(text, sizeof(text), "+%u", (unsigned)stack);
	snprintf(out + used, sizeof(out) - used, "%c%u:%u%s ",
		 (word & EVENT_KIND_MASK) == EVENT_KIND_FREE ? 'f' : 'a',
		 (unsigned)producer->id, (unsigned)(word & 0xffffffff) & ~7u,
		 text);
}

/* Append up to two events of a run with stamps: "f1:8@70". */
static size_t
note_stamped_run(const struct order_producer *producer, struct order_run *run)
{
	size_t i;

	for (i = 0; i < run->count && run->events_taken < 2; i += 2) {
		const uint64_t word = run->words[i];
		const size_t used = strlen(out);

		snprintf(out + used, sizeof(out) - used, "%c%u:%u@%u ",
			 (word & EVENT_KIND_MASK) == EVENT_KIND_FREE_STAMPED
				 ? 'f'
				 : 'a',
			 (unsigned)producer->id,
			 (unsigned)(word & 0xffffffff) & ~7u,
			 (unsigned)run->words[i + 1]);
		run->events_taken++;
	}
	return i;
}

/* A run sink that alternately takes two events and none. */
static size_t
note_run(void *context, const struct order_producer *producer,
	 struct order_run *run)
{
	static unsigned calls;
	size_t i;

	(void)context;
	ck_assert_uint_eq(run->stamp, producer->stamp);
	if (++calls % 2 == 0)
		return 0;
	if (run->is_stamped)
		return note_stamped_run(producer, run);
	for (i = 0; i < run->count && run->events_taken < 2; i++) {
		if (event_is_stack(run->words[i])) {
			run->stack = event_stack_of(run->words[i]);
			continue;
		}
		note_word(producer, run->words[i], run->stack);
		run->events_taken++;
	}
	return i;
}

/* A run sink gets events without a stamp in the same order as a sink. */
START_TEST(test_runs)
{
	static const char *const want =
		"A1:80 A0:8 a0:16 a0:24 F0:8 f0:16 a0:32 R0:32>40 A1:88 F0:24 ";
	uint64_t tick = 0;

	set_up_noting();
	order.run_sink = note_run;
	/* Let the run wrap around the end of the ring. */
	while (threads[0].head < WORDS - 6)
		put(0, 2, (uint64_t[]){ event_wide(EVENT_TICK, 2, 0), ++tick });
	run(tick);
	ring_wait_release(threads[0].ring, threads[0].producer.pos);
	put(0, 2, (uint64_t[]){ event_wide(EVENT_TICK, 2, 0), 5000 });
	put(0, 6,
	    (uint64_t[]){ 8, 16, 24, 8 | EVENT_KIND_FREE, 16 | EVENT_KIND_FREE,
			  32 });
	put_begin(0, 5000, 32);
	put_end(0, 5000, 32, 40);
	put(0, 2, (uint64_t[]){ event_wide(EVENT_TICK, 2, 0), 7000 });
	put(0, 1, (uint64_t[]){ 24 | EVENT_KIND_FREE });
	put_alloc(1, 4000, 80);
	put_alloc(1, 6000, 88);
	run(10000);
	ck_assert_str_eq(out, want);
	ck_assert_uint_eq(order.event_count, 10);
	ck_assert_uint_eq(threads[0].producer.pos, threads[0].head);
}
END_TEST

/*
 * A run of events with stamps ends before the next stamp of another thread, and
 * before a stamp that is smaller than the one before it.
 */
START_TEST(test_runs_with_stamps)
{
	static const char *const want =
		"A0:8 A1:24 A0:16 F0:8 F1:24 A0:32 a0:40@50 a0:48@60 F0:40 "
		"A1:64 A0:56 ";

	set_up_noting();
	order.run_sink = note_run;
	put(0, 16,
	    (uint64_t[]){ 8 | EVENT_KIND_ALLOC_STAMPED, 10,
			  16 | EVENT_KIND_ALLOC_STAMPED, 20,
			  8 | EVENT_KIND_FREE_STAMPED, 15,
			  32 | EVENT_KIND_ALLOC_STAMPED, 40,
			  40 | EVENT_KIND_ALLOC_STAMPED, 50,
			  48 | EVENT_KIND_ALLOC_STAMPED, 60,
			  40 | EVENT_KIND_FREE_STAMPED, 60,
			  56 | EVENT_KIND_ALLOC_STAMPED, 70 });
	put(1, 6,
	    (uint64_t[]){ 24 | EVENT_KIND_ALLOC_STAMPED, 17,
			  24 | EVENT_KIND_FREE_STAMPED, 30,
			  64 | EVENT_KIND_ALLOC_STAMPED, 65 });
	run(100);
	ck_assert_str_eq(out, want);
	ck_assert_uint_eq(order.event_count, 11);
	ck_assert_uint_eq(threads[0].producer.stamp, 70);
	/* A round ends with its last stamp, in a run, too. */
	put(0, 6,
	    (uint64_t[]){ 72 | EVENT_KIND_ALLOC_STAMPED, 110,
			  80 | EVENT_KIND_ALLOC_STAMPED, 120,
			  88 | EVENT_KIND_ALLOC_STAMPED, 130 });
	out[0] = '\0';
	run(120);
	ck_assert_str_eq(out, "A0:72 a0:80@120 ");
	ck_assert_uint_eq(threads[0].producer.stamp, 120);
	run(130);
	ck_assert_str_eq(out, "A0:72 a0:80@120 A0:88 ");
}
END_TEST

/* Stacks change inside a run, between runs and before the first one. */
START_TEST(test_runs_with_stacks)
{
	set_up_noting();
	order.run_sink = note_run;
	put(0, 2, (uint64_t[]){ event_wide(EVENT_TICK, 2, 0), 50 });
	put(0, 9,
	    (uint64_t[]){ event_stack(5), 8, 16, event_stack(6),
			  8 | EVENT_KIND_FREE, event_stack(7), 24, 32,
			  event_stack(8) });
	put(0, 1, (uint64_t[]){ 40 });
	run(100);
	ck_assert_str_eq(out, "A0:8 a0:16+5 f0:8+6 A0:24 a0:32+7 a0:40+8 ");
	ck_assert_uint_eq(order.event_count, 6);
	ck_assert_uint_eq(threads[0].producer.stack, 8);
}
END_TEST

START_TEST(test_begin_without_end_stops_all)
{
	set_up_noting();
	put_alloc(0, 1, 8);
	put_begin(0, 10, 8);
	put_alloc(1, 5, 16);
	put_alloc(1, 20, 24);
	run(100);
	ck_assert_str_eq(out, "A0:8 A1:16 ");
	ck_assert_ptr_eq(order.blocked, list[0]);
	put_end(0, 30, 8, 32);
	run(100);
	ck_assert_str_eq(out, "A0:8 A1:16 A1:24 R0:8>32 ");
	ck_assert_ptr_null(order.blocked);
}
END_TEST

/* A realloc of two words: its end has the old block of its begin. */
START_TEST(test_reallocs_in_words)
{
	set_up_noting();
	put_begin_word(0, 10, 8);
	put_begin(1, 11, 24);
	put_alloc(2, 5, 48);
	run(100);
	ck_assert_str_eq(out, "A2:48 ");
	ck_assert_ptr_eq(order.blocked, list[0]);
	put_end_word(0, 40, 16);
	put_end(1, 30, 24, 8); /* gets the old block of thread 0 */
	put_begin_word(0, 50, 16);
	put_end_word(0, 51, 16);
	put_begin_word(0, 52, 16);
	put_end(0, 53, 16, 32);
	run(100);
	ck_assert_str_eq(out, "A2:48 R0:8>16 R1:24>8 R0:16>16 R0:16>32 ");
	ck_assert_uint_eq(order.event_count, 4);
}
END_TEST

START_TEST(test_realloc_precedes_reuse_of_its_old_block)
{
	set_up_noting();
	put_begin(0, 10, 8);
	put_end(0, 30, 8, 32);
	put_free(1, 15, 32); /* the new block of the realloc */
	put_alloc(1, 20, 8); /* the old block of the realloc */
	run(100);
	ck_assert_str_eq(out, "F1:32 R0:8>32 A1:8 ");
}
END_TEST

/* The size of an old block, and an address in the bytes that its code adds. */
#define BIG	  141900u
#define BEHIND(p) ((p) + 141904u)

/* The begin event of a realloc of a block at 'old' that has BIG bytes. */
static void
put_big_begin(uint64_t stamp, uint64_t old)
{
	put(0, 3,
	    (uint64_t[]){
		    event_wide(EVENT_REALLOC_BEGIN, 3, event_size_code(BIG)),
		    stamp, old });
}

/* The end event of a realloc, with the size that the block has now. */
static void
put_big_end(uint64_t stamp, uint64_t old, uint64_t new, uint64_t size)
{
	put(0, 5,
	    (uint64_t[]){ event_wide(EVENT_REALLOC_END, 5, 0), stamp, old, new,
			  size });
}

/*
 * Another thread gets a block right behind the old block.  This is no conflict,
 * although the size code of the old block covers the first bytes of that block.
 */
START_TEST(test_reallocs_do_not_conflict_with_neighbours)
{
	/* The old block grows over the neighbour, which is free by then. */
	set_up_noting();
	put_big_begin(10, 80);
	put_alloc(1, 20, BEHIND(80));
	put_free(1, 25, BEHIND(80));
	put_big_end(30, 80, 80, 2 * BIG);
	run(100);
	ck_assert_str_eq(out, "A1:141984 F1:141984 R0:80>80 ");
	/* The block moves to memory that becomes free after the neighbour. */
	set_up_noting();
	put_alloc(1, 5, 8);
	put_big_begin(10, 80);
	put_alloc(1, 20, BEHIND(80));
	put_free(1, 25, 8);
	put_big_end(30, 80, 8, 64);
	run(100);
	ck_assert_str_eq(out, "A1:8 F0:80 A1:141984 F1:8 A0:8 ");
	/* A certain conflict: the other thread gets a part of the old block. */
	set_up_noting();
	put_big_begin(10, 80);
	put_alloc(1, 20, 141896);
	put_big_end(30, 80, 8, 64);
	run(100);
	ck_assert_str_eq(out, "R0:80>8 A1:141896 ");
}
END_TEST

START_TEST(test_reallocs_hand_on_in_a_chain)
{
	set_up_noting();
	put_begin(0, 10, 8);
	put_end(0, 40, 8, 16);
	put_begin(1, 11, 24);
	put_end(1, 30, 24, 8); /* gets the old block of thread 0 */
	put_begin(2, 12, 32);
	put_end(2, 20, 32, 24); /* gets the old block of thread 1 */
	run(100);
	ck_assert_str_eq(out, "R0:8>16 R1:24>8 R2:32>24 ");
}
END_TEST

#define CHAIN 4000

static unsigned chain_left;

/* Expect the reallocs of the chain in reverse order, then the allocation. */
static void
note_chain(void *context, const struct order_producer *s,
	   const struct event *ev)
{
	(void)context;
	if (chain_left == 0) {
		ck_assert_int_eq(ev->type, EVENT_ALLOC);
		return;
	}
	ck_assert_int_eq(ev->type, EVENT_REALLOC_END);
	ck_assert_uint_eq(ev->stamp, 10);
	ck_assert_uint_eq(s->id, --chain_left);
}

static struct ring *
make_ring(unsigned n, const uint64_t *words)
{
	struct ring *r = NULL;

	ck_assert_int_eq(
		posix_memalign((void **)&r, RING_HEADER_NBYTES, ring_nbytes(8)),
		0);
	r = ring_init(r, 8);
	for (unsigned i = 0; i < n; i++)
		ring_put(r, i, words[i]);
	ring_publish(r, n);
	return r;
}

static void *
run_chain(void *unused)
{
	static struct order_producer producers[CHAIN + 1];
	static struct order_producer *all[CHAIN + 1], *space[CHAIN + 1];

	(void)unused;
	for (unsigned i = 0; i <= CHAIN; i++) {
		const uint64_t old = (i + 1) * 16;

		all[i] = &producers[i];
		producers[i].id = i;
		producers[i].ring =
			i == CHAIN
				? make_ring(
					  2,
					  (uint64_t[]){
						  16 | EVENT_KIND_ALLOC_STAMPED,
						  10 })
				: make_ring(
					  8,
					  (uint64_t[]){
						  event_wide(
							  EVENT_REALLOC_BEGIN,
							  3, 0),
						  1, old,
						  event_wide(EVENT_REALLOC_END,
							     5, 0),
						  20, old, old + 16, 8 });
	}
	chain_left = CHAIN;
	order_init(&order, space, CHAIN + 1, note_chain, NULL);
	order_round(&order, all, CHAIN + 1, UINT64_MAX, false);
	ck_assert_uint_eq(order.event_count, CHAIN + 1);
	ck_assert_uint_eq(chain_left, 0);
	for (unsigned i = 0; i <= CHAIN; i++)
		free(producers[i].ring);
	return NULL;
}

/* A chain of CHAIN reallocs, on a stack smaller than the writer's. */
START_TEST(test_a_long_chain_needs_no_stack)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	ck_assert_int_eq(pthread_attr_setstacksize(&attr, 256 << 10), 0);
	ck_assert_int_eq(pthread_create(&thread, &attr, run_chain, NULL), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
}
END_TEST

START_TEST(test_force_passes_a_realloc_without_end)
{
	set_up_noting();
	put_begin(0, 10, 8);
	put_alloc(1, 20, 8);
	run(100);
	ck_assert_str_eq(out, "");
	order_round(&order, list, THREADS, 100, true);
	ck_assert_str_eq(out, "F0:8 A1:8 ");
	put_end(0, 110, 8, 48);
	run(200);
	ck_assert_str_eq(out, "F0:8 A1:8 A0:48 ");
	ck_assert_uint_eq(order.open_count, 0);
}
END_TEST

/* Heaps share the address space, so the rules hold across heaps. */
START_TEST(test_reallocs_in_other_heaps)
{
	set_up_noting();
	put_pool_begin(0, 10, 8);
	put_pool_end(0, 30, 8, 32);
	put_alloc(1, 20, 8); /* the old block of the realloc */
	run(100);
	ck_assert_str_eq(out, "R0:8>32@7 A1:8 ");

	set_up_noting();
	put_begin(0, 10, 8);
	put_end(0, 30, 8, 32);
	put_pool_alloc(1, 20, 8);
	run(100);
	ck_assert_str_eq(out, "R0:8>32 A1:8@7 ");

	/* A realloc of NULL. */
	set_up_noting();
	put_pool_begin(0, 10, 8);
	put_pool_end(0, 30, 8, 32);
	put(1, 6,
	    (uint64_t[]){ event_wide(EVENT_HEAP_REALLOC, 6, 0), 20, 0, 8, 64,
			  7 });
	run(100);
	ck_assert_str_eq(out, "R0:8>32@7 R1:0>8@7 ");

	set_up_noting();
	put_pool_begin(0, 10, 8);
	put_pool_alloc(1, 20, 8);
	run(100);
	ck_assert_str_eq(out, "");
	order_round(&order, list, THREADS, 100, true);
	ck_assert_str_eq(out, "F0:8@7 A1:8@7 ");
	put_pool_end(0, 110, 8, 48);
	run(200);
	ck_assert_str_eq(out, "F0:8@7 A1:8@7 A0:48@7 ");
	ck_assert_uint_eq(order.open_count, 0);
}
END_TEST

START_TEST(test_end_beyond_the_round_is_known_to_it)
{
	set_up_noting();
	put_begin(0, 10, 8);
	put_end(0, 50, 8, 32);
	put_alloc(1, 20, 8);
	run(30);
	ck_assert_str_eq(out, "R0:8>32 A1:8 ");
	run(100);
	ck_assert_str_eq(out, "R0:8>32 A1:8 ");
}
END_TEST

START_TEST(test_a_fork_reports_reallocs_in_progress)
{
	set_up_noting();
	put_fork(0, 10, 7, 0);
	put_begin(1, 11, 8); /* ends during the fork */
	put_end(1, 12, 8, 16);
	put_begin(2, 13, 24); /* is moved before the reuse of its block */
	put_end(2, 40, 24, 32);
	put_alloc(3, 14, 24);
	put_begin(1, 15, 16); /* is in progress when fork() returns */
	put_end(1, 30, 16, 48);
	put_fork(0, 20, 7, EVENT_FLAG_FORKED);
	put_begin(3, 25, 24); /* begins after the fork */
	put_end(3, 26, 24, 24);
	run(100);
	ck_assert_str_eq(out, "k0:7 R1:8>16 R2:24>32 A3:24 M1:16>48@7 K0:7 "
			      "R3:24>24 R1:16>48 ");
}
END_TEST

START_TEST(test_a_forced_fork_reports_a_realloc_without_end)
{
	set_up_noting();
	put_begin(1, 5, 8);
	put_begin(2, 6, 16);
	put_fork(0, 10, 1, 0);
	put_alloc(3, 15, 16); /* the free of thread 2 is passed on first */
	put_fork(0, 20, 1, EVENT_FLAG_FORKED);
	order_round(&order, list, THREADS, 100, true);
	ck_assert_str_eq(out, "k0:1 F2:16 A3:16 M1:8>0@1 K0:1 ");
	ck_assert_uint_eq(order.open_count, 2);
}
END_TEST

int
main(void)
{
	Suite *const s = suite_create("order");
	TCase *const tc = tcase_create("order");
	SRunner *const runner = srunner_create(s);

	tcase_add_test(tc, test_merges_by_stamp);
	tcase_add_test(tc, test_later_stamps_wait);
	tcase_add_test(tc, test_a_ring_is_handed_over);
	tcase_add_test(tc, test_a_tick_stamps_the_events_after_it);
	tcase_add_test(tc, test_brief_ticks);
	tcase_add_test(tc, test_runs);
	tcase_add_test(tc, test_runs_with_stamps);
	tcase_add_test(tc, test_runs_with_stacks);
	tcase_add_test(tc, test_begin_without_end_stops_all);
	tcase_add_test(tc, test_reallocs_in_words);
	tcase_add_test(tc, test_realloc_precedes_reuse_of_its_old_block);
	tcase_add_test(tc, test_reallocs_do_not_conflict_with_neighbours);
	tcase_add_test(tc, test_reallocs_hand_on_in_a_chain);
	tcase_add_test(tc, test_a_long_chain_needs_no_stack);
	tcase_add_test(tc, test_force_passes_a_realloc_without_end);
	tcase_add_test(tc, test_reallocs_in_other_heaps);
	tcase_add_test(tc, test_end_beyond_the_round_is_known_to_it);
	tcase_add_test(tc, test_a_fork_reports_reallocs_in_progress);
	tcase_add_test(tc, test_a_forced_fork_reports_a_realloc_without_end);
	suite_add_tcase(s, tc);
	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
