/* SPDX-License-Identifier: MIT */
/*
 * test_load_policy.c - short pauses only if producers wait or are preempted
 *
 * The writer must be in haste where its producers wait again and again, or its
 * program is preempted, and only there; it must stay so for as long as it would
 * fall behind with more to do, and not a moment longer.
 */
#include "support/checks.h"
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "preload/trace/load_policy.h"

#define MS     1000000u
#define NBYTES (256u << 10)

static struct haste haste;
static uint64_t now_ns;
static long preemptions;

/* The system's, as this test would have it. */
int
getrusage(__rusage_who_t who, struct rusage *usage)
{
	ck_assert_int_eq((int)who, RUSAGE_SELF);
	memset(usage, 0, sizeof(*usage));
	usage->ru_nivcsw = preemptions;
	return 0;
}

static void
set_up(void)
{
	memset(&haste, 0, sizeof(haste));
	now_ns = 1000 * (uint64_t)MS;
	preemptions = 7000;
}

/* A block comes every millisecond, of which so many percent are sleep. */
static bool
end_block(unsigned sleep, bool has_waited)
{
	now_ns += MS;
	haste_note_waits(&haste, haste.waits + has_waited);
	haste_note_sleep(&haste, sleep * (uint64_t)MS / 100);
	if (!haste_is_storing(&haste))
		haste_note_packed(&haste, MS / 2, NBYTES, NBYTES / 2);
	haste_note_written(&haste, MS / 20, NBYTES);
	return haste_end_block(&haste, now_ns, NBYTES);
}

/* 'count' blocks; returns whether all, or none, are in haste. */
static bool
end_blocks(unsigned count, unsigned sleep, bool has_waited)
{
	const bool first = end_block(sleep, has_waited);

	for (unsigned i = 1; i < count; i++)
		ck_assert(end_block(sleep, has_waited) == first);
	return first;
}

START_TEST(there_is_no_haste_while_nobody_waits)
{
	ck_assert(!end_blocks(1000, 0, false));
	ck_assert(!haste_is_storing(&haste));
}
END_TEST

START_TEST(a_wait_now_and_then_is_no_reason)
{
	for (unsigned i = 0; i < 1000; i++)
		ck_assert(!end_block(0, i % 3 == 0));
}
END_TEST

START_TEST(waits_again_and_again_are_one)
{
	ck_assert(!end_blocks(5, 0, true));
	end_block(0, true);
	end_block(0, true);
	ck_assert(end_blocks(100, 0, true));
	ck_assert(haste_is_storing(&haste));
}
END_TEST

static void
press(void)
{
	for (unsigned i = 0; i < 20; i++)
		end_block(0, true);
	ck_assert(haste.is_pressed);
}

/* Compressing takes half of the time: so with 60 % sleep it would be too much. */
START_TEST(who_would_fall_behind_again_stays_in_haste)
{
	press();
	ck_assert(end_blocks(1000, 60, false));
	ck_assert(haste_is_storing(&haste));
}
END_TEST

START_TEST(who_has_time_again_takes_it)
{
	press();
	for (unsigned i = 0; i < 110; i++)
		end_block(90, false);
	ck_assert(!end_blocks(100, 90, false));
	ck_assert(!haste_is_storing(&haste));
}
END_TEST

/* Nothing is stored where the file takes longer than the compressor. */
START_TEST(a_slow_file_is_no_place_for_stored_blocks)
{
	for (unsigned i = 0; i < 40; i++) {
		haste_note_written(&haste, 100 * MS, NBYTES);
		end_block(0, true);
		ck_assert(!haste_is_storing(&haste));
	}
	ck_assert(haste.is_pressed);
}
END_TEST

/* So many preemptions a second, for half a second. */
static bool
preempt(unsigned a_second)
{
	bool in_haste = false;

	for (unsigned i = 0; i < 500; i++) {
		preemptions += (i + 1) * a_second / 1000 - i * a_second / 1000;
		in_haste = end_block(50, false);
	}
	return in_haste;
}

START_TEST(a_program_that_is_preempted_gets_the_processor)
{
	ck_assert(!preempt(0));
	ck_assert(!preempt(150));
	ck_assert(preempt(1000));
	ck_assert(!haste_is_storing(&haste));
	ck_assert(preempt(150));
	ck_assert(!preempt(50));
}
END_TEST

/* What it had to bear before is no matter. */
START_TEST(the_first_look_tells_nothing)
{
	preemptions = 1000000;
	ck_assert(!end_blocks(500, 0, false));
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("haste");
	TCase *const tc = tcase_create("haste");
	SRunner *const runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, there_is_no_haste_while_nobody_waits);
	tcase_add_test(tc, a_wait_now_and_then_is_no_reason);
	tcase_add_test(tc, waits_again_and_again_are_one);
	tcase_add_test(tc, who_would_fall_behind_again_stays_in_haste);
	tcase_add_test(tc, who_has_time_again_takes_it);
	tcase_add_test(tc, a_slow_file_is_no_place_for_stored_blocks);
	tcase_add_test(tc, a_program_that_is_preempted_gets_the_processor);
	tcase_add_test(tc, the_first_look_tells_nothing);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
