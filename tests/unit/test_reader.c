/* SPDX-License-Identifier: MIT */
/*
 * test_reader.c - traces are detected; files, pipes and gzip read the same
 *
 * Opening must distinguish a trace from anything else.  A trace must read the
 * same from a file, a pipe and gzip.  Errors must come after the records before
 * them and stay.
 */
#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/open.h"
#include "tests/unit/support/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

#define MAX	     512
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Opening 'bytes' must fail with the report that they are no trace. */
static void
refuse(const void *bytes, size_t nbytes)
{
	const int fd = hand_file(bytes, nbytes);
	struct hatf_reader *reader = NULL;
	struct hatf_error err;
	char text[200];
	const char *what;

	ck_assert_int_eq(reader_of_fd(fd, 0, &reader, &err), HATF_NOT_HATF);
	ck_assert_int_eq(err.status, HATF_NOT_HATF);
	ck_assert_ptr_null(reader);
	what = err.field == NULL
		       ? "not a trace: the file is empty or has no records"
		       : "not a format that hatf knows";
	ck_assert_ptr_nonnull(
		strstr(hatf_error_text(&err, text, sizeof(text)), what));
	close(fd);
}

START_TEST(other_files_are_not_traces)
{
	static const char zeros[4096];
	static const struct {
		const char *bytes;
		size_t nbytes;
	} files[] = {
		{ "", 0 },
		{ "\n", 1 },
		{ "\x1f", 1 },
		{ "hello, world\n", 13 },
		{ "\n\nint main(void) { return 0; }\n", 31 },
		{ "\tindented text that is long enough\n", 35 },
		{ "\x7f"
		  "ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\x3e\0",
		  20 },
		{ "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16 },
		{ "\0\0\0\x18"
		  "ftypmp42\0\0\0\0mp42isom",
		  24 },
		/*
		 * The head of a TrueType font looks like an alloc, a realloc
		 * and a free.
		 */
		{ "\0\1\0\0\0\x0f\0\x80\0\3\0\x70GDEF"
		  "\xb4\x42\xb0\x82\0\0\1\x58\0\0\0\x1e",
		  28 },
		{ "\0H\0e\0l\0l\0o\0 \0w\0o\0r\0l\0d", 22 },
		{ "\0\0\0", 3 },
		{ zeros, sizeof(zeros) },
	};

	for (size_t i = 0; i < COUNT(files); i++) {
		struct hand gz = { 0 };

		refuse(files[i].bytes, files[i].nbytes);
		hand_gzip(&gz, (const uint8_t *)files[i].bytes,
			  files[i].nbytes);
		refuse(gz.bytes, gz.used);
		hand_fini(&gz);
	}
}
END_TEST

/* Most addresses are 0, or take no bytes, or are not stored. */
static void
put_strange(struct hand *h, unsigned kind)
{
	if (kind == 1)
		hand_width(h, 1, 0);
	if (kind == 2) {
		hand_width(h, 0, 0);
		hand_width(h, 1, 0);
	}
	for (unsigned i = 0; i < 100; i++) {
		hand_put(h, 0, 1);
		hand_put(h, i, kind == 2 ? 0 : 4);
		hand_put(h, 0, kind == 0 ? 4 : 0);
	}
}

/* Refused without a format name, but read with the name "hatf". */
static void
read_strange(unsigned kind)
{
	struct hatf_reader *reader;
	struct hatf_error err;
	struct hand h = { 0 };
	size_t n;
	int fd;

	put_strange(&h, kind);
	fd = hand_file(h.bytes, h.used);
	ck_assert_int_eq(reader_of_fd_as(fd, NULL, 0, &reader, &err),
			 HATF_NOT_HATF);
	close(fd);
	fd = hand_file(h.bytes, h.used);
	ck_assert_int_eq(reader_of_fd_as(fd, "hatf", 0, &reader, &err),
			 HATF_OK);
	ck_assert_int_eq(drain(reader, &n), HATF_END);
	ck_assert_uint_eq(n, 100);
	hatf_reader_close(reader);
	close(fd);
	/* An illegal byte is still an error. */
	hand_put(&h, 0x7f, 1);
	fd = hand_file(h.bytes, h.used);
	ck_assert_int_eq(reader_of_fd_as(fd, "hatf", 0, &reader, &err),
			 HATF_OK);
	ck_assert_int_eq(drain(reader, &n), HATF_BAD_TAG);
	ck_assert_uint_eq(n, 100);
	hatf_reader_close(reader);
	close(fd);
	hand_fini(&h);
}

START_TEST(every_legal_stream_is_read_if_the_caller_says_hatf)
{
	for (unsigned kind = 0; kind < 3; kind++)
		read_strange(kind);
}
END_TEST

/* Few of them look like a trace; the reader then finds an error. */
START_TEST(random_bytes_are_not_a_trace)
{
	uint64_t seed = 42;
	unsigned accepted = 0;
	size_t n;

	for (unsigned i = 0; i < 2000; i++) {
		struct hatf_reader *reader = NULL;
		struct hand h = { 0 };
		int fd;

		while (h.used < 4096) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			hand_put(&h, seed * 0x2545f4914f6cdd1d, 8);
		}
		h.bytes[0] = (uint8_t)(i % 12); /* a tag, to begin with */
		fd = hand_file(h.bytes, h.used);
		if (reader_of_fd(fd, 0, &reader, NULL) == HATF_OK) {
			accepted++;
			ck_assert_int_ne(drain(reader, &n), HATF_END);
		}
		hatf_reader_close(reader);
		close(fd);
		hand_fini(&h);
	}
	ck_assert_uint_le(accepted, 20);
}
END_TEST

