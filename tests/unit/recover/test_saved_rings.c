/* SPDX-License-Identifier: MIT */
/*
 * test_saved_rings.c - the reader of ring files stays within bounds for any
 * input
 *
 * Make a small ring file with the code that makes real ones.  Truncate it at
 * every byte, and replace every word of its headers and events by extreme
 * values.  Reading and draining it must succeed, or fail with the name of the
 * invalid field; under the sanitizers, nothing else may happen.  Also test what
 * recovery does with a file in which nothing has been committed.
 */
#include "tests/unit/support/checks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hatf/recover/saved_rings.h"
#include "hatf/rings/order.h"

#define WORDS	    512
#define RING_NBYTES (RING_HEADER_NBYTES + WORDS * sizeof(uint64_t))
#define FILE_NBYTES (IMAGE_HEADER_NBYTES + 2 * RING_NBYTES)

static _Alignas(4096) uint8_t file[FILE_NBYTES];
static unsigned event_count;

static void
put(struct ring *r, uint64_t *head, unsigned n, const uint64_t *words)
{
	for (unsigned i = 0; i < n; i++)
		ring_put(r, (*head)++, words[i]);
	ring_publish(r, *head);
}

/* Two rings; the events of the first one before 'pos' 4 are in the trace. */
static void
make_file(void)
{
	static const uint64_t boot_id[2];
	struct image *const image = (struct image *)file;
	struct image_commit commit = { .grain = 1, .unit_ns = 1000 };
	struct order_producer producer = { .pos = 4, .stamp = 2 };
	uint64_t head = 0;
	struct ring *r;

	memset(file, 0, sizeof(file));
	image_init(image, boot_id, 1);
	strcpy(image->trace[0].path, "trace");
	r = image_init_ring(file + IMAGE_HEADER_NBYTES, IMAGE_HEADER_NBYTES,
			    WORDS, WORDS);
	image_begin_ring(r, 0, false);
	for (unsigned i = 0; i < 4; i++)
		put(r, &head, 2,
		    (uint64_t[]){ 8ull << EVENT_SIZE_SHIFT | (i + 1) << 12 |
					  EVENT_KIND_ALLOC_STAMPED,
				  i + 1 });
	put(r, &head, 3,
	    (uint64_t[]){ event_wide(EVENT_REALLOC_BEGIN, 3, 0), 9, 1 << 12 });
	image_commit_ring(r, &producer, false, 1);
	image_commit(image, &commit);
	r = image_init_ring(file + IMAGE_HEADER_NBYTES + RING_NBYTES,
			    IMAGE_HEADER_NBYTES + RING_NBYTES, WORDS, WORDS);
	image_begin_ring(r, 1, false);
	head = 0;
	put(r, &head, 5,
	    (uint64_t[]){ event_wide(EVENT_THREAD, 5, 0), 5, 0, 1, 2 });
	put(r, &head, 2,
	    (uint64_t[]){ 1 << 12 | EVENT_KIND_ALLOC_STAMPED, 10 });
}

static void
count_event(void *context, const struct order_producer *producer,
	    const struct event *ev)
{
	(void)context;
	(void)producer;
	(void)ev;
	event_count++;
}

static void
drain(struct saved_rings *set)
{
	struct order_producer **const producers =
		calloc(2 * (size_t)set->count + 1, sizeof(*producers));
	struct order order;

	ck_assert_ptr_nonnull(producers);
	order_init(&order, producers + set->count, set->count, count_event,
		   NULL);
	for (uint32_t i = 0; i < set->count; i++)
		producers[i] = &set->rings[i].producer;
	order_round(&order, producers, set->count, UINT64_MAX, true);
	free(producers);
}

