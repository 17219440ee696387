/* SPDX-License-Identifier: MIT */
/*
 * test_name_cache.c - a cache returns what was stored for the same place
 *
 * The same address in two objects is two places.  An answer without functions
 * is an answer, too.  A full cache keeps what it has.
 */
#include "tools/symbols/name_cache.h"

#include "tests/unit/support/hand.h"

static size_t
get(const struct name_cache *cache, int object, uint64_t address,
    struct symbol_lookup_name *names)
{
	size_t n;

	return name_cache_get(cache, object, address, names, &n) ? n : SIZE_MAX;
}

START_TEST(each_place_has_its_answer)
{
	const struct symbol_lookup_name first[2] = {
		{ .function = "inner", .line = 1 },
		{ .function = "outer", .line = 2 },
	};
	const struct symbol_lookup_name second = { .function = "other" };
	struct symbol_lookup_name names[SYMBOL_LOOKUP_NAMES_MAX];
	struct name_cache cache = { .tree = NULL };

	ck_assert_uint_eq(get(&cache, 0, 16, names), SIZE_MAX);
	name_cache_put(&cache, 0, 16, first, 2);
	name_cache_put(&cache, 1, 16, &second, 1);
	name_cache_put(&cache, 0, UINT64_MAX, NULL, 0);
	ck_assert_uint_eq(get(&cache, 0, 16, names), 2);
	ck_assert_str_eq(names[0].function, "inner");
	ck_assert_str_eq(names[1].function, "outer");
	ck_assert_uint_eq(names[1].line, 2);
	ck_assert_uint_eq(get(&cache, 1, 16, names), 1);
	ck_assert_str_eq(names[0].function, "other");
	ck_assert_uint_eq(get(&cache, 0, UINT64_MAX, names), 0);
	ck_assert_uint_eq(get(&cache, 1, UINT64_MAX, names), SIZE_MAX);
	ck_assert_uint_eq(get(&cache, 0, 17, names), SIZE_MAX);
	name_cache_free(&cache);
	ck_assert_uint_eq(get(&cache, 0, 16, names), SIZE_MAX);
}
END_TEST

START_TEST(a_full_cache_keeps_what_it_has)
{
	struct symbol_lookup_name names[SYMBOL_LOOKUP_NAMES_MAX] = {
		{ .function = "f" },
	};
	struct name_cache cache = { .tree = NULL };
	uint64_t i = 0;
	size_t before;

	do {
		before = cache.nbytes;
		name_cache_put(&cache, 0, i++, names, SYMBOL_LOOKUP_NAMES_MAX);
	} while (cache.nbytes != before);
	ck_assert_uint_le(cache.nbytes, (size_t)64 << 20);
	ck_assert_uint_eq(get(&cache, 0, i - 1, names), SIZE_MAX);
	ck_assert_uint_eq(get(&cache, 0, i - 2, names),
			  SYMBOL_LOOKUP_NAMES_MAX);
	ck_assert_uint_eq(get(&cache, 0, 0, names), SYMBOL_LOOKUP_NAMES_MAX);
	name_cache_free(&cache);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		each_place_has_its_answer,
		a_full_cache_keeps_what_it_has,
	};

	return hand_run("name_cache", tests, 2);
}
