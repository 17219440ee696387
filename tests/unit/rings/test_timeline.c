/* SPDX-License-Identifier: MIT */
/*
 * test_timeline.c - no converted time is late, and none is much too early
 *
 * The clock and the counter run evenly; the thread that reads them is sometimes
 * interrupted between the two.  The first version trusted the clock that is
 * read last, and extrapolated stamps before the last two readings with their
 * slope.
 */
#include "hatf/rings/timeline.h"
#include "tests/unit/support/hand.h"

#define SEEDS 10u

#define START_NS 123456789u
#define FAR_NS	 100000000u
#define GAP_NS	 100u	  /* between both clocks of a reading, normally */
#define LATE_NS	 3000000u /* ... if the thread is interrupted */

static uint64_t seed;

static uint64_t
draw(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

/* The counter runs at 2.9 GHz. */
static uint64_t
stamp_at(uint64_t ns)
{
	return 7777777 + (ns - START_NS) / 10 * 29 + (ns - START_NS) % 10 * 3;
}

/* Add a reading that begins at 'ns', and return the time of its end. */
static uint64_t
read_clocks(struct timeline *line, uint64_t ns, uint64_t gap_ns,
	    uint64_t base_ns)
{
	timeline_add(line, stamp_at(ns + gap_ns), ns, base_ns);
	return ns + gap_ns;
}

/*
 * Check that the time of a stamp taken at 'ns' is at most 'late_ns' late and at
 * most 'early_ns' early.
 */
static void
check_time(const struct timeline *line, uint64_t ns, uint64_t late_ns,
	   uint64_t early_ns)
{
	const uint64_t got = START_NS + timeline_ns(line, stamp_at(ns));

	/* The simulated counter is exact to a nanosecond. */
	ck_assert_uint_le(got, ns + late_ns + 1);
	ck_assert_uint_le(ns, got + early_ns);
}

static void
check_near_times(void)
{
	struct timeline line;
	uint64_t ns = START_NS;

	timeline_init(&line, stamp_at(ns), ns);
	for (unsigned i = 0; i < 2000; i++) {
		const uint64_t gap =
			draw(20) == 0 ? draw(LATE_NS) : draw(GAP_NS);
		const uint64_t from = ns;

		ns = read_clocks(&line, ns + draw(2000000), gap, 0);
		for (unsigned n = 0; n < 20; n++)
			check_time(&line, from + draw(ns - from + 1), 0,
				   LATE_NS + 2);
	}
}

START_TEST(times_between_two_readings_are_not_late)
{
	for (unsigned i = 0; i < SEEDS; i++) {
		seed = i;
		check_near_times();
	}
}
END_TEST

static void
check_old_times(void)
{
	struct timeline line;
	uint64_t ns = START_NS;

	timeline_init(&line, stamp_at(ns), ns);
	for (unsigned i = 0; i < 3000; i++) {
		const uint64_t old = ns - START_NS;

		ns = read_clocks(&line, ns + 1000000, draw(GAP_NS), FAR_NS);
		if (i > 200)
			check_time(&line, ns - draw(old / 4), 1000, 1000);
	}
	ck_assert_uint_le(line.ns1 - line.ns0, 2 * FAR_NS + 2000000);
	ck_assert_uint_ge(line.ns1 - line.ns0, FAR_NS);
}

START_TEST(old_times_are_right_to_a_microsecond)
{
	for (unsigned i = 0; i < SEEDS; i++) {
		seed = i;
		check_old_times();
	}
}
END_TEST

START_TEST(a_later_stamp_gets_the_time_of_the_last_reading)
{
	struct timeline line;

	timeline_init(&line, stamp_at(START_NS), START_NS);
	ck_assert_uint_eq(timeline_ns(&line, UINT64_MAX), 0);
	read_clocks(&line, START_NS + 5000, 10, 0);
	ck_assert_uint_eq(timeline_ns(&line, UINT64_MAX), 5000);
	ck_assert_uint_eq(timeline_ns(&line, 0), 0);
}
END_TEST

START_TEST(a_line_without_slope_stays_as_it_is)
{
	struct timeline line = { .stamp1 = 1, .ns1 = 3 * (uint64_t)FAR_NS };

	timeline_add(&line, 2, line.ns1 + 1, FAR_NS);
	ck_assert_uint_eq(line.stamp0, 0);
	ck_assert_uint_eq(line.ns0, 0);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		times_between_two_readings_are_not_late,
		old_times_are_right_to_a_microsecond,
		a_later_stamp_gets_the_time_of_the_last_reading,
		a_line_without_slope_stays_as_it_is,
	};

	return hand_run("line", tests, 4);
}
