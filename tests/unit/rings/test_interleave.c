/* SPDX-License-Identifier: MIT */
/*
 * test_interleave.c - a process that is killed at any step loses no event
 *
 * This test enumerates the protocol of image.h.  It runs actors, which do the
 * steps of the real threads, in every order.  The actors are the writer, which
 * drains, writes blocks (partial ones too), commits and releases room, and two
 * of these threads: one whose ring is full and wraps around during a realloc,
 * and one that gets the old block of that realloc; or one that ends, and one
 * that reuses its ring or takes it over with the events in it.  image.c is
 * compiled here with a step after each of its stores.  A state that another
 * order has reached before is not explored again.
 *
 * After every step the process is killed: its memory is written to a file, the
 * bytes of the trace to another, and hatf_recover() makes a trace of the two.
 * That trace must have every published event once, the events of each thread in
 * order, and all of them in an order that is possible.
 *
 * runs early: it takes half a minute under a sanitizer
 */
#include "tests/unit/support/checks.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hatf/hatf.h"
#include "tests/unit/support/interleave_model.h"
#include "tests/unit/support/sample.h"

/* --------------------------------------------------------------- the kill */

static char dir[64], rings_path[96], trace_path[96];

static void
write_file(const char *path, const void *bytes, size_t nbytes)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, nbytes), (ssize_t)nbytes);
	close(fd);
}

static void
recover(void)
{
	struct hatf_recovery found = { .struct_nbytes = sizeof(found) };
	struct hatf_error err;
	const enum hatf_status status =
		hatf_recover(rings_path, NULL, 0, &found, &err);

	ck_assert_msg(status == HATF_OK, "recover: %s, %s",
		      hatf_status_text(status),
		      err.field != NULL ? err.field : "");
	ck_assert(found.complete);
	ck_assert_int_ne(access(rings_path, F_OK), 0);
}

/* Check that a record is the next event of its thread. */
static void
match(unsigned *seen, const struct hatf_record *rec)
{
	const uint64_t id = rec->thread;
	const struct done *d;

	ck_assert_uint_lt(id, THREADS);
	ck_assert_msg(seen[id] < model.done_count[id],
		      "thread %u: an event that was not published",
		      (unsigned)id);
	d = &model.done[id][seen[id]++];
	ck_assert_uint_eq(rec->tag, d->tag);
	ck_assert_uint_eq(rec->address, d->address);
}

/*
 * Check the next record of the trace; NULL starts a new trace.  If the old
 * block of a realloc was reused before its end was published, the trace has a
 * free, which the thread has not published, and an allocation.
 */
static void
match_record(unsigned *seen, struct hatf_record *rec, unsigned *announced)
{
	static bool early; /* this trace had the free */

	if (rec == NULL) {
		early = false;
		return;
	}
	if (rec->tag > HATF_REALLOC_FREE)
		return;
	if (*announced > 0) {
		--*announced;
		return;
	}
	if (!early && rec->tag == HATF_FREE && rec->thread == 0 &&
	    rec->address == BLOCK_A) {
		ck_assert(model.old_is_free);
		ck_assert_uint_ge(seen[0], model.done_count[0] - 1);
		early = true;
		return;
	}
	/* The allocation of the same realloc. */
	if (early && rec->tag == HATF_ALLOC && rec->thread == 0) {
		rec->tag = HATF_REALLOC_ALLOC_FREE;
		match(seen, rec);
		return;
	}
	if (rec->tag == HATF_REALLOC_ALLOC_FREE)
		*announced = 2;
	match(seen, rec);
}

/* Check that no live block is allocated and no free block is freed. */
static void
check_story(bool *live, const struct hatf_record *rec)
{
	const uint64_t block = rec->address / 0x1000;

	if (rec->tag > HATF_FREE)
		return;
	ck_assert_uint_lt(block, 8);
	ck_assert_msg(live[block] == (rec->tag == HATF_FREE), "block %u is %s",
		      (unsigned)block,
		      live[block] ? "allocated while live"
				  : "freed while not live");
	live[block] = rec->tag == HATF_ALLOC;
}

/* Check that a thread has one end, after all of its events. */
static void
check_end(bool *has_ended, const struct hatf_record *rec)
{
	if (rec->tag == HATF_COMMENT || rec->tag == HATF_METADATA)
		return;
	ck_assert_uint_lt(rec->thread, THREADS);
	ck_assert_msg(!has_ended[rec->thread],
		      "thread %u: tag %u after its end", (unsigned)rec->thread,
		      rec->tag);
	has_ended[rec->thread] = rec->tag == HATF_DESTROY_THREAD;
}

