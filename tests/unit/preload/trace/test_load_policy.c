/* SPDX-License-Identifier: MIT */
/*
 * test_load_policy.c - short pauses only if producers wait or are preempted
 *
 * The writer must use short pauses if its producers wait again and again, or
 * its program is preempted, and only then.  It must do so exactly as long as it
 * could not keep up otherwise.  A process that lives for a tenth of a second
 * must get them, too.  While threads share processors, the writer must sleep
 * for as long as the rings have room.
 */
#include "tests/unit/support/checks.h"
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "preload/trace/load_policy.h"

#define MS     1000000u
#define NBYTES (256u << 10)

static struct load_policy policy;
static uint64_t now_ns;
static long preemptions;

/* Replaces the system's function. */
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
	memset(&policy, 0, sizeof(policy));
	now_ns = 1000 * (uint64_t)MS;
	preemptions = 7000;
}

/* End a block: one per millisecond, of which 'sleep' percent are sleep. */
static bool
end_block(unsigned sleep, bool has_waited)
{
	now_ns += MS;
	load_policy_note_waits(&policy, policy.waits + has_waited);
	load_policy_note_sleep(&policy, sleep * (uint64_t)MS / 100);
	if (!load_policy_is_storing(&policy))
		load_policy_note_compressed(&policy, MS / 2, NBYTES,
					    NBYTES / 2);
	load_policy_note_written(&policy, MS / 20, NBYTES);
	load_policy_end_block(&policy, now_ns, NBYTES);
	return load_policy_is_fast(&policy);
}

/* End 'count' blocks; return whether all, or none, used short pauses. */
static bool
end_blocks(unsigned count, unsigned sleep, bool has_waited)
{
	const bool first = end_block(sleep, has_waited);

	for (unsigned i = 1; i < count; i++)
		ck_assert(end_block(sleep, has_waited) == first);
	return first;
}

START_TEST(pauses_stay_long_while_no_producer_waits)
{
	ck_assert(!end_blocks(1000, 0, false));
	ck_assert(!load_policy_is_storing(&policy));
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
	ck_assert(load_policy_is_storing(&policy));
}
END_TEST

static void
press(void)
{
	for (unsigned i = 0; i < 20; i++)
		end_block(0, true);
	ck_assert(policy.is_pressed);
}

/*
 * Compressing takes half of the time, so with 60 % sleep there is not enough.
 */
START_TEST(pauses_stay_short_if_long_ones_would_not_do)
{
	press();
	ck_assert(end_blocks(1000, 60, false));
	ck_assert(load_policy_is_storing(&policy));
}
END_TEST

START_TEST(who_has_time_again_takes_it)
{
	press();
	for (unsigned i = 0; i < 110; i++)
		end_block(90, false);
	ck_assert(!end_blocks(100, 90, false));
	ck_assert(!load_policy_is_storing(&policy));
}
END_TEST

/* Blocks are not stored uncompressed if the file is slower than compression. */
START_TEST(a_slow_file_is_no_place_for_stored_blocks)
{
	for (unsigned i = 0; i < 40; i++) {
		load_policy_note_written(&policy, 100 * MS, NBYTES);
		end_block(0, true);
		ck_assert(!load_policy_is_storing(&policy));
	}
	ck_assert(policy.is_pressed);
}
END_TEST

/* Report 'a_second' preemptions a second, for half a second. */
static bool
preempt(unsigned a_second)
{
	bool is_fast = false;

	for (unsigned i = 0; i < 500; i++) {
		preemptions += (i + 1) * a_second / 1000 - i * a_second / 1000;
		is_fast = end_block(50, false);
	}
	return is_fast;
}

START_TEST(a_program_that_is_preempted_gets_the_processor)
{
	ck_assert(!preempt(0));
	ck_assert(!preempt(150));
	ck_assert(preempt(1000));
	ck_assert(!load_policy_is_storing(&policy));
	ck_assert(preempt(150));
	ck_assert(preempt(40));
	ck_assert(!preempt(30));
}
END_TEST