START_TEST(what_cannot_be_opened_is_an_io_error)
{
	static const struct {
		const char *path;
		int sys_errno;
	} cases[] = {
		{ "/", EISDIR },
		{ "/nonexistent/trace", ENOENT },
		{ "/dev/null/trace", ENOTDIR },
	};
	struct hatf_reader *reader;
	struct hatf_error err;
	char text[200];

	for (size_t i = 0; i < COUNT(cases); i++) {
		ck_assert_int_eq(
			hatf_reader_open(cases[i].path, NULL, &reader, &err),
			HATF_IO);
		ck_assert_int_eq(err.status, HATF_IO);
		ck_assert_int_eq(err.sys_errno, cases[i].sys_errno);
		ck_assert_str_eq(hatf_error_text(&err, text, sizeof(text)),
				 strerror(cases[i].sys_errno));
		ck_assert_int_eq(
			hatf_reader_open(cases[i].path, NULL, &reader, NULL),
			HATF_IO);
	}
}
END_TEST

START_TEST(an_error_comes_after_the_records_before_it_and_stays)
{
	struct hand h = { 0 };
	struct hatf_reader *reader;
	const struct hatf_error *err;
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	char text[200], cut[10];
	size_t n;
	int fd;

	for (unsigned i = 1; i <= 1000; i++)
		hand_alloc(&h, i, i * 16);
	hand_width(&h, 0, 1);
	hand_width(&h, 0, 3); /* there is no such width */
	hand_alloc(&h, 1, 16);
	reader = open_bytes(&h, 0, &fd);
	ck_assert_int_eq(drain(reader, &n), HATF_BAD_METADATA);
	ck_assert_uint_eq(n, 1000);
	err = hatf_reader_error(reader);
	ck_assert_int_eq(err->status, HATF_BAD_METADATA);
	ck_assert_uint_eq(err->offset, 9000 + 4);
	ck_assert_uint_eq(err->record, 1000);
	ck_assert_str_eq(err->field, "fieldWidth");
	ck_assert_str_eq(hatf_error_text(err, text, sizeof(text)),
			 "offset 0x232c, record 1000: fieldWidth: a metadata "
			 "record is invalid");
	ck_assert_str_eq(hatf_error_text(err, cut, sizeof(cut)), "offset 0x");
	hatf_reader_get_stats(reader, &stats);
	ck_assert_uint_eq(stats.record_count[HATF_ALLOC], 1000);
	ck_assert_uint_eq(stats.record_count[HATF_METADATA], 1);
	ck_assert_uint_eq(stats.hatf_nbytes, 9004);
	ck_assert(!stats.complete);
	hatf_reader_close(reader);
	close(fd);
	hand_fini(&h);
}
END_TEST

