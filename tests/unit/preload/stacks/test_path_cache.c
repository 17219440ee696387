/* SPDX-License-Identifier: MIT */
/*
 * test_path_cache.c - a path that is found is the stack that is there
 *
 * The test lays out stacks of made-up functions in an array, with data between
 * their return addresses that is different each time.  Some functions save the
 * frame pointer, and some are as large as it says.  The innermost two functions
 * are hidden, as the recorder's own are.
 */
#include "preload/stacks/path_cache.h"

#include <stdlib.h>
#include <string.h>

#include "preload/stacks/stack_key.h"
#include "tests/unit/support/hand.h"

#define WORDS	  4096u
#define FUNCTIONS 24u
#define DEPTH	  20u
/* One step of a path takes two bytes if a frame has this many words. */
#define LARGE_WORDS 300u

enum kind {
	BY_SP,
	SAVES_BP,
	BY_BP
};

static uintptr_t memory[WORDS];
static struct walk walk;
static struct path_cache *cache;
static struct walk_context here;
static struct walk_outlet outlet;

static uint64_t
next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 16;
}

/* Data that no path may depend on. */
static uint64_t data_state = 0x1234567;

static enum kind
kind_of(uint64_t function)
{
	return (enum kind)(function % 7 < 4 ? BY_SP : function % 7 - 4);
}

/* Where the frame pointer of the first visible function is. */
static uintptr_t *
first_frame_pointer(void)
{
	const struct walk_exit *const exit = walk_last_exit(&walk);

	return exit->bp == 0 ? &here.bp : (uintptr_t *)(here.sp + exit->bp);
}

/* Set the frame pointer that a frame has saved at 'slot'. */
static void
set_frame_pointer(uintptr_t slot, uintptr_t value)
{
	*(slot == WALK_BP_KEPT ? first_frame_pointer() : (uintptr_t *)slot) =
		value;
	if (slot == WALK_BP_KEPT)
		outlet.bp = value;
}

#define HIDDEN_WORDS 12u

/*
 * Lay out two hidden frames, which end at 'slot'.  In some stacks, one of them
 * has saved the frame pointer.
 */
static void
lay_out_hidden(uintptr_t slot, uint64_t *state)
{
	struct walk_exit *const exit = &walk.exits.exits[0];
	const bool is_saved = next_random(state) % 2 != 0;

	here = (struct walk_context){
		.sp = slot - HIDDEN_WORDS * sizeof(uintptr_t),
		.bp = next_random(&data_state),
	};
	*exit = (struct walk_exit){
		.hidden_slot = { 24, 64, 24, 24 },
		.slot = HIDDEN_WORDS * sizeof(uintptr_t),
		.bp_slot = is_saved ? 56 : 0,
		.bp = is_saved ? 56 : 0,
	};
	for (unsigned i = 0; i < WALK_EXIT_FRAMES; i++) {
		exit->hidden[i] = 0x300000 + exit->hidden_slot[i];
		*(uintptr_t *)(here.sp + exit->hidden_slot[i]) =
			exit->hidden[i];
	}
	outlet = (struct walk_outlet){
		.slot = slot,
		.bp = *first_frame_pointer(),
	};
}

/* Store frames, which are innermost first, as a walk does. */
static void
store_walk(const struct walk_place *place, const struct walk_frame *frame,
	   uint32_t count)
{
	uint64_t key = 1;

	walk.count = count;
	walk.end = WALK_OUTERMOST;
	for (uint32_t i = 0; i < count; i++) {
		walk.place[i] = place[count - 1 - i];
		walk.frame[i] = frame[count - 1 - i];
		key = stack_key_add(key, walk.place[i].address);
		walk.frame[i].key = key;
	}
}

