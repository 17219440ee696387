/* SPDX-License-Identifier: MIT */
/*
 * test_stack_table.c - each call stack has one number, and keeps it
 *
 * A stack is found by its parent and its address, and not before it is
 * inserted.  Equal stacks get one number, whichever thread is first.  A full
 * table refuses new stacks, counts them, and still has the old ones.
 */
#include "preload/stacks/stack_table.h"

#include <pthread.h>
#include <sys/wait.h>

#include "tests/unit/support/hand.h"

#define THREADS 4
/* More than the table has buckets, so that several share one. */
#define STACKS 600000u

/* As capture.c does.  Return 0 if the table is full. */
static uint32_t
intern(uint32_t parent, uint64_t frame)
{
	uint32_t id = stack_table_find(parent, stack_frame_address(frame));

	if (id != 0)
		return id;
	id = stack_table_claim(parent, frame);
	return id != 0 ? stack_table_insert(id) : 0;
}

static void
check_node(uint32_t id, uint32_t parent, uint64_t frame)
{
	const struct stack_image_node *const node = stack_table_node(id);

	ck_assert_uint_eq(node->parent, parent);
	ck_assert_uint_eq(node->frame, frame);
	ck_assert_uint_ne(node->frame_id, 0);
}

START_TEST(a_stack_is_found_once_it_is_inserted)
{
	const uint64_t frame = stack_frame(0x1000, 3);
	uint32_t id, count;

	ck_assert(stack_table_init());
	count = stack_table_count();
	ck_assert_uint_eq(stack_table_find(0, 0x1000), 0);
	id = stack_table_claim(0, frame);
	ck_assert_uint_eq(id, count);
	ck_assert_uint_eq(stack_table_count(), count + 1);
	ck_assert_uint_eq(stack_table_find(0, 0x1000), 0);
	ck_assert_uint_eq(stack_table_insert(id), id);
	ck_assert_uint_eq(stack_table_find(0, 0x1000), id);
	ck_assert_uint_eq(stack_table_find(id, 0x1000), 0);
	check_node(id, 0, frame);
}
END_TEST

/*
 * The child of a handler that forks goes on with a number of its parent, but
 * with an empty table.  Once, its stacks became callers of each other in a
 * circle.
 */
START_TEST(a_caller_has_a_smaller_number)
{
	uint32_t stale, id;

	ck_assert(stack_table_init());
	stale = stack_table_count() + 2;
	id = stack_table_claim(stale, stack_frame(0x7000, 1));
	ck_assert_uint_eq(id, 0);
	id = stack_table_claim(stale - 1, stack_frame(0x7001, 1));
	ck_assert_uint_eq(id, 0);
	/* The table goes on. */
	id = intern(0, stack_frame(0x7002, 1));
	ck_assert_uint_ne(id, 0);
	check_node(id, 0, stack_frame(0x7002, 1));
}
END_TEST

START_TEST(parent_and_address_tell_stacks_apart)
{
	const uint64_t frame = stack_frame(0x2000, 1);
	const uint64_t other = stack_frame(0x2001, 1);
	uint32_t root, id, below;

	ck_assert(stack_table_init());
	root = intern(0, frame);
	id = intern(0, other);
	below = intern(root, frame);
	ck_assert(root != id && root != below && id != below);
	ck_assert_uint_eq(stack_table_find(0, 0x2000), root);
	ck_assert_uint_eq(stack_table_find(0, 0x2001), id);
	ck_assert_uint_eq(stack_table_find(root, 0x2000), below);
	/* Equal frames have equal numbers. */
	ck_assert_uint_eq(stack_table_node(root)->frame_id,
			  stack_table_node(below)->frame_id);
	ck_assert_uint_ne(stack_table_node(root)->frame_id,
			  stack_table_node(id)->frame_id);
}
END_TEST

/*
 * With so many stacks, several share a bucket whose addresses are equal, or
 * whose parents are.
 */
