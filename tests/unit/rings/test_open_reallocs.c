/* SPDX-License-Identifier: MIT */
/*
 * test_open_reallocs.c - the index finds what a full search finds, in few steps
 */
#include "tests/unit/support/checks.h"
#include <stdbool.h>
#include <stdlib.h>

#include "hatf/rings/order.h"

#define COUNT 3000

static struct order_producer producers[COUNT];
static bool is_in[COUNT];
static struct open_reallocs tree;
static unsigned visit_count;
static uint64_t random_state;

static void
set_up(void)
{
	for (unsigned i = 0; i < COUNT; i++) {
		producers[i] = (struct order_producer){ .id = i };
		is_in[i] = false;
	}
	tree = (struct open_reallocs){ .root = NULL };
}

/* Expect that no call since the last check has looked at too many. */
static void
check_steps(void)
{
	ck_assert_uint_le(tree.step_count, OPEN_REALLOCS_DEPTH + 1);
	tree.step_count = 0;
}

static void
add(unsigned i, uint64_t old, uint64_t last)
{
	producers[i].realloc_old = old;
	producers[i].realloc_last = last;
	open_reallocs_add(&tree, &producers[i]);
	is_in[i] = true;
	check_steps();
}

static void
drop(unsigned i)
{
	open_reallocs_remove(&tree, &producers[i]);
	is_in[i] = false;
	check_steps();
}

static bool
holds(unsigned i, uint64_t first, uint64_t last)
{
	return is_in[i] && producers[i].realloc_old <= last &&
	       producers[i].realloc_last >= first;
}

/* Compare a search with one through all producers; return what it found. */
static struct order_producer *
find(uint64_t first, uint64_t last)
{
	struct order_producer *const s = open_reallocs_find(&tree, first, last);
	bool is_any = false;

	check_steps();
	for (unsigned i = 0; i < COUNT; i++)
		is_any |= holds(i, first, last);
	ck_assert(is_any == (s != NULL));
	ck_assert(s == NULL || holds((unsigned)s->id, first, last));
	return s;
}

static void
count_visit(void *context, struct order_producer *s)
{
	ck_assert_ptr_eq(context, &tree);
	ck_assert(is_in[s->id]);
	visit_count++;
}

/* Expect a visit of each producer that is in the tree. */
static void
check_visits(void)
{
	unsigned want = 0;

	for (unsigned i = 0; i < COUNT; i++)
		want += is_in[i];
	visit_count = 0;
	open_reallocs_visit(&tree, count_visit, &tree);
	ck_assert_uint_eq(visit_count, want);
	tree.step_count = 0;
}

/* xorshift: the same numbers on every machine. */
static uint64_t
any_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Return an address: few different ones, or any. */
static uint64_t
any_address(unsigned kind)
{
	const uint64_t n = any_number();

	switch (kind) {
	case 0:
		return n % 64;
	case 1:
		return 0x7f0000000000 + n % 4096 * 16;
	case 2:
		return UINT64_MAX - n % 64;
	default:
		return n >> any_number() % 64;
	}
}

/* Return the last of about 'nbytes' bytes from 'first' on. */
static uint64_t
last_of(uint64_t first, uint64_t nbytes)
{
	return first > UINT64_MAX - nbytes ? UINT64_MAX : first + nbytes;
}

START_TEST(test_random)
{
	set_up();
	random_state = (uint64_t)_i + 1;
	for (unsigned step = 0; step < 20000; step++) {
		const unsigned i = (unsigned)(any_number() % COUNT);
		const uint64_t old = any_address((unsigned)_i);
		const uint64_t nbytes =
			any_number() % (any_number() % 8 == 0 ? 100000 : 64);

		if (is_in[i])
			drop(i);
		else
			add(i, old,
			    any_number() % 8 == 0 ? 0 : last_of(old, nbytes));
		if (step % 8 == 0)
			find(old + (old == 0), last_of(old + 1, nbytes));
		if (step % 4096 == 0)
			check_visits();
	}
}
END_TEST

/* Take out what is found until nothing is found. */
static void
check_taking_all(uint64_t first, uint64_t last)
{
	unsigned count = 0;
	struct order_producer *s;

	check_visits();
	while ((s = open_reallocs_find(&tree, first, last)) != NULL) {
		check_steps();
		drop((unsigned)s->id);
		count++;
	}
	ck_assert_uint_eq(count, COUNT);
	ck_assert_ptr_null(tree.root);
}

/* All producers claim the same block, nested blocks, or a chain of bits. */
START_TEST(test_hostile_blocks)
{
	set_up();
	for (unsigned i = 0; i < COUNT; i++)
		add(i, 16, 1u << 20);
	check_taking_all(1 << 20, UINT64_MAX);

	for (unsigned i = 0; i < COUNT; i++)
		add(i, 4096 + i, 100000 - i);
	check_taking_all(5000, 99000);

	for (unsigned i = 0; i < COUNT; i++)
		add(i, (uint64_t)1 << i % 64, UINT64_MAX - i);
	check_taking_all(UINT64_MAX - COUNT, UINT64_MAX);

	for (unsigned i = 0; i < COUNT; i++)
		add(i, 0, UINT64_MAX);
	check_taking_all(1, 1);
}
END_TEST

/* A realloc that failed holds nothing, and an empty index has nothing. */
START_TEST(test_nothing)
{
	set_up();
	ck_assert_ptr_null(find(1, UINT64_MAX));
	check_visits();
	add(0, 16, 0);
	ck_assert_ptr_null(find(1, UINT64_MAX));
	add(1, 32, 47);
	ck_assert_ptr_null(find(1, 31));
	ck_assert_ptr_null(find(48, UINT64_MAX));
	ck_assert_ptr_eq(find(1, 32), &producers[1]);
	ck_assert_ptr_eq(find(47, 47), &producers[1]);
	check_visits();
	drop(1);
	ck_assert_ptr_null(find(1, UINT64_MAX));
	drop(0);
	ck_assert_ptr_null(tree.root);
}
END_TEST

int
main(void)
{
	Suite *const s = suite_create("open_reallocs");
	TCase *const tc = tcase_create("open_reallocs");
	SRunner *const runner = srunner_create(s);

	tcase_add_loop_test(tc, test_random, 0, 4);
	tcase_add_test(tc, test_hostile_blocks);
	tcase_add_test(tc, test_nothing);
	suite_add_tcase(s, tc);
	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
