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
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "tests/unit/support/hand.h"
#include "tests/unit/support/sample.h"

#define THREADS 4
/* More than a part of the hash table has lines, so that several share one. */
#define STACKS 600000u

/* Keys that make few stacks share a line of the hash table. */
static uint64_t
key_of(uint32_t parent, uint64_t address)
{
	return address ^ parent * 0xff51afd7ed558ccdull;
}

static uint32_t
find(uint32_t parent, uint64_t address)
{
	return stack_table_find(key_of(parent, address), parent, address);
}

/* As capture.c does.  Return 0 if the table is full. */
static uint32_t
intern_at(uint64_t key, uint32_t parent, uint64_t frame)
{
	uint32_t id = stack_table_find(key, parent, stack_frame_address(frame));

	if (id != 0)
		return id;
	id = stack_table_claim(parent, frame);
	return id != 0 ? stack_table_insert(key, id) : 0;
}

static uint32_t
intern(uint32_t parent, uint64_t frame)
{
	return intern_at(key_of(parent, stack_frame_address(frame)), parent,
			 frame);
}

static void
insert(uint32_t id)
{
	const struct stack_image_node *const node = stack_table_node(id);
	const uint64_t key =
		key_of(node->parent, stack_frame_address(node->frame));

	ck_assert_uint_eq(stack_table_insert(key, id), id);
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
	ck_assert_uint_eq(find(0, 0x1000), 0);
	id = stack_table_claim(0, frame);
	ck_assert_uint_eq(id, count);
	ck_assert_uint_eq(stack_table_count(), count + 1);
	ck_assert_uint_eq(find(0, 0x1000), 0);
	insert(id);
	ck_assert_uint_eq(find(0, 0x1000), id);
	ck_assert_uint_eq(find(id, 0x1000), 0);
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
	ck_assert_uint_eq(find(0, 0x2000), root);
	ck_assert_uint_eq(find(0, 0x2001), id);
	ck_assert_uint_eq(find(root, 0x2000), below);
	/* Equal frames have equal numbers. */
	ck_assert_uint_eq(stack_table_node(root)->frame_id,
			  stack_table_node(below)->frame_id);
	ck_assert_uint_ne(stack_table_node(root)->frame_id,
			  stack_table_node(id)->frame_id);
}
END_TEST

/*
 * With so many stacks, several share a line whose addresses are equal, or whose
 * parents are.
 */