/* ---------------------------------------------------- large and piecemeal */

#define LARGE_COUNT 3000

/* Records with up to 65535 bytes of attributes need several windows. */
static void
put_large(struct hand *h)
{
	hand_interpretation(h, 5, HATF_NONE, 0, 0, 0);
	hand_width(h, 5, HATF_WIDTH_V2);
	for (unsigned i = 0; i < LARGE_COUNT; i++) {
		const unsigned nbytes = i % 100 == 99 ? 65535 : i % 300;

		hand_alloc(h, i, 16 * i);
		hand_put(h, nbytes, 2);
		for (unsigned k = 0; k < nbytes; k++)
			hand_put(h, i + k, 1);
	}
}

static void
check_large(const struct hatf_record *r, unsigned i)
{
	const unsigned nbytes = i % 100 == 99 ? 65535 : i % 300;

	ck_assert(r->tag == HATF_ALLOC && r->size == i &&
		  r->address == 16 * i && r->attributes_nbytes == nbytes);
	for (unsigned k = 0; k < nbytes; k++)
		if (r->attributes[k] != (uint8_t)(i + k))
			ck_abort_msg("record %u, attribute byte %u", i, k);
}

/* The attributes of a whole batch must be valid when the batch is returned. */
static void
check_all_large(struct hatf_reader *reader, size_t max)
{
	struct hatf_record records[MAX];
	unsigned seen = 0;
	size_t n;

	while (hatf_reader_read(reader, records, max, &n) == HATF_OK)
		for (size_t i = 0; i < n; i++)
			check_large(&records[i], seen++);
	ck_assert_uint_eq(seen, LARGE_COUNT);
	ck_assert_int_eq(hatf_reader_read(reader, records, max, &n), HATF_END);
}

START_TEST(records_across_windows_are_whole)
{
	static const size_t batches[] = { 1, 7, MAX };
	struct hand h = { 0 }, gz = { 0 };
	struct hatf_reader *reader;
	int fd;

	put_large(&h);
	hand_gzip(&gz, h.bytes, 1000000);
	hand_gzip(&gz, h.bytes + 1000000, h.used - 1000000);
	for (size_t i = 0; i < COUNT(batches); i++) {
		reader = open_bytes(&h, 0, &fd);
		check_all_large(reader, batches[i]);
		hatf_reader_close(reader);
		close(fd);
		reader = open_bytes(&gz, 0, &fd);
		check_all_large(reader, batches[i]);
		hatf_reader_close(reader);
		close(fd);
	}
	hand_fini(&h);
	hand_fini(&gz);
}
END_TEST

struct feeder {
	int fd;
	const struct hand *h;
};

static void *
feed(void *arg)
{
	const struct feeder *const f = arg;
	size_t done = 0;

	while (done < f->h->used) {
		const size_t left = f->h->used - done;
		const size_t piece = done % 5000 + 1;
		const ssize_t n = write(f->fd, f->h->bytes + done,
					piece < left ? piece : left);

		ck_assert_int_gt(n, 0);
		done += (size_t)n;
	}
	close(f->fd);
	return NULL;
}

