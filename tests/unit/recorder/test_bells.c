/* SPDX-License-Identifier: MIT */
/*
 * test_bells.c - an order in the file of bells is for one process
 *
 * An order identifies its process, and differs from the order that it replaces.
 */
#include "hatf/recorder/bells.h"

#include "tests/unit/support/hand.h"

static const struct bells_process one = { 4711, 4026531836u, 123456 };

START_TEST(an_order_is_for_one_process)
{
	const uint64_t order = bells_order(0, &one, BELL_START);
	struct bells_process p = one;

	ck_assert_uint_eq(bells_call_of(order), BELL_START);
	ck_assert(bells_is_for(order, &p));
	ck_assert(bells_is_since_start(order, &p));
	p.number += BELLS_SLOTS;
	ck_assert_uint_eq(bells_slot_of(p.number), bells_slot_of(one.number));
	ck_assert(!bells_is_for(order, &p));
	p = one;
	p.namespace ++;
	ck_assert(!bells_is_for(order, &p));
	p = one;
	p.start_ticks++;
	ck_assert(bells_is_for(order, &p));
	ck_assert(!bells_is_since_start(order, &p));
}
END_TEST

START_TEST(nothing_unknown_says_no)
{
	const struct bells_process number_only = { 4711, 0, 0 };
	const uint64_t known = bells_order(0, &one, BELL_CALL);
	const uint64_t unknown = bells_order(0, &number_only, BELL_CALL);

	ck_assert(bells_is_for(known, &number_only));
	ck_assert(bells_is_for(unknown, &one));
	/* ... but the order may be for an earlier process with this number. */
	ck_assert(!bells_is_since_start(known, &number_only));
}
END_TEST

START_TEST(each_order_is_new)
{
	uint64_t order = 0;

	for (unsigned i = 0; i < 1000; i++) {
		const uint64_t next = bells_order(order, &one, BELL_STOP);

		ck_assert_uint_ne(next, order);
		ck_assert_uint_eq(bells_call_of(next), BELL_STOP);
		ck_assert(bells_is_for(next, &one));
		order = next;
	}
}
END_TEST

START_TEST(the_number_of_an_order_wraps)
{
	const uint64_t last =
		bells_order(0, &one, BELL_STOP) | (UINT32_MAX & ~3u);
	const uint64_t next = bells_order(last, &one, BELL_STOP);

	ck_assert_uint_eq(next & UINT32_MAX, BELL_STOP);
	ck_assert(bells_is_for(next, &one));
}
END_TEST

/* The kernel's largest process number is below 2^22. */
START_TEST(a_large_number_fits)
{
	const struct bells_process p = { (1u << 22) - 1, one.namespace, 1 };
	const uint64_t order = bells_order(UINT64_MAX, &p, BELL_CALL);

	ck_assert(bells_is_for(order, &p));
	ck_assert_uint_eq(bells_call_of(order), BELL_CALL);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		an_order_is_for_one_process, nothing_unknown_says_no,
		each_order_is_new,	     the_number_of_an_order_wraps,
		a_large_number_fits,
	};

	return hand_run("bells", tests, 5);
}