START_TEST(stacks_of_one_line_are_told_apart)
{
	const uint64_t frame = stack_frame(0x2000, 1);
	uint32_t root, parent, id;

	if (SAMPLE_IS_TSAN)
		return;
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

/* More than three lines have slots for. */
#define EQUAL_KEYS 200u

/*
 * Return a key whose slots begin in the last line of the hash table's last
 * part, so that they continue in the first line.  Its product with the factor
 * of stack_table.c has all bits set.
 */
static uint64_t
last_key(void)
{
	const uint64_t factor = 0x9e3779b97f4a7c15ull;
	uint64_t inverse = factor;

	for (int i = 0; i < 6; i++)
		inverse *= 2 - factor * inverse;
	ck_assert_uint_eq(factor * inverse, 1);
	return -inverse;
}

START_TEST(stacks_with_one_key_are_told_apart)
{
	const uint64_t keys[] = { 0, 1, last_key() };

	ck_assert(stack_table_init());
	for (unsigned k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		uint32_t ids[EQUAL_KEYS] = { 0 };

		for (uint32_t i = 1; i < EQUAL_KEYS; i++) {
			const uint64_t frame = stack_frame(0x9000 + i, k);

			ids[i] = intern_at(keys[k], ids[i / 2], frame);
			check_node(ids[i], ids[i / 2], frame);
		}
		for (uint32_t i = 1; i < EQUAL_KEYS; i++)
			ck_assert_uint_eq(stack_table_find(keys[k], ids[i / 2],
							   0x9000 + i),
					  ids[i]);
		ck_assert_uint_eq(stack_table_find(keys[k], ids[1], 0x9000), 0);
	}
}
END_TEST

START_TEST(equal_stacks_have_one_number)
{
	const uint64_t frame = stack_frame(0x3000, 1);
	const uint64_t key = key_of(0, 0x3000);
	uint32_t first, second;

	ck_assert(stack_table_init());
	first = stack_table_claim(0, frame);
	second = stack_table_claim(0, frame);
	ck_assert_uint_ne(first, second);
	insert(second);
	ck_assert_uint_eq(stack_table_insert(key, first), second);
	ck_assert_uint_eq(find(0, 0x3000), second);
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
	ck_assert_uint_eq(find(0, 0x4000), 0);
	next = intern(0, later);
	ck_assert_uint_ne(next, id);
	ck_assert_uint_eq(find(0, 0x4000), next);
	check_node(id, 0, frame);
	check_node(next, 0, later);
}
END_TEST

/* What one thread knows of the same tree of stacks. */
struct worker {
	pthread_t thread;
	pthread_barrier_t *start;
	uint32_t count; /* the tree's stacks and 0 */
	/* The stacks have so many keys; 0: as many as key_of() makes. */
	uint32_t key_count;
	uint32_t *ids; /* of 'count' */
};

/* The stack 'i' is called by 'i' / 2. */
static uint64_t
frame_of(uint32_t i)
{
	return stack_frame(0x5000 + i, 2);
}

/* Return the key of the stack 'i', which has the caller 'parent'. */
static uint64_t
tree_key(const struct worker *w, uint32_t i, uint32_t parent)
{
	return w->key_count != 0 ? i % w->key_count
				 : key_of(parent, 0x5000 + i);
}

static void *
intern_tree(void *context)
{
	const struct worker *const w = context;

	pthread_barrier_wait(w->start);
	for (uint32_t i = 1; i < w->count; i++) {
		const uint32_t parent = w->ids[i / 2];

		w->ids[i] =
			intern_at(tree_key(w, i, parent), parent, frame_of(i));
	}
	return NULL;
}

/* Let threads give numbers to the same stacks at once. */
static void
intern_by_threads(uint32_t count, uint32_t key_count)
{
	struct worker workers[THREADS];
	pthread_barrier_t start;

	pthread_barrier_init(&start, NULL, THREADS);
	for (int t = 0; t < THREADS; t++) {
		workers[t].start = &start;
		workers[t].count = count;
		workers[t].key_count = key_count;
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
		ck_assert_uint_eq(
			stack_table_find(tree_key(&workers[0], i, parent),
					 parent, 0x5000 + i),
			id);
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
	intern_by_threads(STACKS, 0);
}
END_TEST

/*
 * Let threads meet often at the end of a line, where the next slot is in
 * another part of the hash table: in the child of a fork, the table is empty
 * again.
 */
static void
intern_in_children(int children, uint32_t count, uint32_t key_count)
{
	ck_assert(stack_table_init());
	for (int i = 0; i < children; i++) {
		const pid_t pid = fork();
		int status;

		if (pid == 0) {
			intern_by_threads(count, key_count);
			_exit(0);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
	}
}

START_TEST(threads_agree_while_lines_become_full)
{
	intern_in_children(50, 10000, 0);
}
END_TEST

START_TEST(threads_agree_on_stacks_with_equal_keys)
{
	intern_in_children(50, 1000, 5);
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
	ck_assert_uint_eq(find(0, 0x6000), id);
}
END_TEST

/* Is the table as it was at the start? */
static bool
is_empty(uint32_t id)
{
	return stack_table_count() == 1 && stack_table_full() == 0 &&
	       stack_table_generation() == 1 &&
	       !stack_table_is_defined(id, 1) && find(0, 0x7000) == 0 &&
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
	ck_assert_uint_eq(find(0, 0x7000), id);
}
END_TEST

static volatile sig_atomic_t fork_count, is_child;

static void
fork_in_handler(int sig)
{
	const pid_t pid = fork();

	(void)sig;
	if (pid == 0)
		is_child = 1;
	if (pid > 0)
		fork_count = fork_count + 1;
}

/*
 * In the child, a search or an insertion continues in the wiped table.  It must
 * end, and later stacks must get numbers.
 */
static void
continue_in_child(void)
{
	signal(SIGALRM, SIG_DFL);
	alarm(60);
	for (uint32_t i = 0; i < 500; i++) {
		const uint64_t frame = stack_frame(0xa000 + i, 1);
		const uint32_t id = intern_at(i % 3, 0, frame);

		if (id == 0 || stack_table_node(id)->frame != frame ||
		    stack_table_node(id)->parent != 0 ||
		    stack_table_find(i % 3, 0, 0xa000 + i) != id)
			_exit(1);
	}
	_exit(0);
}

START_TEST(a_handler_may_fork_at_any_point)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = fork_in_handler,
				    .sa_flags = SA_RESTART };
	int status, ended = 0;

	ck_assert(stack_table_init());
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
	/* Some stacks share lines.  There are more searches than insertions. */
	for (uint32_t i = 0; fork_count < 100; i = (i + 1) % STACKS) {
		intern_at(i % 2 != 0 ? i : i % 64, 0,
			  stack_frame(0x10000 + i, 1));
		if (is_child)
			continue_in_child();
	}
	ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
	ck_assert(signal(SIGALRM, SIG_DFL) != SIG_ERR);
	/* The last signal may come after the loop. */
	if (is_child)
		continue_in_child();
	for (; ended < fork_count; ended++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
}
END_TEST

/* This one fills the table: it must be the last. */
START_TEST(a_full_table_counts_what_it_refuses)
{
	const uint64_t frame = stack_frame(0x8000, 1);
	uint32_t first, last = 0, id;

	if (SAMPLE_IS_TSAN)
		return;
	ck_assert(stack_table_init());
	first = intern(0, frame);
	ck_assert_uint_eq(stack_table_full(), 0);
	/*
	 * The parent makes the difference, so that there is one frame.  Insert
	 * every second stack, which uses all parts of the hash table.
	 */
	for (id = stack_table_claim(first, frame); id != 0;
	     id = stack_table_claim(id, frame)) {
		last = id;
		if (id % 2 != 0)
			insert(id);
	}
	ck_assert_uint_eq(last, STACK_TABLE_MAX - 1);
	ck_assert_uint_eq(stack_table_count(), STACK_TABLE_MAX);
	ck_assert_uint_eq(stack_table_full(), 1);
	ck_assert_uint_eq(stack_table_claim(0, stack_frame(0x8001, 1)), 0);
	ck_assert_uint_eq(stack_table_claim(first, frame), 0);
	ck_assert_uint_eq(stack_table_full(), 3);
	ck_assert_uint_eq(stack_table_count(), STACK_TABLE_MAX);
	/* What has a number keeps it. */
	ck_assert_uint_eq(intern(0, frame), first);
	for (id = last; id > first + 62; id -= 62)
		ck_assert_uint_eq(find(id - 1, 0x8000), id);
	check_node(last, last - 1, frame);
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
		stacks_of_one_line_are_told_apart,
		stacks_with_one_key_are_told_apart,
		equal_stacks_have_one_number,
		a_retired_object_has_no_stacks,
		threads_agree_on_the_numbers,
		threads_agree_while_lines_become_full,
		threads_agree_on_stacks_with_equal_keys,
		a_segment_has_its_own_definitions,
		the_child_of_a_fork_begins_again,
		a_handler_may_fork_at_any_point,
		a_full_table_counts_what_it_refuses,
	};

	return hand_run("stack table", tests, sizeof(tests) / sizeof(tests[0]));
}
