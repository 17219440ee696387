/* SPDX-License-Identifier: MIT */
/*
 * test_unwind_rule.c - a stored rule is the rule of its own address
 *
 * More addresses of libc than the table has entries, so that rules push each
 * other out, also while several threads store them.
 */
#include "preload/stacks/unwind_rule.h"

#include <pthread.h>
#include <stdlib.h>

#include "preload/stacks/code_object.h"
#include "tests/unit/support/hand.h"

#define THREADS	  4
#define ADDRESSES 20000u
/* A prime, so that the addresses lie in instructions and between them. */
#define STEP 37u

static uintptr_t
address_of(unsigned i)
{
	static uintptr_t begin;
	struct code_object libc;

	if (begin == 0) {
		code_object_init();
		ck_assert(code_object_find((uintptr_t)&qsort, &libc));
		ck_assert_uint_gt(libc.end - libc.code_begin, ADDRESSES * STEP);
		begin = libc.code_begin + 1;
	}
	return begin + (uintptr_t)i * STEP;
}

/* Find the rule of an address in a table without other rules. */
static uint64_t
fresh_rule(uintptr_t address)
{
	unwind_forget_rules();
	return unwind_rule(address);
}

static uint64_t expected[ADDRESSES];

static void *
compare_all(void *context)
{
	unsigned *const wrong = context;

	for (unsigned i = 0; i < 4 * ADDRESSES; i++) {
		/* Some addresses often, and each of them. */
		const unsigned at = i % 2 != 0 ? i / 2 % ADDRESSES : i % 1000;

		*wrong += unwind_rule(address_of(at)) != expected[at];
	}
	return NULL;
}

START_TEST(each_address_keeps_its_rule)
{
	pthread_t threads[THREADS];
	unsigned wrong[THREADS] = { 0 }, plain = 0;

	for (unsigned i = 0; i < ADDRESSES; i++) {
		expected[i] = fresh_rule(address_of(i));
		plain += unwind_kind(expected[i]) == UNWIND_SP;
	}
	ck_assert_uint_gt(plain, ADDRESSES / 10);
	for (int t = 0; t < THREADS; t++)
		pthread_create(&threads[t], NULL, compare_all, &wrong[t]);
	for (int t = 0; t < THREADS; t++) {
		pthread_join(threads[t], NULL);
		ck_assert_uint_eq(wrong[t], 0);
	}
}
END_TEST

static unsigned
set_of(uintptr_t address)
{
	return unwind_index(unwind_hash(address)) / UNWIND_WAYS;
}

/* Has the set an entry for this address? */
static bool
is_stored(uintptr_t address)
{
	const uint64_t hash = unwind_hash(address);
	unsigned count = 0;

	for (unsigned way = 0; way < UNWIND_WAYS; way++)
		count += unwind_is_rule(
			atomic_load_explicit(
				&unwind_rules[set_of(address) * UNWIND_WAYS +
					      way],
				memory_order_relaxed),
			hash);
	ck_assert_uint_le(count, 1);
	return count == 1;
}

/* Let each address with the set of 'first' that follows it store its rule. */
static unsigned
store_set(unsigned first, uintptr_t *stored, unsigned max)
{
	unsigned count = 0;

	unwind_forget_rules();
	for (unsigned i = first; i < ADDRESSES && count < max; i++)
		if (set_of(address_of(i)) == set_of(address_of(first))) {
			unwind_rule(address_of(i));
			unwind_rule(address_of(i));
			stored[count++] = address_of(i);
		}
	return count;
}

START_TEST(a_set_holds_four_rules)
{
	uintptr_t address[UNWIND_WAYS + 1];
	unsigned full = 0;

	for (unsigned first = 0; first < 100; first++) {
		unsigned count = store_set(first, address, UNWIND_WAYS);
		unsigned kept = 0;

		for (unsigned i = 0; i < count; i++)
			ck_assert(is_stored(address[i]));
		count = store_set(first, address, UNWIND_WAYS + 1);
		for (unsigned i = 0; i < count; i++)
			kept += is_stored(address[i]);
		ck_assert_uint_eq(kept,
				  count < UNWIND_WAYS ? count : UNWIND_WAYS);
		ck_assert(is_stored(address[count - 1]));
		full += count > UNWIND_WAYS;
	}
	ck_assert_uint_gt(full, 0);
}
END_TEST

START_TEST(a_number_beyond_user_space_has_no_rule)
{
	const uintptr_t address = address_of(1);

	unwind_rule(address);
	ck_assert(is_stored(address));
	ck_assert_int_eq(unwind_kind(unwind_rule(address | 1ull << 47)),
			 UNWIND_UNKNOWN);
	ck_assert_int_eq(unwind_kind(unwind_rule(address | 1ull << 63)),
			 UNWIND_UNKNOWN);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		each_address_keeps_its_rule,
		a_set_holds_four_rules,
		a_number_beyond_user_space_has_no_rule,
	};

	return hand_run("unwind rule", tests, sizeof(tests) / sizeof(tests[0]));
}
