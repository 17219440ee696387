/* SPDX-License-Identifier: MIT */
/*
 * test_flips.c - 'hatf verify' detects nearly every flipped bit
 *
 * Flip each bit of a good trace: 'hatf verify' must refuse nearly all results
 * in which an event has changed.  Events are all records except comments and
 * metadata, with all of their fields.
 *
 *	build/plain/tests/unit/tools/commands/test_flips FILE...
 *
 * measures the files: it counts the flips that change an event, and those that
 * verify accepts.  The files are not modified.
 */
#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/sample.h"
#include "tests/unit/support/streams.h"
#include "tools/commands/commands.h"

#include <fcntl.h>
#include <getopt.h>
#include <unistd.h>

#define EVENT_COUNT 120

/* Numbers of flips by their result. */
struct counts {
	uint64_t changed, passed;   /* changed an event; verify accepted it */
	uint64_t unchanged, caught; /* changed no event; verify refused it */
};

/* The file that is flipped, and its name. */
static int file = -1;
static char path[64];

static void
open_file(const uint8_t *bytes, size_t nbytes)
{
	file = memfd_create("flips", MFD_CLOEXEC);
	if (file < 0 || write(file, bytes, nbytes) != (ssize_t)nbytes)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
}

static void
close_file(void)
{
	close(file);
	file = -1;
}

