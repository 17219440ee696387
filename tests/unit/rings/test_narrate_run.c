/* SPDX-License-Identifier: MIT */
/*
 * test_narrate_run.c - a narrator makes the same records of runs and of events
 *
 * Three producers have random events, with stamps, with ticks, and with stamps
 * that decrease.  The events are narrated twice, one by one and in runs.  An
 * independent decoder (mini.h) reads the same records from both.
 */
#include "hatf/rings/narrate.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/hand.h"
#include "tests/unit/support/mini.h"

#define PRODUCERS  3u
#define EVENTS	   300u /* of each producer */
#define RING_WORDS 1024u

struct record {
	uint64_t size, address, thread, time;
	uint8_t tag;
};

static struct ring *rings[PRODUCERS];
static uint64_t last_stamp;
static struct record records[2][PRODUCERS * EVENTS];
static size_t counts[2];
static size_t run_events, stamped_events; /* taken in runs; with stamps */

/* Put the words into a ring, unless it has no room.  Return the new head. */
static uint64_t
put(struct ring *r, uint64_t head, uint64_t first, uint64_t second,
    unsigned count)
{
	ring_put(r, head, first);
	if (count == 2)
		ring_put(r, head + 1, second);
	return head + count;
}

/* Fill the ring with random events.  Stamps are up to 'last_stamp'. */
static void
fill(struct ring *r, uint64_t *seed)
{
	uint64_t head = 0, stamp = 1000;

	head = put(r, head, event_wide(EVENT_TICK, 2, 0), stamp, 2);
	for (unsigned i = 0; i < EVENTS; i++) {
		const uint64_t draw = mini_random(seed) >> 20;
		const uint64_t address = 0x7f0000000000 + (draw % 5000) * 16;
		const uint64_t word =
			draw >> 16 & 1 ? address | EVENT_KIND_FREE
				       : address | (draw >> 17 & 0xfff)
							   << EVENT_SIZE_SHIFT;

		/* The next stamp may be earlier or equal, or far away. */
		stamp += draw >> 30 & 63;
		stamp -= draw >> 37 & 15;
		stamp += (draw >> 41 & 31) == 0 ? 100000 : 0;
		if ((draw >> 12 & 7) == 0)
			head = put(r, head, event_wide(EVENT_TICK, 2, 0), stamp,
				   2);
		head = put(r, head, word + ((draw >> 13 & 3) != 0 ? 2 : 0),
			   stamp, (draw >> 13 & 3) != 0 ? 2 : 1);
		if (stamp > last_stamp)
			last_stamp = stamp;
	}
	ring_publish(r, head);
}

static size_t
take_run(void *context, const struct order_producer *producer,
	 struct order_run *run)
{
	const struct narrator *const n = context;
	const size_t taken = narrate_run(context, producer, run);

	/* Before a later stamp, the caller must read the clock. */
	if (run->is_stamped && taken != 0)
		ck_assert_uint_le(run->words[taken - 1], n->timeline.stamp1);
	run_events += run->events_taken;
	if (run->is_stamped)
		stamped_events += run->events_taken;
	return taken;
}

/* Narrate all rings, and decode the records into records[runs]. */
static void
narrate(bool runs, bool is_fast, uint32_t unit_ns)
{
	static struct narrator narrator;
	void *const memory = malloc(narrate_memory_nbytes(false));
	struct order_producer producers[PRODUCERS] = { { .id = 0 } };
	struct order_producer *list[PRODUCERS], *queue[PRODUCERS];
	struct order order;
	struct hatf_record r;
	struct mini m;

	narrate_init(&narrator, memory, false);
	narrator.unit_ns = unit_ns;
	encoder_set_fast(&narrator.encoder, is_fast);
	narrate_start_clock(&narrator, 0, 0);
	narrate_read_clock(&narrator, last_stamp - 50, last_stamp / 2);
	order_init(&order, queue, PRODUCERS, narrate_event, &narrator);
	order.run_sink = runs ? take_run : NULL;
	for (unsigned i = 0; i < PRODUCERS; i++) {
		producers[i].id = i;
		producers[i].ring = rings[i];
		list[i] = &producers[i];
	}
	/* Two rounds, of which the first ends between the events. */
	order_round(&order, list, PRODUCERS, last_stamp / 2, false);
	order_round(&order, list, PRODUCERS, UINT64_MAX, false);
	encoder_end(&narrator.encoder);
	counts[runs] = 0;
	mini_init(&m, narrator.encoder.buf, narrator.encoder.used);
	m.has_header = true;
	while (mini_read(&m, &r))
		if (r.tag <= HATF_FREE)
			records[runs][counts[runs]++] =
				(struct record){ r.size, r.address, r.thread,
						 r.time, r.tag };
	free(memory);
}

static void
check_same(void)
{
	ck_assert_uint_eq(counts[0], PRODUCERS * EVENTS);
	ck_assert_uint_eq(counts[1], PRODUCERS * EVENTS);
	for (size_t i = 0; i < counts[0]; i++) {
		const struct record *const a = &records[0][i];
		const struct record *const b = &records[1][i];

		ck_assert_uint_eq(a->tag, b->tag);
		ck_assert_uint_eq(a->address, b->address);
		ck_assert_uint_eq(a->size, b->size);
		ck_assert_uint_eq(a->thread, b->thread);
		ck_assert_uint_eq(a->time, b->time);
	}
}

START_TEST(runs_give_the_same_records)
{
	static const uint32_t units[] = { 0, 1, 1000 };
	uint64_t seed = 88172645463325252u;

	for (unsigned round = 0; round < 60; round++) {
		last_stamp = 0;
		for (unsigned i = 0; i < PRODUCERS; i++) {
			memset(rings[i], 0, ring_nbytes(RING_WORDS));
			ring_init(rings[i], RING_WORDS);
			fill(rings[i], &seed);
		}
		for (unsigned is_fast = 0; is_fast < 2; is_fast++) {
			narrate(false, is_fast, units[round % 3]);
			narrate(true, is_fast, units[round % 3]);
			check_same();
		}
	}
	/* The runs were not only of one sort. */
	ck_assert_uint_gt(stamped_events, 1000);
	ck_assert_uint_gt(run_events - stamped_events, 1000);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { runs_give_the_same_records };

	for (unsigned i = 0; i < PRODUCERS; i++)
		rings[i] = aligned_alloc(RING_HEADER_NBYTES,
					 ring_nbytes(RING_WORDS));
	return hand_run("narrate_run", tests, 1);
}