START_TEST(stacks_of_one_bucket_are_told_apart)
{
	const uint64_t frame = stack_frame(0x2000, 1);
	uint32_t root, parent, id;

	ck_assert(stack_table_init());
	root = intern(0, frame);
	for (uint32_t i = 1; i < STACKS; i++) {
		const uint64_t callee = stack_frame(0x100000 + i, 1);

		id = intern(root, callee);
		check_node(id, root, callee);
	}
	parent = root;
	for (uint32_t i = 1; i < STACKS; i++) {
		id = intern(parent, frame);
		check_node(id, parent, frame);
		parent = id;
	}
}
END_TEST

START_TEST(equal_stacks_have_one_number)
{
	const uint64_t frame = stack_frame(0x3000, 1);
	uint32_t first, second;

	ck_assert(stack_table_init());
	first = stack_table_claim(0, frame);
	second = stack_table_claim(0, frame);
	ck_assert_uint_ne(first, second);
	ck_assert_uint_eq(stack_table_insert(second), second);
	ck_assert_uint_eq(stack_table_insert(first), second);
	ck_assert_uint_eq(stack_table_find(0, 0x3000), second);
}
END_TEST

START_TEST(a_retired_object_has_no_stacks)
{
	const uint64_t frame = stack_frame(0x4000, 7);
	const uint64_t later = stack_frame(0x4000, 8);
	uint32_t id, next;

	ck_assert(stack_table_init());
	id = intern(0, frame);
	stack_table_retire(7);
	ck_assert_uint_eq(stack_table_find(0, 0x4000), 0);
	next = intern(0, later);
	ck_assert_uint_ne(next, id);
	ck_assert_uint_eq(stack_table_find(0, 0x4000), next);
	check_node(id, 0, frame);
	check_node(next, 0, later);
}
END_TEST

/* What one thread knows of the same tree of stacks. */
struct worker {
	pthread_t thread;
	pthread_barrier_t *start;
	uint32_t count; /* the tree's stacks and 0 */
	uint32_t *ids;	/* of 'count' */
};

/* The stack 'i' is called by 'i' / 2. */
static uint64_t
frame_of(uint32_t i)
{
	return stack_frame(0x5000 + i, 2);
}

static void *
intern_tree(void *context)
{
	const struct worker *const w = context;

	pthread_barrier_wait(w->start);
	for (uint32_t i = 1; i < w->count; i++)
		w->ids[i] = intern(w->ids[i / 2], frame_of(i));
	return NULL;
}

/* Let threads give numbers to the same stacks at once. */
static void
intern_by_threads(uint32_t count)
{
	struct worker workers[THREADS];
	pthread_barrier_t start;

	pthread_barrier_init(&start, NULL, THREADS);
	for (int t = 0; t < THREADS; t++) {
		workers[t].start = &start;
		workers[t].count = count;
		workers[t].ids = calloc(count, sizeof(uint32_t));
		ck_assert_ptr_nonnull(workers[t].ids);
		pthread_create(&workers[t].thread, NULL, intern_tree,
			       &workers[t]);
	}
	for (int t = 0; t < THREADS; t++)
		pthread_join(workers[t].thread, NULL);
	for (uint32_t i = 1; i < count; i++) {
		const uint32_t id = workers[0].ids[i];
		const uint32_t parent = workers[0].ids[i / 2];

		ck_assert_uint_ne(id, 0);
		check_node(id, parent, frame_of(i));
		ck_assert_uint_eq(stack_table_find(parent, 0x5000 + i), id);
		for (int t = 1; t < THREADS; t++)
			ck_assert_uint_eq(workers[t].ids[i], id);
	}
	for (int t = 0; t < THREADS; t++)
		free(workers[t].ids);
	pthread_barrier_destroy(&start);
}

START_TEST(threads_agree_on_the_numbers)
{
	ck_assert(stack_table_init());
	intern_by_threads(STACKS);
}
END_TEST

/*
 * The first entries of a bucket are in another part of the table than the next
 * ones.  Let threads meet at this point often: in the child of a fork, the
 * table is empty again.
 */