static uint64_t
mix(uint64_t hash, uint64_t n)
{
	hash = (hash ^ n) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

static uint64_t
mix_record(uint64_t hash, const struct hatf_record *r)
{
	hash = mix(mix(mix(hash, r->tag), r->size), r->address);
	hash = mix(mix(mix(hash, r->old_address), r->thread), r->heap);
	hash = mix(mix(hash, r->time), r->attributes_nbytes);
	for (uint32_t i = 0; i < r->attributes_nbytes; i++)
		hash = mix(hash, r->attributes[i]);
	return hash;
}

/* Return a hash of all events that can be read. */
static uint64_t
digest(void)
{
	struct hatf_record records[256];
	struct hatf_reader *reader;
	uint64_t hash = 1;
	size_t n;

	if (hatf_reader_open(path, NULL, &reader, NULL) != HATF_OK)
		return 0;
	while (hatf_reader_read(reader, records, 256, &n) == HATF_OK)
		for (size_t i = 0; i < n; i++)
			if (records[i].tag < HATF_COMMENT)
				hash = mix_record(hash, &records[i]);
	hatf_reader_close(reader);
	return hash;
}

static bool
is_ok(void)
{
	char name[] = "verify", option[] = "--no-parent";
	char *argv[] = { name, option, path, NULL };

	optind = 0;
	return command_verify(3, argv) == 0;
}

static void
note_flip(struct counts *c, uint64_t good)
{
	const bool same = digest() == good;
	const bool ok = is_ok();

	if (same) {
		c->unchanged++;
		c->caught += !ok;
	} else {
		c->changed++;
		c->passed += ok;
	}
}

/* Flip each bit of the file; return false if the file itself is bad. */
static bool
flip_all(const uint8_t *bytes, size_t nbytes, struct counts *c)
{
	uint64_t good;

	open_file(bytes, nbytes);
	good = digest();
	if (!is_ok()) {
		close_file();
		return false;
	}
	for (size_t i = SAMPLE_FIRST; i < 8 * nbytes; i += SAMPLE_STEP) {
		const uint8_t flipped = bytes[i / 8] ^ (uint8_t)(1 << i % 8);

		if (pwrite(file, &flipped, 1, (off_t)(i / 8)) != 1)
			abort();
		note_flip(c, good);
		if (pwrite(file, &bytes[i / 8], 1, (off_t)(i / 8)) != 1)
			abort();
	}
	close_file();
	return true;
}

/* Redirect standard output to /dev/null; return the old descriptor. */
static int
silence(void)
{
	const int out = dup(STDOUT_FILENO);
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (out < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		abort();
	close(null);
	return out;
}

/* ------------------------------------------------------------------- tests */

static struct hatf_record records[3 * EVENT_COUNT + 8];

/* Make the records of a small program of two threads; return their number. */
static size_t
make_records(void)
{
	static const uint8_t parent[] = { HATF_ATTR_PARENT, 0 };
	uint64_t addresses[EVENT_COUNT];
	size_t n = 0, live = 0;
	uint32_t seed = 3;

	records[n++] = (struct hatf_record){ .tag = HATF_CREATE_THREAD,
					     .thread = 1,
					     .attributes = parent,
					     .attributes_nbytes = 2 };
	for (unsigned i = 0; i < EVENT_COUNT; i++) {
		struct hatf_record r = { .tag = HATF_ALLOC,
					 .thread = i % 5 == 0,
					 .time = 10 * i };

		seed = seed * 1664525 + 1013904223;
		r.size = 8 + (seed >> 20) % 200;
		r.address = 0x5555555592a0 + 256 * (uint64_t)i;
		if (live > 4 && (seed >> 16 & 1) != 0) {
			r.tag = HATF_FREE;
			r.size = 0;
			r.address = addresses[--live];
		} else if (live > 4 && (seed >> 17 & 7) == 0) {
			r.tag = HATF_REALLOC_ALLOC_FREE;
			r.old_address = addresses[live - 1];
			addresses[live - 1] = r.address;
			records[n++] = r;
			r.old_address = 0;
			r.tag = HATF_ALLOC;
			records[n++] = r;
			r.tag = HATF_FREE;
			r.size = 0;
			r.address = records[n - 2].old_address;
		} else {
			addresses[live++] = r.address;
		}
		records[n++] = r;
	}
	return n;
}

/* Write the records as a trace; return its length. */
static size_t
make_trace(const char *format, bool plain, uint8_t *buf, size_t cap)
{
	const struct hatf_writer_options options = { .format = format,
						     .plain = plain };
	const size_t n = make_records();
	const int fd = memfd_create("trace", MFD_CLOEXEC);
	struct hatf_writer *w;
	ssize_t nbytes;

	ck_assert_int_eq(writer_of_fd(fd, &options, &w, NULL), HATF_OK);
	ck_assert_int_eq(hatf_writer_write(w, records, n), HATF_OK);
	ck_assert_int_eq(hatf_writer_close(w, NULL), HATF_OK);
	nbytes = pread(fd, buf, cap, 0);
	ck_assert_int_gt(nbytes, 0);
	ck_assert_int_lt(nbytes, (ssize_t)cap);
	close(fd);
	return (size_t)nbytes;
}

static const struct {
	const char *format;
	bool plain;
} kinds[] = {
	{ "hatf", true },
	{ "hatf", false },
	{ "binary", false },
	{ "json", false },
};

START_TEST(verify_finds_a_flip_that_changes_an_event)
{
	static uint8_t bytes[1 << 16];
	const size_t nbytes = make_trace(kinds[_i].format, kinds[_i].plain,
					 bytes, sizeof(bytes));
	struct counts c = { 0 };

	silence();
	ck_assert(flip_all(bytes, nbytes, &c));
	/* Make sure that the test has flipped bits and read events. */
	ck_assert_uint_gt(c.changed * SAMPLE_STEP, nbytes);
	ck_assert_uint_gt(c.unchanged, 0);
	ck_assert_uint_lt(100 * c.passed, c.changed);
}
END_TEST

/* A trace whose first line is damaged is not checked against its comments. */
START_TEST(verify_finds_a_flip_in_the_first_line)
{
	static uint8_t bytes[1 << 16];
	static const char line[] = "HATF 1.0";
	const size_t nbytes = make_trace("hatf", true, bytes, sizeof(bytes));

	silence();
	for (size_t i = 8 * 3; i < 8 * (3 + strlen(line)); i++) {
		bytes[i / 8] ^= (uint8_t)(1 << i % 8);
		open_file(bytes, nbytes);
		ck_assert(!is_ok());
		close_file();
		bytes[i / 8] ^= (uint8_t)(1 << i % 8);
	}
}
END_TEST

/* --------------------------------------------------------------- measuring */

/* Return all bytes of a file, or NULL if it cannot be read. */
static uint8_t *
read_file(const char *name, size_t *nbytes_ret)
{
	FILE *const f = fopen(name, "rb");
	uint8_t *bytes = NULL;
	size_t used = 0, cap = 0;

	while (f != NULL) {
		if (used == cap) {
			cap = 2 * cap + 65536;
			bytes = realloc(bytes, cap);
			if (bytes == NULL)
				abort();
		}

		const size_t n = fread(bytes + used, 1, cap - used, f);

		used += n;
		if (n == 0)
			break;
	}
	if (f != NULL)
		fclose(f);
	*nbytes_ret = used;
	return bytes;
}

static int
measure(const char *name, int out)
{
	struct counts c = { 0 };
	size_t nbytes;
	uint8_t *const bytes = read_file(name, &nbytes);

	if (bytes == NULL || !flip_all(bytes, nbytes, &c)) {
		dprintf(out, "%s: is not ok as it is\n", name);
		free(bytes);
		return 1;
	}
	dprintf(out,
		"%s: %zu bits; an event changes with %llu, of these pass %llu "
		"(%.3f %%); none changes with %llu, of these verify refuses "
		"%llu\n",
		name, 8 * nbytes, (unsigned long long)c.changed,
		(unsigned long long)c.passed,
		c.changed == 0 ? 0 : 100 * (double)c.passed / (double)c.changed,
		(unsigned long long)c.unchanged, (unsigned long long)c.caught);
	free(bytes);
	return 0;
}

int
main(int argc, char **argv)
{
	SRunner *runner;
	Suite *suite;
	TCase *tcase;
	int failed = 0;

	if (argc > 1) {
		const int out = silence();

		for (int i = 1; i < argc; i++)
			failed |= measure(argv[i], out);
		return failed;
	}
	suite = suite_create("flips");
	tcase = tcase_create("flips");
	tcase_add_loop_test(tcase, verify_finds_a_flip_that_changes_an_event, 0,
			    sizeof(kinds) / sizeof(kinds[0]));
	tcase_add_test(tcase, verify_finds_a_flip_in_the_first_line);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
