/* SPDX-License-Identifier: MIT */
/*
 * test_narrate_time.c - no event is later than its stamp, however old it is
 *
 * The clock and the counter run evenly.  A reading takes the clock first, and
 * the counter some time later.
 */
#include "hatf/rings/narrate.h"

#include <stdlib.h>

#include "hatf/rings/narrate_time.h"
#include "tests/unit/support/hand.h"

#define START_NS 123456789u
#define GAP_NS	 100u

static struct narrator narrator;
static void *memory;
static uint64_t seed;

static uint64_t
draw(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

/* The counter runs at 3 GHz. */
static uint64_t
stamp_at(uint64_t ns)
{
	return 7777777 + (ns - START_NS) * 3;
}

static void
read_clocks(uint64_t ns, uint64_t gap_ns)
{
	narrate_read_clock(&narrator, stamp_at(ns + gap_ns), ns);
}

/* Check the time of a stamp that was taken at 'ns'. */
static void
check_time(uint64_t ns)
{
	const uint64_t got =
		START_NS + narrate_time_at(&narrator, stamp_at(ns));

	ck_assert_uint_le(got, ns);
	ck_assert_uint_le(ns, got + 2 * (uint64_t)GAP_NS);
}

static void
start(void)
{
	free(memory);
	memory = malloc(narrate_memory_nbytes(false));
	ck_assert_ptr_nonnull(memory);
	narrate_init(&narrator, memory, false);
	narrate_start_clock(&narrator, stamp_at(START_NS + GAP_NS / 2),
			    START_NS);
}

/*
 * A process makes its writer late.  The writer reads the clocks several times
 * before it takes the first events.
 */
START_TEST(a_writer_begins_late)
{
	for (uint64_t pause = 1000000; pause < 5000000000; pause *= 3) {
		uint64_t ns = START_NS + pause;

		start();
		read_clocks(ns, GAP_NS / 2);
		read_clocks(ns + 20000, GAP_NS);
		read_clocks(ns + 50000, GAP_NS);
		for (uint64_t i = 0; i <= 100; i++)
			check_time(START_NS + GAP_NS + pause / 100 * i);
	}
}
END_TEST

/* Events of the last 100 ms, and of the last pause, are still to come. */
START_TEST(pauses)
{
	for (seed = 0; seed < 20; seed++) {
		uint64_t ns = START_NS, last_pause = START_NS;

		start();
		for (unsigned i = 0; i < 2000; i++) {
			if (draw(100) == 0) {
				last_pause = ns;
				ns += draw(2000000000);
			} else {
				ns += GAP_NS + draw(2000000);
			}
			read_clocks(ns, draw(GAP_NS));
			if (ns - last_pause > 100000000)
				last_pause = ns - 100000000;
			for (unsigned k = 0; k < 10; k++)
				check_time(last_pause + GAP_NS +
					   draw(ns - last_pause + 1));
		}
	}
}
END_TEST

/* Recovery has a single line.  Events can be older than its older point. */
START_TEST(recovery)
{
	struct timeline line;

	start();
	for (uint64_t ms = 100; ms <= 300; ms += 100)
		read_clocks(START_NS + ms * 1000000, GAP_NS / 2);
	line = narrator.timeline;
	start();
	narrate_use_timeline(&narrator, &line);
	for (uint64_t ms = 1; ms < 300; ms++)
		check_time(START_NS + ms * 1000000);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { a_writer_begins_late, pauses, recovery };

	return hand_run("narrate time", tests, 3);
}