/* Look once a millisecond, with 'a_second' preemptions a second. */
static bool
look(unsigned ms, unsigned a_second)
{
	for (unsigned i = 0; i < ms; i++) {
		preemptions += (i + 1) * a_second / 1000 - i * a_second / 1000;
		now_ns += MS;
		load_policy_look(&policy, now_ns);
	}
	return load_policy_is_fast(&policy);
}

/* The first block of a trace may take as long as the process lives. */
START_TEST(a_preemption_counts_before_a_block_is_full)
{
	ck_assert(!look(1, 0));
	ck_assert(look(12, 1000));
	ck_assert(policy.is_contended && !policy.is_pressed);
	ck_assert(!look(250, 0));
}
END_TEST

START_TEST(a_few_early_preemptions_do_not_count)
{
	ck_assert(!look(12, 0));
	ck_assert(!look(80, 150));
}
END_TEST

/* Earlier preemptions do not count. */
START_TEST(the_first_look_tells_nothing)
{
	preemptions = 1000000;
	ck_assert(!end_blocks(500, 0, false));
}
END_TEST

/* The writer's answer at the beginning holds until it can count. */
START_TEST(a_busy_machine_counts_from_the_beginning)
{
	load_policy_begin(&policy, true);
	ck_assert(load_policy_is_fast(&policy));
	ck_assert(look(50, 0));
	ck_assert(!look(2, 0));
	ck_assert(!look(200, 0));
}
END_TEST

START_TEST(a_busy_machine_stays_busy)
{
	load_policy_begin(&policy, true);
	ck_assert(look(500, 40));
	ck_assert(!look(150, 0));
}
END_TEST

/* A program that records little lets the writer sleep for 16 ms. */
START_TEST(a_sleep_is_long_if_rings_have_room)
{
	ck_assert_uint_eq(load_policy_shared_sleep_ns(0, MS, 0), 16 * MS);
	ck_assert_uint_eq(load_policy_shared_sleep_ns(800, MS, 1u << 17),
			  16 * MS);
	ck_assert_uint_eq(load_policy_shared_sleep_ns(UINT64_MAX, MS, 0),
			  3500000);
}
END_TEST

/*
 * The sleep ends before events of three words fill the ring, unless that is
 * sooner than after 3.5 ms.
 */
START_TEST(a_sleep_ends_before_a_ring_is_full)
{
	const uint64_t room = 1u << 16;
	unsigned longer = 0, shortest = 0;

	for (uint64_t per_ms = 1; per_ms < 20000; per_ms++) {
		const uint64_t ns =
			load_policy_shared_sleep_ns(16 * per_ms, 16 * MS, room);

		ck_assert_uint_ge(ns, 3500000);
		ck_assert_uint_le(ns, 16 * MS);
		if (ns == 3500000)
			shortest++;
		else
			ck_assert_uint_le(per_ms * 3 * ns, room * MS);
		longer += ns > 3500000 && ns < 16 * MS;
	}
	ck_assert_uint_gt(shortest, 0);
	ck_assert_uint_gt(longer, 1000);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("policy");
	TCase *const tc = tcase_create("policy");
	SRunner *const runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, pauses_stay_long_while_no_producer_waits);
	tcase_add_test(tc, a_wait_now_and_then_is_no_reason);
	tcase_add_test(tc, waits_again_and_again_are_one);
	tcase_add_test(tc, pauses_stay_short_if_long_ones_would_not_do);
	tcase_add_test(tc, who_has_time_again_takes_it);
	tcase_add_test(tc, a_slow_file_is_no_place_for_stored_blocks);
	tcase_add_test(tc, a_program_that_is_preempted_gets_the_processor);
	tcase_add_test(tc, the_first_look_tells_nothing);
	tcase_add_test(tc, a_preemption_counts_before_a_block_is_full);
	tcase_add_test(tc, a_few_early_preemptions_do_not_count);
	tcase_add_test(tc, a_busy_machine_counts_from_the_beginning);
	tcase_add_test(tc, a_busy_machine_stays_busy);
	tcase_add_test(tc, a_sleep_is_long_if_rings_have_room);
	tcase_add_test(tc, a_sleep_ends_before_a_ring_is_full);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