/* Lay out the stack with this number, and set the walk and its outlet. */
static void
lay_out(uint64_t seed)
{
	struct walk_place place[DEPTH];
	struct walk_frame frame[DEPTH];
	uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
	const uint32_t count = 1 + (uint32_t)(next_random(&state) % DEPTH);
	uintptr_t slot =
		(uintptr_t)&memory[HIDDEN_WORDS + next_random(&state) % 3 * 8];
	uintptr_t bp_slot = WALK_BP_KEPT;
	uint64_t function = 0;

	memset(frame, 0, sizeof(frame));
	for (unsigned i = 0; i < WORDS; i++)
		memory[i] = next_random(&data_state);
	lay_out_hidden(slot, &state);
	for (uint32_t i = 0; i < count; i++) {
		if (i == 2 && seed % 8 == 3)
			slot += 8 * LARGE_WORDS;
		if (i != 0 && kind_of(function) == BY_BP) {
			slot += 8 * (3 + next_random(&state) % 4);
			set_frame_pointer(bp_slot, slot - 8);
			frame[i].is_by_bp = true;
		} else if (i != 0) {
			slot += 8 * (2 + function % 5);
		}
		if (i != 0 && kind_of(function) != BY_SP)
			frame[i].bp_slot = bp_slot = slot - 8;
		/* A few functions call each other in many orders. */
		function = 1 + next_random(&state) % (i < 4 ? FUNCTIONS : 3);
		/* By its rules, only this one has no caller. */
		if (i + 1 == count)
			function = FUNCTIONS + 1;
		place[i].slot = slot;
		place[i].address = 0x400000 + function;
		*(uintptr_t *)slot = place[i].address;
	}
	outlet.address = place[0].address;
	store_walk(place, frame, count);
}

static uint64_t
hash_of_walk(void)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < walk.count; i++) {
		hash = stack_key_add(hash, walk.place[i].slot);
		hash = stack_key_add(hash, walk.place[i].address);
	}
	return hash;
}

static uint32_t
find_below(uintptr_t high, uint32_t epoch)
{
	const uint32_t node = path_cache_predict(cache, &here, high, epoch);

	return node != 0 ? node
			 : path_cache_find(cache, &here, &outlet, high, epoch);
}

static uint32_t
find(uint32_t epoch)
{
	return find_below((uintptr_t)&memory[WORDS], epoch);
}

static void
add(uint32_t node, uint32_t epoch)
{
	path_cache_add(cache, &walk, &here, &outlet, node, epoch);
}

/* Add the stack as often as a path takes. */
static void
add_path(uint32_t node, uint32_t epoch)
{
	for (unsigned i = 0; i < PATH_TIMES; i++)
		add(node, epoch);
}

static void
set_up(void)
{
	free(cache);
	cache = calloc(1, sizeof(*cache));
	ck_assert_ptr_nonnull(cache);
}

/*
 * Look for stacks of 'seeds' kinds, in random order, or one after the other.
 * Return how many of 100 are found.
 */
static unsigned
find_many(unsigned rounds, unsigned seeds, bool in_order)
{
	uint64_t *const hashes = calloc(seeds + 1, sizeof(*hashes));
	uint64_t state = 99;
	unsigned found = 0;

	ck_assert_ptr_nonnull(hashes);
	set_up();
	for (unsigned i = 0; i < rounds; i++) {
		const uint64_t seed =
			in_order ? i % seeds : next_random(&state) % seeds;
		const uint32_t node = (uint32_t)seed + 1;
		uint32_t number;

		lay_out(seed);
		hashes[node] = hash_of_walk();
		number = find(0);
		if (number == 0) {
			add(node, 0);
			continue;
		}
		ck_assert_uint_le(number, seeds);
		ck_assert_uint_eq(hashes[number], hash_of_walk());
		found++;
	}
	free(hashes);
	return found * 100 / rounds;
}

START_TEST(what_is_found_is_what_is_there)
{
	ck_assert_uint_ge(find_many(20000, 300, false), 80);
}
END_TEST

/* Without the table, a path is found only if it was predicted. */
START_TEST(paths_in_the_same_order)
{
	unsigned found = 0;

	ck_assert_uint_ge(find_many(20000, 300, true), 80);
	memset(cache->entries, 0, sizeof(cache->entries));
	for (uint64_t i = 20000; i < 20100; i++) {
		lay_out(i % 300);
		if (find(0) == 0)
			break;
		found++;
	}
	ck_assert_uint_ge(found, 10);
}
END_TEST

/* The pool is used up again and again. */
START_TEST(more_paths_than_have_room)
{
	unsigned found = find_many(400000, 30000, false);

	ck_assert_uint_ge(found, 5);
	ck_assert_uint_lt(found, 90);
}
END_TEST

START_TEST(a_path_is_kept_when_it_comes_often)
{
	set_up();
	lay_out(7);
	for (unsigned times = 1; times < PATH_TIMES; times++) {
		add(5, 3);
		ck_assert_uint_eq(find(3), 0);
	}
	add(5, 3);
	ck_assert_uint_eq(find(3), 5);
	/* An object has been unloaded since. */
	ck_assert_uint_eq(find(4), 0);
}
END_TEST

