/* SPDX-License-Identifier: MIT */
/*
 * test_spans.c
 *
 * A set of pieces says the same as an array of flags, whatever is put and removed,
 * in any order; neighbours are those that the array has.
 */
#include "spans.h"

#include "hand.h"

#define HEAPS  2u
#define PLACES 3000u

static bool is_there[HEAPS][PLACES];

static unsigned
pick(unsigned *seed, unsigned n)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % n;
}

/* The neighbour of a place in its heap by the array; PLACES: there is none. */
static unsigned
neighbour(unsigned heap, unsigned place, int step)
{
	unsigned at = place + (unsigned)step;

	while (at < PLACES && !is_there[heap][at])
		at += (unsigned)step;
	return at < PLACES ? at : PLACES;
}

static void
check_neighbour(const struct span *span, unsigned heap, unsigned want)
{
	if (want != PLACES)
		ck_assert(span != NULL && span->heap == heap &&
			  span->start == want);
	else
		ck_assert(span == NULL || span->heap != heap);
}

/* Look at a place, and put or remove what is there. */
static void
step(struct spans *s, unsigned heap, unsigned place, bool puts)
{
	const struct span span = { .heap = heap, .start = place, .nbytes = 1 };
	struct span *before, *after;
	const struct span *const found =
		spans_find(s, heap, place, &before, &after);

	ck_assert_int_eq(found != NULL, is_there[heap][place]);
	check_neighbour(before, heap, neighbour(heap, place, -1));
	check_neighbour(after, heap, neighbour(heap, place, 1));
	if (!puts)
		ck_assert_int_eq(spans_remove(s, heap, place), found != NULL);
	else if (found == NULL)
		ck_assert(spans_put(s, &span));
	is_there[heap][place] = puts;
}

START_TEST(a_set_says_what_an_array_says)
{
	struct spans s = { 0 };
	unsigned seed = 1;

	for (unsigned i = 0; i < 200000; i++) {
		/* It grows in order, shrinks, and grows anywhere. */
		const unsigned phase = i / 20000 % 3;
		const unsigned heap = pick(&seed, HEAPS);
		const unsigned place =
			phase == 0 ? i % PLACES : pick(&seed, PLACES);

		step(&s, heap, place, pick(&seed, 8) < (phase == 1 ? 1u : 7u));
	}
	for (unsigned i = 0; i < HEAPS * PLACES; i++)
		step(&s, i / PLACES, i % PLACES, false);
	ck_assert_ptr_null(s.root);
	spans_fini(&s);
}
END_TEST

START_TEST(a_large_set_is_a_low_tree)
{
	const uint64_t n = 1000000;
	struct spans s = { 0 };

	for (unsigned round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < n; i++) {
			const struct span span = {
				.start = (round == 0 ? i : i * 7919 % n) * 16,
				.nbytes = 16,
			};

			ck_assert(spans_put(&s, &span));
		}
		ck_assert_uint_le(s.height, 4);
		for (uint64_t i = 0; i < n; i++)
			ck_assert(spans_remove(&s, 0, i * 7919 % n * 16));
		ck_assert_ptr_null(s.root);
	}
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_set_says_what_an_array_says,
		a_large_set_is_a_low_tree,
	};

	return hand_run("spans", tests, 2);
}