static void
check_records(void)
{
	bool live[8] = { false }, has_ended[THREADS] = { false };
	struct hatf_reader *reader;
	struct hatf_record batch[64];
	struct hatf_error err;
	enum hatf_status status;
	unsigned seen[THREADS] = { 0 }, announced = 0;
	size_t n;

	ck_assert_int_eq(hatf_reader_open(trace_path, NULL, &reader, &err),
			 HATF_OK);
	match_record(NULL, NULL, NULL);
	while ((status = hatf_reader_read(reader, batch, 64, &n)) == HATF_OK)
		for (size_t i = 0; i < n; i++) {
			check_story(live, &batch[i]);
			check_end(has_ended, &batch[i]);
			match_record(seen, &batch[i], &announced);
		}
	ck_assert_msg(status == HATF_END, "%s", hatf_status_text(status));
	for (unsigned i = 0; i < THREADS; i++)
		ck_assert_msg(seen[i] == model.done_count[i],
			      "thread %u: %u events published, %u recovered", i,
			      model.done_count[i], seen[i]);
	hatf_reader_close(reader);
}

static void
kill_here(void)
{
	write_file(rings_path, memory, sizeof(memory));
	write_file(trace_path, trace_bytes, trace_used);
	recover();
	check_records();
}

/* ------------------------------------------------------------ enumeration */

static uint64_t *visited;
static size_t visited_count, visited_max, kill_count;
static unsigned schedule[STEPS_MAX];

static bool
visit(uint64_t hash)
{
	if (hash == 0)
		hash = 1;
	for (size_t i = hash & (visited_max - 1);; i = (i + 1) % visited_max) {
		if (visited[i] == hash)
			return false;
		if (visited[i] == 0) {
			visited[i] = hash;
			visited_count++;
			ck_assert_uint_lt(visited_count, visited_max / 2);
			return true;
		}
	}
}

/* Replay the first 'depth' steps of the schedule. */
static void
replay(unsigned depth)
{
	begin_world();
	for (unsigned i = 0; i < depth; i++)
		run_step(schedule[i]);
}

static void
explore(unsigned depth)
{
	bool is_first = true;

	ck_assert_uint_lt(depth, STEPS_MAX);
	for (unsigned i = 0; i < ACTORS; i++) {
		if (!is_first)
			replay(depth);
		if (!is_runnable(i))
			continue;
		is_first = false;
		schedule[depth] = i;
		run_step(i);
		const uint64_t remains = hash_remains();

		if (!visit(hash_world(remains)))
			continue;
		/* A kill here has one result, whichever actor would be next. */
		if (visit(remains) &&
		    kill_count++ % SAMPLE_STEP == SAMPLE_FIRST)
			kill_here();
		explore(depth + 1);
	}
}

static void
explore_all(const char *what, size_t least)
{
	visited_count = kill_count = 0;
	visited_max = 1u << 18;
	visited = calloc(visited_max, sizeof(*visited));
	ck_assert_ptr_nonnull(visited);
	begin_world();
	kill_here();
	explore(0);
	printf("test_interleave: %s: %zu states, %zu kills\n", what,
	       visited_count - kill_count, kill_count);
	ck_assert_uint_gt(kill_count, least);
	free(visited);
}

START_TEST(test_wrap_and_reuse)
{
	has_thread[0] = has_thread[1] = true;
	has_thread[2] = takes_over = false;
	rounds = 2;
	in_words = _i == 1;
	explore_all(in_words ? "wrap and reuse, in words" : "wrap and reuse",
		    500);
}
END_TEST

START_TEST(test_ring_of_another_life)
{
	has_thread[0] = takes_over = false;
	has_thread[1] = has_thread[2] = true;
	rounds = 4;
	explore_all("another life", 200);
}
END_TEST

START_TEST(test_ring_taken_over)
{
	has_thread[0] = false;
	has_thread[1] = has_thread[2] = takes_over = true;
	rounds = 4;
	explore_all("taken over", 500);
}
END_TEST

static void
set_up(void)
{
	strcpy(dir, access("/dev/shm", W_OK) == 0 ? "/dev/shm/hatf.XXXXXX"
						  : "/tmp/hatf.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(rings_path, sizeof(rings_path), "%s/trace.rings", dir);
	snprintf(trace_path, sizeof(trace_path), "%s/trace", dir);
	for (unsigned i = 0; i < ACTORS; i++)
		actors[i].stack = malloc(STACK);
	narrator_memory = aligned_alloc(
		64, (narrate_memory_nbytes(false) + 63) & ~(size_t)63);
}

static void
tear_down(void)
{
	unlink(rings_path);
	unlink(trace_path);
	rmdir(dir);
	for (unsigned i = 0; i < ACTORS; i++)
		free(actors[i].stack);
	free(narrator_memory);
}

int
main(void)
{
	Suite *const s = suite_create("interleave");
	TCase *const tc = tcase_create("interleave");
	SRunner *const runner = srunner_create(s);

	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, test_wrap_and_reuse, 0, 2);
	tcase_add_test(tc, test_ring_of_another_life);
	tcase_add_test(tc, test_ring_taken_over);
	suite_add_tcase(s, tc);
	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