START_TEST(threads_agree_while_buckets_become_full)
{
	ck_assert(stack_table_init());
	for (int round = 0; round < 50; round++) {
		const pid_t pid = fork();
		int status;

		if (pid == 0) {
			intern_by_threads(10000);
			_exit(0);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
	}
}
END_TEST

START_TEST(a_segment_has_its_own_definitions)
{
	uint32_t id, before, after;

	ck_assert(stack_table_init());
	id = intern(0, stack_frame(0x6000, 5));
	before = stack_table_generation();
	ck_assert(!stack_table_is_defined(id, before));
	ck_assert(!stack_table_is_object_defined(5, before));
	stack_table_set_defined(id, before);
	ck_assert(stack_table_is_defined(id, before));
	ck_assert(!stack_table_is_object_defined(5, before));
	stack_table_set_object_defined(5, before);
	ck_assert(stack_table_is_object_defined(5, before));
	stack_table_begin_segment();
	after = stack_table_generation();
	ck_assert_uint_eq(after, before + 1);
	ck_assert(!stack_table_is_defined(id, after));
	ck_assert(!stack_table_is_object_defined(5, after));
	/* The stack itself stays. */
	ck_assert_uint_eq(stack_table_find(0, 0x6000), id);
}
END_TEST

/* Is the table as it was at the start? */
static bool
is_empty(uint32_t id)
{
	return stack_table_count() == 1 && stack_table_full() == 0 &&
	       stack_table_generation() == 1 &&
	       !stack_table_is_defined(id, 1) &&
	       stack_table_find(0, 0x7000) == 0 &&
	       intern(0, stack_frame(0x7001, 1)) == 1;
}

START_TEST(the_child_of_a_fork_begins_again)
{
	uint32_t id;
	int status;
	pid_t pid;

	ck_assert(stack_table_init());
	id = intern(0, stack_frame(0x7000, 1));
	stack_table_set_defined(id, stack_table_generation());
	stack_table_begin_segment();
	pid = fork();
	if (pid == 0)
		_exit(is_empty(id) ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(stack_table_find(0, 0x7000), id);
}
END_TEST

/* This one fills the table: it must be the last. */
START_TEST(a_full_table_counts_what_it_refuses)
{
	const uint64_t frame = stack_frame(0x8000, 1);
	uint32_t first, last = 0, id;

	ck_assert(stack_table_init());
	first = intern(0, frame);
	ck_assert_uint_eq(stack_table_full(), 0);
	/* The parent makes the difference, so that there is one frame. */
	for (id = stack_table_claim(first, frame); id != 0;
	     id = stack_table_claim(id, frame))
		last = id;
	ck_assert_uint_eq(last, STACK_TABLE_MAX - 1);
	ck_assert_uint_eq(stack_table_count(), STACK_TABLE_MAX);
	ck_assert_uint_eq(stack_table_full(), 1);
	ck_assert_uint_eq(stack_table_claim(0, stack_frame(0x8001, 1)), 0);
	ck_assert_uint_eq(stack_table_claim(first, frame), 0);
	ck_assert_uint_eq(stack_table_full(), 3);
	ck_assert_uint_eq(stack_table_count(), STACK_TABLE_MAX);
	/* What has a number keeps it. */
	ck_assert_uint_eq(intern(0, frame), first);
	ck_assert_uint_eq(stack_table_insert(last), last);
	check_node(last, last - 1, frame);
	ck_assert_uint_eq(stack_table_find(last - 1, 0x8000), last);
	ck_assert_uint_eq(stack_table_full(), 3);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_stack_is_found_once_it_is_inserted,
		parent_and_address_tell_stacks_apart,
		a_caller_has_a_smaller_number,
		stacks_of_one_bucket_are_told_apart,
		equal_stacks_have_one_number,
		a_retired_object_has_no_stacks,
		threads_agree_on_the_numbers,
		threads_agree_while_buckets_become_full,
		a_segment_has_its_own_definitions,
		the_child_of_a_fork_begins_again,
		a_full_table_counts_what_it_refuses,
	};

	return hand_run("stack table", tests, sizeof(tests) / sizeof(tests[0]));
}