static enum hatf_status
read_file(size_t nbytes, bool salvage)
{
	const int fd = memfd_create("rings", 0);
	struct saved_rings set;
	struct hatf_error err = { .status = HATF_OK };
	enum hatf_status status;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, file, nbytes), (ssize_t)nbytes);
	event_count = 0;
	status = saved_rings_read(&set, fd, salvage, &err);
	if (status == HATF_OK) {
		drain(&set);
	} else {
		ck_assert_int_eq(status, err.status);
		ck_assert(status == HATF_BAD_RINGS || status == HATF_LIMIT ||
			  status == HATF_NO_MEMORY);
		ck_assert(status == HATF_NO_MEMORY || err.field != NULL);
	}
	saved_rings_fini(&set);
	close(fd);
	return status;
}

START_TEST(test_whole)
{
	make_file();
	ck_assert_int_eq(read_file(sizeof(file), false), HATF_OK);
	/*
	 * Two allocs, the end of the thread, the early free, and the alloc that
	 * reuses the freed address.
	 */
	ck_assert_uint_eq(event_count, 5);
}
END_TEST

START_TEST(test_cut_off_anywhere)
{
	make_file();
	for (size_t n = 0; n < sizeof(file); n++) {
		const enum hatf_status status = read_file(n, n % 2 != 0);

		/* The recorder leaves an empty file if it is killed early. */
		if (n > 0 && n < IMAGE_HEADER_NBYTES)
			ck_assert_int_eq(status, HATF_BAD_RINGS);
	}
}
END_TEST

/* Flip each bit of the slot at 'from' alone: a reader detects that. */
static void
flip(size_t from, size_t nbytes)
{
	for (size_t bit = 0; bit < 8 * nbytes; bit++) {
		make_file();
		file[from + bit / 8] ^= (uint8_t)(1u << bit % 8);
		ck_assert_msg(read_file(sizeof(file), false) == HATF_BAD_RINGS,
			      "byte %zu, bit %zu", bit / 8, bit % 8);
	}
}

START_TEST(test_flipped_commits)
{
	flip(offsetof(struct image, commit) + sizeof(struct image_commit),
	     sizeof(struct image_commit));
	flip(IMAGE_HEADER_NBYTES + offsetof(struct ring, commit),
	     sizeof(struct ring_commit));
}
END_TEST

/* Give the commits the right checksums again. */
static void
seal(void)
{
	struct image *const image = (struct image *)file;

	for (unsigned i = 0; i < 2; i++) {
		struct image_commit *const c = &image->commit[i];

		c->sum = image_commit_sum(c, c->seq);
	}
	for (unsigned i = 0; i < 4; i++) {
		struct ring *const r =
			(struct ring *)(file + IMAGE_HEADER_NBYTES +
					i / 2 * RING_NBYTES);
		struct ring_commit *const c = &r->commit[i % 2];

		c->sum = image_ring_commit_sum(c, c->seq);
	}
}

static const uint64_t hostile[] = {
	1,	    UINT64_MAX, UINT64_MAX - 1, INT64_MAX, 1ull << 27,
	1ull << 63, 511,	0xffff0104ull,
};

static void
hurt(size_t from, size_t nbytes)
{
	for (size_t at = from; at < from + nbytes; at += 8)
		for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile);
		     i++) {
			make_file();
			memcpy(file + at, &hostile[i], 8);
			read_file(sizeof(file), false);
			seal();
			read_file(sizeof(file), false);
			read_file(sizeof(file), true);
		}
}

START_TEST(test_hostile_words)
{
	hurt(0, offsetof(struct image, trace) + 32);
	hurt(IMAGE_HEADER_NBYTES, 368);
	hurt(IMAGE_HEADER_NBYTES + RING_HEADER_NBYTES, 96);
	hurt(IMAGE_HEADER_NBYTES + RING_NBYTES, 368);
	hurt(IMAGE_HEADER_NBYTES + RING_NBYTES + RING_HEADER_NBYTES, 64);
}
END_TEST