/* Regression: the reader took a window full of legal records for the end. */
START_TEST(long_records_at_the_start_are_read)
{
	static uint8_t text[65535];

	memset(text, 'A', sizeof(text));
	for (int compressed = 0; compressed <= 1; compressed++) {
		struct hand h = { 0 }, gz = { 0 };
		struct hatf_reader *reader;
		size_t n;
		int fd;

		for (int i = 0; i < 9; i++) {
			hand_put(&h, HATF_COMMENT, 1);
			hand_put(&h, sizeof(text), 2);
			hand_bytes(&h, text, sizeof(text));
		}
		hand_alloc(&h, 24, 0x1010);
		hand_gzip(&gz, h.bytes, h.used);
		reader = open_bytes(compressed ? &gz : &h, 0, &fd);
		ck_assert_int_eq(drain(reader, &n), HATF_END);
		ck_assert_uint_eq(n, 10);
		hatf_reader_close(reader);
		close(fd);
		hand_fini(&h);
		hand_fini(&gz);
	}
}
END_TEST

START_TEST(a_pipe_is_read_as_a_file_is)
{
	struct hand h = { 0 };
	struct hatf_reader *reader;
	pthread_t thread;
	int fds[2];

	put_large(&h);
	ck_assert_int_eq(pipe(fds), 0);

	struct feeder f = { fds[1], &h };

	ck_assert_int_eq(pthread_create(&thread, NULL, feed, &f), 0);
	/* "-" is standard input. */
	ck_assert_int_eq(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
	ck_assert_int_eq(hatf_reader_open("-", NULL, &reader, NULL), HATF_OK);
	check_all_large(reader, MAX);
	hatf_reader_close(reader);
	pthread_join(thread, NULL);
	/* The descriptor stays the caller's. */
	ck_assert_int_ne(fcntl(STDIN_FILENO, F_GETFD), -1);
	close(fds[0]);
	hand_fini(&h);
}
END_TEST

START_TEST(metadata_comes_only_on_request)
{
	struct hand h = { 0 };
	struct hatf_reader *reader;
	size_t n;
	int fd;

	hand_width(&h, 0, 1);
	hand_put(&h, 0x000510, 2);
	hand_put(&h, 0x10203040, 4);
	hand_width(&h, 0, 4);
	hand_alloc(&h, 1, 2);
	for (unsigned flags = 0; flags <= HATF_READER_METADATA; flags++) {
		h.bytes[4] = 0;
		reader = open_bytes(&h, flags, &fd);
		ck_assert_int_eq(drain(reader, &n), HATF_END);
		ck_assert_uint_eq(n, flags == 0 ? 2 : 4);
		hatf_reader_close(reader);
		close(fd);
	}
	hand_fini(&h);
}
END_TEST

START_TEST(nothing_to_close_is_fine)
{
	hatf_reader_close(NULL);
	hatf_events_close(NULL);
}
END_TEST

START_TEST(every_number_has_a_text)
{
	for (unsigned i = 0; i <= 13; i++)
		ck_assert_ptr_nonnull(hatf_status_text((enum hatf_status)i));
	for (unsigned i = 0; i <= 8; i++)
		ck_assert_ptr_nonnull(
			hatf_violation_text((enum hatf_violation)i));
	for (unsigned i = 0; i < HATF_TAG_COUNT; i++)
		ck_assert_ptr_nonnull(hatf_tag_name(i));
	ck_assert_str_eq(hatf_tag_name(3), "reallocAllocFree");
	ck_assert_ptr_null(hatf_tag_name(HATF_TAG_COUNT));
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		other_files_are_not_traces,
		every_legal_stream_is_read_if_the_caller_says_hatf,
		random_bytes_are_not_a_trace,
		what_cannot_be_opened_is_an_io_error,
		an_error_comes_after_the_records_before_it_and_stays,
		records_across_windows_are_whole,
		long_records_at_the_start_are_read,
		a_pipe_is_read_as_a_file_is,
		metadata_comes_only_on_request,
		nothing_to_close_is_fine,
		every_number_has_a_text,
	};

	return hand_run("reader", tests, COUNT(tests));
}