/* Two stacks whose numbers share an entry take it from each other. */
START_TEST(each_stack_is_counted_on_its_own)
{
	const uint32_t other = 5 + (1u << PATH_MET_BITS);

	set_up();
	lay_out(7);
	for (unsigned times = 1; times < PATH_TIMES; times++)
		add(5, 0);
	lay_out(8);
	add(other, 0);
	ck_assert_uint_eq(find(0), 0);
	lay_out(7);
	add(5, 0);
	ck_assert_uint_eq(find(0), 0);
	add_path(5, 0);
	ck_assert_uint_eq(find(0), 5);
	lay_out(8);
	add_path(other, 0);
	ck_assert_uint_eq(find(0), other);
}
END_TEST

/* Lay out the stack with this number, and keep it as the only path. */
static struct path *
keep_alone(uint32_t seed, uint32_t node)
{
	set_up();
	lay_out(seed);
	add_path(node, 0);
	return path_at(cache, cache->last);
}

/* Return the end of a path's steps, which are padded to whole groups. */
static uintptr_t
end_of_steps(const struct path *path)
{
	const uint32_t n =
		(path->count + PATH_GROUP - 1u) / PATH_GROUP * PATH_GROUP;

	return (uintptr_t)&path->step[path->is_wide ? 2 * n : n];
}

/* Check that the pool has room for all of the only path. */
static void
check_lines(void)
{
	struct path *const path = path_at(cache, cache->last);

	ck_assert_uint_eq(cache->last, 1);
	ck_assert_uint_le(end_of_steps(path),
			  (uintptr_t)path_at(cache, cache->used));
	ck_assert_uint_le((uintptr_t)(path_marks(cache, 1) + path->count),
			  (uintptr_t)path_marks(cache, cache->used));
}

START_TEST(a_path_has_all_its_lines)
{
	for (uint32_t seed = 1; seed < 200; seed++) {
		keep_alone(seed, 5);
		check_lines();
	}
}
END_TEST

/*
 * A signal handler forks just before path_sum(), and the child finds some or
 * all of the path wiped.
 */
START_TEST(a_fork_may_wipe_a_path)
{
	unsigned wide_count = 0;

	for (uint32_t seed = 1; seed < 40; seed++) {
		struct path *const path = keep_alone(seed, 5);
		const uint64_t sum = path->sum;

		wide_count += path->is_wide;
		ck_assert_uint_eq(path_sum(path, &here), sum);
		memset(path->step, 0, path->count);
		ck_assert_uint_ne(path_sum(path, &here), sum);
		memset(path, 0, sizeof(*path));
		ck_assert_uint_ne(path_sum(path, &here), sum);
		ck_assert_uint_ne(path_sum(path, &here), path->sum);
		ck_assert_uint_eq(find(0), 0);
	}
	ck_assert_uint_gt(wide_count, 0);
}
END_TEST

static unsigned
step_before(const struct path *path, uint32_t i)
{
	uint16_t step;

	if (!path->is_wide)
		return path->step[i];
	memcpy(&step, &path->step[2 * i], sizeof(step));
	return step;
}

/* Check the marks of the path at place 1. */
static void
check_marks(const struct path *path)
{
	const uintptr_t *word = (const uintptr_t *)here.sp;

	for (uint32_t i = 0; i < path->count; i++) {
		word += step_before(path, i);
		ck_assert_uint_eq(path_marks(cache, 1)[i], path_mark(*word));
	}
}

/*
 * A fork that interrupts a search leaves the child with an empty pool, and with
 * a place from before the fork.
 */
START_TEST(an_old_place_changes_no_new_path)
{
	unsigned long_count = 0, wide_count = 0;

	for (uint32_t seed = 1; seed < 200; seed++) {
		struct path *path;

		set_up();
		lay_out(seed);
		for (unsigned i = 0; i < PATH_TIMES; i++) {
			cache->last = 2;
			add(5, 0);
		}
		path = path_at(cache, 1);
		long_count += path->count > 16;
		wide_count += path->is_wide;
		check_marks(path);
	}
	ck_assert_uint_gt(long_count, 10);
	ck_assert_uint_gt(wide_count, 10);
}
END_TEST