/* Put several random words in random places; the seed is fixed. */
START_TEST(test_many_at_once)
{
	uint64_t seed = 1;

	for (unsigned round = 0; round < 20000; round++) {
		make_file();
		for (unsigned i = 0; i < 1 + round % 5; i++) {
			uint64_t word;
			size_t at;

			seed = seed * 6364136223846793005ull + 1;
			at = (seed >> 33) % 2 != 0
				     ? IMAGE_HEADER_NBYTES +
					       (seed >> 40) % 2 * RING_NBYTES +
					       (seed >> 48) % 40 * 8
				     : (seed >> 48) % 62 * 8;
			word = file[at];
			seed = seed * 6364136223846793005ull + 1;
			word = (seed >> 60) < 8 ? word + (seed >> 32) % 9 - 4
						: 1ull << (seed >> 40) % 64;
			memcpy(file + at, &word, 8);
		}
		if (round % 8 != 0)
			seal();
		read_file(sizeof(file), round % 2 != 0);
	}
}
END_TEST

static void
put_file(const char *path, const void *bytes, size_t nbytes)
{
	FILE *const f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, nbytes, f), nbytes);
	ck_assert_int_eq(fclose(f), 0);
}

static char dir[32], trace_path[64], rings_path[64];

static void
set_up(void)
{
	strcpy(dir, "/tmp/hatf.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(trace_path, sizeof(trace_path), "%s/trace", dir);
	snprintf(rings_path, sizeof(rings_path), "%s/trace.rings", dir);
}

static void
tear_down(void)
{
	unlink(trace_path);
	unlink(rings_path);
	rmdir(dir);
}

/*
 * Recover a trace of 'n' bytes after its header whose process has committed
 * nothing.
 */
static size_t
begin_anew(const uint8_t *bytes, size_t n, struct hatf_recovery *found_ret)
{
	static const char header[] = "HATF 1.0\nunit=us\npid=1\nstart_time=1\n";
	const size_t length = sizeof(header) - 1;
	uint8_t trace[128] = { HATF_COMMENT, 0, (uint8_t)length };
	struct image *const image = (struct image *)file;
	struct hatf_error err;

	memcpy(trace + 3, header, length);
	if (n > 0)
		memcpy(trace + 3 + length, bytes, n);
	put_file(trace_path, trace, 3 + length + n);
	image->pid = 1;
	strcpy(image->trace[0].path, "trace");
	put_file(rings_path, file, sizeof(file));
	ck_assert_int_eq(hatf_recover(rings_path, NULL, 0, found_ret, &err),
			 HATF_OK);
	ck_assert_int_ne(access(rings_path, F_OK), 0);
	return 3 + length + n;
}

static void
make_empty_file(void)
{
	static const uint64_t boot_id[2];

	memset(file, 0, sizeof(file));
	image_init((struct image *)file, boot_id, 1);
}

/*
 * Before the first commit there are no events.  A file that has one, if only
 * the end of a thread, was not written like this by the process, so its trace
 * must not get a trailer that calls it complete.
 */
START_TEST(test_events_before_first_commit)
{
	static const uint8_t event[] = { HATF_DESTROY_THREAD };
	struct hatf_recovery found = { .struct_nbytes = sizeof(found) };
	struct stat st;
	size_t n;

	make_empty_file();
	n = begin_anew(event, sizeof(event), &found);
	ck_assert_str_eq(found.trace, "");
	ck_assert_int_eq(stat(trace_path, &st), 0);
	ck_assert_uint_eq((uint64_t)st.st_size, n);
}
END_TEST

/* The words in the place of a commit are then not from the process. */
START_TEST(test_no_commit_but_words)
{
	struct image *const image = (struct image *)file;
	struct hatf_recovery found = { .struct_nbytes = sizeof(found) };

	make_empty_file();
	image->commit[0].trace = 33;
	image->commit[0].lost_count = 7;
	begin_anew(NULL, 0, &found);
	ck_assert_str_eq(found.trace, trace_path);
	ck_assert(found.complete);
	ck_assert_uint_eq(found.event_count, 0);
}
END_TEST

/*
 * A process was killed after it had created its ring file and its trace, and
 * before it wrote the magic number.  Recovery removes both files.
 */
static void
recover_unwritten(size_t nbytes)
{
	struct hatf_recovery found = { .struct_nbytes = sizeof(found) };
	struct hatf_error err;

	put_file(trace_path, "", 0);
	put_file(rings_path, file, nbytes);
	ck_assert_int_eq(hatf_recover(rings_path, NULL, 0, &found, &err),
			 HATF_OK);
	ck_assert_str_eq(found.trace, "");
	ck_assert_uint_eq(found.pid, 0);
	ck_assert_int_ne(access(rings_path, F_OK), 0);
	ck_assert_int_ne(access(trace_path, F_OK), 0);
}

START_TEST(test_unwritten)
{
	struct image *const image = (struct image *)file;

	memset(file, 0, sizeof(file));
	recover_unwritten(0);
	recover_unwritten(IMAGE_HEADER_NBYTES);
	/* The recorder writes these before the magic number. */
	image->pid_start = 12345;
	image->file_ino = 7;
	recover_unwritten(sizeof(file));
}
END_TEST

/* Any file of zeros looks like an unwritten ring file, so the name decides. */
START_TEST(test_unwritten_by_another_name)
{
	struct hatf_recovery found = { .struct_nbytes = sizeof(found) };
	struct hatf_error err;

	put_file(trace_path, "", 0);
	ck_assert_int_eq(hatf_recover(trace_path, NULL, 0, &found, &err),
			 HATF_BAD_RINGS);
	ck_assert_str_eq(err.field, "magic");
	ck_assert_int_eq(access(trace_path, F_OK), 0);
}
END_TEST

/*
 * The recorder writes the magic number before the header of the trace, so this
 * ring file is damaged.
 */
START_TEST(test_unwritten_beside_a_header)
{
	struct hatf_recovery found = { .struct_nbytes = sizeof(found) };
	struct hatf_error err;

	memset(file, 0, sizeof(file));
	put_file(trace_path, "x", 1);
	put_file(rings_path, file, sizeof(file));
	ck_assert_int_eq(hatf_recover(rings_path, NULL, 0, &found, &err),
			 HATF_BAD_RINGS);
	ck_assert_str_eq(err.field, "magic");
	ck_assert_int_eq(access(rings_path, F_OK), 0);
	ck_assert_int_eq(access(trace_path, F_OK), 0);
}
END_TEST

/* Without a magic number there are no events, so this file is damaged. */
START_TEST(test_unwritten_with_events)
{
	struct hatf_recovery found = { .struct_nbytes = sizeof(found) };
	struct hatf_error err;

	make_file();
	memset(file, 0, IMAGE_HEADER_NBYTES);
	put_file(rings_path, file, sizeof(file));
	ck_assert_int_eq(hatf_recover(rings_path, NULL, 0, &found, &err),
			 HATF_BAD_RINGS);
	ck_assert_int_eq(access(rings_path, F_OK), 0);
}
END_TEST

int
main(void)
{
	Suite *const s = suite_create("saved_rings");
	TCase *const tc = tcase_create("saved_rings");
	TCase *const anew = tcase_create("no commit");
	SRunner *const runner = srunner_create(s);

	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, test_whole);
	tcase_add_test(tc, test_cut_off_anywhere);
	tcase_add_test(tc, test_flipped_commits);
	tcase_add_test(tc, test_hostile_words);
	tcase_add_test(tc, test_many_at_once);
	tcase_add_checked_fixture(anew, set_up, tear_down);
	tcase_add_test(anew, test_events_before_first_commit);
	tcase_add_test(anew, test_no_commit_but_words);
	tcase_add_test(anew, test_unwritten);
	tcase_add_test(anew, test_unwritten_by_another_name);
	tcase_add_test(anew, test_unwritten_beside_a_header);
	tcase_add_test(anew, test_unwritten_with_events);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, anew);
	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
