/* SPDX-License-Identifier: MIT */
/*
 * test_paged_map.c - the paged map agrees with a plain array
 *
 * A paged map gives the same values as a plain array, in whatever order numbers
 * are added.  Removed numbers take no memory.
 */
#include "tests/unit/support/mini.h"

#include "hatf/formats/common/paged_map.h"
#include "tests/unit/support/hand.h"

#define COUNT	 4096
#define NO_VALUE UINT64_MAX

static uint64_t want[COUNT];

/* Numbers far apart, next to each other, and at both ends of the range. */
static uint64_t
number_of(size_t i, unsigned spread)
{
	const uint64_t n = (uint64_t)i << spread;

	return i % 2 == 0 ? n : UINT64_MAX - n;
}

static void
check_all(struct paged_map *n, unsigned spread)
{
	for (size_t i = 0; i < COUNT; i++) {
		const uint64_t *const value =
			paged_map_find(n, number_of(i, spread));

		mini_check((value == NULL) == (want[i] == NO_VALUE));
		mini_check(value == NULL || *value == want[i]);
	}
}

START_TEST(numbers_have_the_last_value_that_they_got)
{
	uint64_t state = 88172645463325252u;

	for (unsigned spread = 0; spread < 50; spread += 7) {
		struct paged_map n;

		paged_map_init(&n);
		for (size_t i = 0; i < COUNT; i++)
			want[i] = NO_VALUE;
		for (size_t step = 0; step < 40000; step++) {
			const size_t i = mini_random(&state) % COUNT;
			const uint64_t number = number_of(i, spread);

			if (want[i] != NO_VALUE && step % 3 != 0) {
				paged_map_remove(&n, number);
				want[i] = NO_VALUE;
			} else {
				want[i] = step;
				mini_check(paged_map_put(&n, number, step));
			}
		}
		check_all(&n, spread);
		paged_map_fini(&n);
	}
}
END_TEST

/* A trace may have any number of blocks, of which few are live. */
START_TEST(what_is_forgotten_takes_no_memory)
{
	struct paged_map n;

	paged_map_init(&n);
	for (uint64_t i = 0; i < 1000000; i++) {
		mini_check(paged_map_put(&n, i, i));
		if (i >= 100)
			paged_map_remove(&n, i - 100);
		mini_check(u64_map_count(&n.pages) <=
			   2 + 100 / PAGED_MAP_PAGE_SLOTS + 1);
	}
	for (uint64_t i = 999900; i < 1000000; i++)
		paged_map_remove(&n, i);
	mini_check(u64_map_count(&n.pages) == 1);
	paged_map_fini(&n);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		numbers_have_the_last_value_that_they_got,
		what_is_forgotten_takes_no_memory,
	};

	return hand_run("paged_map", tests, sizeof(tests) / sizeof(tests[0]));
}