START_TEST(nothing_is_read_beyond_the_end)
{
	uintptr_t last;

	keep_alone(7, 5);
	ck_assert_uint_ge(walk.count, 2);
	last = walk.place[0].slot;
	ck_assert_uint_eq(find_below(last + 8, 0), 5);
	ck_assert_uint_eq(find_below(last, 0), 0);
}
END_TEST

/* Where the frame at 'idx' has its frame pointer from. */
static uintptr_t *
source_of_frame_pointer(uint32_t idx)
{
	for (uint32_t i = idx + 1; i < walk.count; i++)
		if (walk.frame[i].bp_slot != WALK_BP_KEPT)
			return (uintptr_t *)walk.frame[i].bp_slot;
	return first_frame_pointer();
}

/* With another word there, the stack is another one. */
static void
check_word(uintptr_t *word)
{
	*word ^= (uintptr_t)1 << 44;
	ck_assert_uint_eq(find(0), 0);
	*word ^= (uintptr_t)1 << 44;
	ck_assert_uint_ne(find(0), 0);
}

START_TEST(each_word_of_a_path_counts)
{
	for (uint32_t seed = 1; seed < 200; seed++) {
		/* Paths of other seeds may take the entries of this one. */
		keep_alone(seed, seed);
		ck_assert_uint_eq(find(0), seed);
		for (uint32_t i = 0; i < walk.count; i++) {
			check_word((uintptr_t *)walk.place[i].slot);
			if (walk.frame[i].is_by_bp)
				check_word(source_of_frame_pointer(i));
		}
		for (unsigned i = 0; i < 2; i++)
			check_word((uintptr_t *)(here.sp +
						 walk_last_exit(&walk)
							 ->hidden_slot[i]));
	}
}
END_TEST

/* Exchange two words.  If they differ, the stack is another one. */
static void
check_exchange(uintptr_t *a, uintptr_t *b)
{
	const uintptr_t a_value = *a, b_value = *b;

	*a = b_value;
	*b = a_value;
	if (a_value != b_value)
		ck_assert_uint_eq(find(0), 0);
	/* Change both words by the same number, in opposite directions. */
	for (uintptr_t d = 1; d < 1ul << 46; d *= 8) {
		*a = a_value + d;
		*b = b_value - d;
		ck_assert_uint_eq(find(0), 0);
	}
	*a = a_value;
	*b = b_value;
	ck_assert_uint_ne(find(0), 0);
}

START_TEST(the_places_of_values_count)
{
	for (uint32_t seed = 1; seed < 200; seed++) {
		keep_alone(seed, seed);
		for (uint32_t i = 0; i < walk.count; i++)
			for (uint32_t j = 0; j < i; j++)
				check_exchange((uintptr_t *)walk.place[i].slot,
					       (uintptr_t *)walk.place[j].slot);
	}
}
END_TEST

/* The stack 5 was larger when its path was made. */
START_TEST(a_path_beyond_the_outermost_frame_is_not_read)
{
	struct path *const path = keep_alone(7, 5);

	path->step[path->count - 1] = UINT8_MAX;
	path->reach = UINT16_MAX;
	add(5, 0);
	ck_assert_uint_eq(find(0), 5);
	ck_assert_ptr_ne(path, path_at(cache, cache->last));
}
END_TEST

START_TEST(what_cannot_be_compared_is_not_kept)
{
	set_up();
	lay_out(7);
	walk.frame[0].bp_slot = WALK_BY_ROW;
	add_path(5, 0);
	ck_assert_uint_eq(find(0), 0);
	lay_out(8);
	walk.end = WALK_LOST;
	add_path(5, 0);
	ck_assert_uint_eq(find(0), 0);
	/* After the exit, the walk has found more hidden frames. */
	lay_out(9);
	ck_assert_uint_ge(walk.count, 2);
	walk.count--;
	add_path(5, 0);
	ck_assert_uint_eq(find(0), 0);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		what_is_found_is_what_is_there,
		paths_in_the_same_order,
		more_paths_than_have_room,
		a_path_is_kept_when_it_comes_often,
		each_stack_is_counted_on_its_own,
		a_path_has_all_its_lines,
		a_fork_may_wipe_a_path,
		an_old_place_changes_no_new_path,
		nothing_is_read_beyond_the_end,
		each_word_of_a_path_counts,
		the_places_of_values_count,
		a_path_beyond_the_outermost_frame_is_not_read,
		what_cannot_be_compared_is_not_kept,
	};

	return hand_run("path cache", tests, sizeof(tests) / sizeof(tests[0]));
}
