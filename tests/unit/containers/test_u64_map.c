/* SPDX-License-Identifier: MIT */
/*
 * test_u64_map.c - the map agrees with a simple model and stays small
 *
 * The map agrees with a simple model after any series of operations, keeps its
 * invariant and its bounds on memory, and is as fast for keys that follow a
 * pattern as for random keys.
 */
#include "hatf/containers/u64_map.h"
#include "tests/unit/support/hand.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KEY_COUNT    4096

static uint64_t
next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed * 0x2545f4914f6cdd1d;
}

/* Slots between the home of the key in 'slot' and 'slot'. */
static size_t
distance(const struct u64_map *map, size_t slot)
{
	const size_t home = u64_map_home(map, map->keys[slot]);

	return slot >= home ? slot - home : slot + map->slot_count - home;
}

/* Check the invariant; returns the mean distance of keys from their homes. */
static double
check_table(const struct u64_map *map)
{
	size_t used = 0, sum = 0;

	for (size_t i = 0; i < map->slot_count; i++) {
		if (map->keys[i] == 0)
			continue;
		used++;
		sum += distance(map, i);
		for (size_t k = 0; k < distance(map, i); k++) {
			const size_t n = map->slot_count;

			ck_assert_uint_ne(map->keys[(i + n - k) % n], 0);
		}
	}
	ck_assert_uint_eq(used, map->used);
	ck_assert_uint_le(used, map->slot_count - map->slot_count / 4);
	if (map->slot_count > U64_MAP_MIN_SLOTS)
		ck_assert_uint_ge(used, map->slot_count / 4);
	return used == 0 ? 0 : (double)sum / (double)used;
}

static void
put(struct u64_map *map, uint64_t key, uint64_t object)
{
	bool added = false;
	struct u64_map_entry *const entry = u64_map_put(map, key, &added);

	ck_assert_ptr_nonnull(entry);
	ck_assert(added);
	ck_assert_uint_eq(entry->value, 0);
	entry->value = object;
	entry->extra = ~object;
}

/* The contents of a map of KEY_COUNT addresses; index 0 stands for key 0. */
static uint64_t model[KEY_COUNT];

static uint64_t
key(size_t i)
{
	return i * 0x10001000;
}

static void
check_key(struct u64_map *map, size_t i)
{
	const struct u64_map_entry *const entry = u64_map_find(map, key(i));

	if (model[i] == 0) {
		ck_assert_ptr_null(entry);
		return;
	}
	ck_assert_ptr_nonnull(entry);
	ck_assert_uint_eq(entry->value, model[i]);
	ck_assert_uint_eq(entry->extra, ~model[i]);
}

START_TEST(it_agrees_with_a_model)
{
	struct u64_map map;
	uint64_t seed = 1;
	size_t count = 0;

	u64_map_init(&map);
	for (uint64_t step = 1; step <= 200000; step++) {
		const size_t i = next_random(&seed) % KEY_COUNT;
		/* Long phases of growing and of shrinking. */
		const bool grows =
			next_random(&seed) % 100 < (step / 25000 % 2 ? 10 : 90);

		check_key(&map, i);
		if (model[i] == 0 && grows) {
			put(&map, key(i), step);
			model[i] = step;
			count++;
		} else if (model[i] != 0 && !grows) {
			u64_map_remove(&map, u64_map_find(&map, key(i)));
			model[i] = 0;
			count--;
		}
		ck_assert_uint_eq(u64_map_count(&map), count);
		if (step % 10000 == 0)
			check_table(&map);
	}
	for (size_t i = 0; i < KEY_COUNT; i++)
		check_key(&map, i);
	u64_map_fini(&map);
	ck_assert_uint_eq(u64_map_count(&map), 0);
	ck_assert_ptr_null(u64_map_find(&map, key(1)));
}
END_TEST

START_TEST(every_key_is_allowed)
{
	static const uint64_t keys[] = { 0, 1, UINT64_MAX, (uint64_t)1 << 63 };
	struct u64_map map;

	u64_map_init(&map);
	for (size_t i = 0; i < COUNT(keys); i++) {
		ck_assert_ptr_null(u64_map_find(&map, keys[i]));
		put(&map, keys[i], i + 1);
	}
	for (size_t i = 0; i < COUNT(keys); i++)
		ck_assert_uint_eq(u64_map_find(&map, keys[i])->value, i + 1);
	ck_assert_uint_eq(u64_map_count(&map), COUNT(keys));
	for (size_t i = 0; i < COUNT(keys); i++) {
		u64_map_remove(&map, u64_map_find(&map, keys[i]));
		ck_assert_ptr_null(u64_map_find(&map, keys[i]));
	}
	u64_map_fini(&map);
}
END_TEST

START_TEST(putting_twice_finds_the_first)
{
	static const uint64_t keys[] = { 0, 4096 };
	struct u64_map map;
	bool added;

	u64_map_init(&map);
	for (size_t i = 0; i < COUNT(keys); i++) {
		put(&map, keys[i], 7);
		ck_assert_uint_eq(u64_map_put(&map, keys[i], &added)->value, 7);
		ck_assert(!added);
	}
	ck_assert_uint_eq(u64_map_count(&map), COUNT(keys));
	u64_map_fini(&map);
}
END_TEST

START_TEST(patterns_in_the_addresses_do_not_show)
{
	/* Linear probing at 3/4 has a mean distance of 1.5. */
	const double bound = 3.0;
	static const uint64_t strides[] = {
		1,
		8,
		16,
		4096,
		(uint64_t)1 << 32,
		(uint64_t)1 << 44,
		((uint64_t)1 << 44) + 16,
		0x9e3779b97f4a7c15,
		-(uint64_t)16,
		/* the inverse of that odd factor: a bare product would be 1 */
		0xf1de83e19937733d,
	};

	for (size_t s = 0; s < COUNT(strides); s++) {
		struct u64_map map;

		u64_map_init(&map);
		for (uint64_t i = 1; i <= 20000; i++) {
			/* Multiples of 2^44 wrap around after 2^20. */
			put(&map, 0x5555555540 + i * strides[s], i);
		}
		ck_assert_double_lt(check_table(&map), bound);
		u64_map_fini(&map);
	}
}
END_TEST

START_TEST(two_sets_hash_differently)
{
	struct u64_map a, b;
	unsigned same = 0;

	u64_map_init(&a);
	u64_map_init(&b);
	for (uint64_t i = 0; i < 1000; i++)
		same += u64_map_hash(&a, i) >> 56 == u64_map_hash(&b, i) >> 56;
	ck_assert_uint_lt(same, 100);
}
END_TEST

START_TEST(memory_follows_the_count)
{
	struct u64_map map;

	u64_map_init(&map);
	for (uint64_t i = 1; i <= 100000; i++) {
		put(&map, i * 16, i);
		ck_assert_uint_le(map.slot_count, 2 * i + U64_MAP_MIN_SLOTS);
	}
	for (uint64_t i = 100000; i > 0; i--) {
		u64_map_remove(&map, u64_map_find(&map, i * 16));
		ck_assert_uint_le(map.slot_count, 4 * i + U64_MAP_MIN_SLOTS);
	}
	ck_assert_uint_eq(map.slot_count, U64_MAP_MIN_SLOTS);
	u64_map_fini(&map);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		it_agrees_with_a_model,
		every_key_is_allowed,
		putting_twice_finds_the_first,
		patterns_in_the_addresses_do_not_show,
		two_sets_hash_differently,
		memory_follows_the_count,
	};

	return hand_run("map", tests, COUNT(tests));
}
