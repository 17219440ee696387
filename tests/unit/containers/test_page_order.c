/* SPDX-License-Identifier: MIT */
/*
 * test_page_order.c - the set of pages agrees with an array of flags
 *
 * A set of pages agrees with an array of flags after any series of additions
 * and removals, and finds the neighbours that the array has.
 */
#include "hatf/containers/page_order.h"

#include "tests/unit/support/hand.h"

/* Some groups have adjacent pages, some have one page. */
#define PLACES 6000u
#define APART  100

static bool is_there[PLACES];

static unsigned
pick(unsigned *seed, unsigned n)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % n;
}

static uint64_t
page_at(unsigned place)
{
	return place < PLACES / 2 ? place : PLACES + (uint64_t)place * APART;
}

/* The neighbour of a place according to the array; PLACES: none. */
static unsigned
neighbour(unsigned place, int step)
{
	unsigned at = place + (unsigned)step;

	while (at < PLACES && !is_there[at])
		at += (unsigned)step;
	return at < PLACES ? at : PLACES;
}

static void
check_neighbour(bool found, uint64_t page, unsigned want)
{
	if (found != (want != PLACES) || (found && page != page_at(want)))
		ck_abort_msg("a neighbour");
}

/* Compare a place with the model, then add or remove it. */
static void
step(struct page_order *order, unsigned place, bool puts)
{
	const uint64_t page = page_at(place);
	uint64_t near = 0;
	bool found = page_order_before(order, page, &near);

	check_neighbour(found, near, neighbour(place, -1));
	found = page_order_after(order, page, &near);
	check_neighbour(found, near, neighbour(place, 1));
	if (puts)
		ck_assert(page_order_add(order, page));
	else if (is_there[place])
		page_order_remove(order, page);
	is_there[place] = puts;
}

START_TEST(a_set_agrees_with_an_array)
{
	struct page_order order = { 0 };
	unsigned seed = 1;

	for (unsigned i = 0; i < 200000; i++) {
		/* Grow in order, shrink, and grow at random. */
		const unsigned phase = i / 20000 % 3;
		const unsigned place =
			phase == 0 ? i % PLACES : pick(&seed, PLACES);

		step(&order, place, pick(&seed, 8) < (phase == 1 ? 1u : 7u));
	}
	for (unsigned i = 0; i < PLACES; i++)
		step(&order, i, false);
	ck_assert_uint_eq(order.count, 0);
	page_order_fini(&order);
}
END_TEST

START_TEST(the_first_and_the_last_page_are_pages)
{
	struct page_order order = { 0 };
	uint64_t page;

	ck_assert(!page_order_before(&order, UINT64_MAX, &page));
	ck_assert(!page_order_after(&order, 0, &page));
	ck_assert(page_order_add(&order, 0));
	ck_assert(page_order_add(&order, UINT64_MAX));
	ck_assert(page_order_before(&order, UINT64_MAX, &page));
	ck_assert_uint_eq(page, 0);
	ck_assert(page_order_after(&order, 0, &page));
	ck_assert_uint_eq(page, UINT64_MAX);
	ck_assert(!page_order_before(&order, 0, &page));
	ck_assert(!page_order_after(&order, UINT64_MAX, &page));
	page_order_fini(&order);
}
END_TEST

START_TEST(adjacent_pages_take_half_a_byte)
{
	const uint64_t n = 1000000;
	struct page_order order = { 0 };
	size_t group_count = 0;

	for (uint64_t i = 0; i < n; i++)
		ck_assert(page_order_add(&order, i * 7919 % n));
	for (size_t i = 0; i < order.count; i++)
		group_count += order.runs[i].cap;
	ck_assert_uint_le(group_count * sizeof(struct page_group), n / 2);
	for (uint64_t i = 0; i < n; i++)
		page_order_remove(&order, i * 7919 % n);
	ck_assert_uint_eq(order.count, 0);
	page_order_fini(&order);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_set_agrees_with_an_array,
		the_first_and_the_last_page_are_pages,
		adjacent_pages_take_half_a_byte,
	};

	return hand_run("page_order", tests, 3);
}
