/* SPDX-License-Identifier: MIT */
/*
 * test_formats.c - every format returns the records that were written
 *
 * For every format in the table: reading returns the records that were written,
 * whatever their contents, plain and compressed, framed and bare.  The content
 * identifies the format.  Header, trailer and completeness survive.  Dropped
 * fields are dropped.  A trace truncated at any byte yields a prefix of its
 * records and never counts as complete.
 *
 * runs early: it takes half a minute under a sanitizer
 */
#include "hatf/hatf.h"
#include "tests/unit/support/anyrecord.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/ours.h"
#include "tests/unit/support/sample.h"
#include "tests/unit/support/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define COUNT 3000

/* Records whose file is truncated at each byte. */
#define SMALL_COUNT 12

static struct anyrecord any = { .seed = 88172645463325252u };
static struct hatf_record records[COUNT];

static const char header[] = "unit=ns\ncommand=a \\x22b\\x22\n";

/* Open a file without a name. */
static int
scratch(void)
{
	const int fd = memfd_create("trace", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static void
write_fd(int fd, const struct hatf_writer_options *options, size_t n)
{
	struct hatf_writer *w;
	struct hatf_error err;

	ck_assert_int_eq(writer_of_fd(fd, options, &w, &err), HATF_OK);
	for (size_t i = 0; i < n; i += 100)
		ck_assert_int_eq(hatf_writer_write(w, records + i,
						   n - i < 100 ? n - i : 100),
				 HATF_OK);
	ck_assert_int_eq(hatf_writer_close(w, &err), HATF_OK);
	ck_assert_int_eq(err.status, HATF_OK);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
}

static struct hatf_reader *
open_fd(int fd)
{
	struct hatf_reader *reader;
	struct hatf_error err;
	char text[200];

	if (reader_of_fd(fd, 0, &reader, &err) != HATF_OK)
		ck_abort_msg("%s", hatf_error_text(&err, text, sizeof(text)));
	return reader;
}

static bool
is_framing(const struct hatf_record *r)
{
	return r->tag == HATF_COMMENT && r->attributes_nbytes >= 8 &&
	       (memcmp(r->attributes, "HATF 1.0", 8) == 0 ||
		memcmp(r->attributes, "HATF end", 8) == 0 ||
		memcmp(r->attributes, "HATF sum", 8) == 0 ||
		(r->attributes_nbytes >= 10 &&
		 memcmp(r->attributes, "HATF block", 10) == 0) ||
		(r->attributes_nbytes >= 11 &&
		 memcmp(r->attributes, "HATF stacks", 11) == 0));
}

/*
 * Read to the end and compare with 'records', without the comments that frame a
 * trace.  Returns the final status.
 */
static enum hatf_status
compare(struct hatf_reader *reader, size_t *n_ret)
{
	struct hatf_record batch[64];
	enum hatf_status status;
	size_t n;

	*n_ret = 0;
	while ((status = hatf_reader_read(reader, batch, 64, &n)) == HATF_OK)
		for (size_t i = 0; i < n; i++)
			if (!is_framing(&batch[i]))
				mini_check(anyrecord_same(&records[(*n_ret)++],
							  &batch[i]));
	mini_check(n == 0);
	mini_check(hatf_reader_read(reader, batch, 64, &n) == status);
	return status;
}

static void
check_round_trip(const struct hatf_writer_options *options)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	const int fd = scratch();
	size_t n;

	anyrecord_fill(&any, records, COUNT);
	write_fd(fd, options, COUNT);
	reader = open_fd(fd);
	ck_assert_str_eq(hatf_reader_format(reader), options->format);
	if (!options->bare) {
		ck_assert_str_eq(hatf_reader_header(reader, "unit"), "ns");
		ck_assert_str_eq(hatf_reader_header(reader, "command"),
				 "a \"b\"");
	}
	if (compare(reader, &n) != HATF_END) {
		char text[200];

		ck_abort_msg("%s: %s", options->format,
			     hatf_error_text(hatf_reader_error(reader), text,
					     sizeof(text)));
	}
	ck_assert_uint_eq(n, COUNT);
	hatf_reader_get_stats(reader, &stats);
	ck_assert(stats.complete);
	ck_assert_int_eq(stats.ours, !options->bare);
	ck_assert_int_eq(hatf_reader_error(reader)->status, HATF_OK);
	hatf_reader_close(reader);
	close(fd);
}

START_TEST(what_goes_in_comes_out)
{
	for (unsigned i = 0; ours_format(i) != NULL; i++)
		for (unsigned kind = 0; kind < 4; kind++)
			check_round_trip(&(struct hatf_writer_options){
				.format = ours_format(i),
				.plain = (kind & 1) != 0,
				.bare = (kind & 2) != 0,
				.header = header,
			});
}
END_TEST

/* The longest possible record, and comments with every byte value. */
START_TEST(the_longest_records_pass)
{
	static uint8_t bytes[UINT16_MAX];

	for (unsigned i = 0; ours_format(i) != NULL; i++) {
		const struct hatf_writer_options options = {
			.format = ours_format(i)
		};

		for (unsigned fill = 0; fill < 257; fill += 4) {
			struct hatf_reader *reader;
			const int fd = scratch();
			size_t n;

			memset(bytes, (int)fill, sizeof(bytes));
			for (size_t j = 0; fill == 256 && j < sizeof(bytes);
			     j++)
				bytes[j] = (uint8_t)j;
			for (size_t j = 0; j < 4; j++) {
				const bool odd = j % 2 != 0;

				records[j] = (struct hatf_record){
					.tag = odd ? HATF_COMMENT
						   : HATF_REALLOC_ALLOC_FREE,
					.size = odd ? 0 : UINT64_MAX,
					.attributes = bytes,
					.attributes_nbytes = UINT16_MAX,
				};
			}
			write_fd(fd, &options, 4);
			reader = open_fd(fd);
			ck_assert_int_eq(compare(reader, &n), HATF_END);
			ck_assert_uint_eq(n, 4);
			hatf_reader_close(reader);
			close(fd);
		}
	}
}
END_TEST

START_TEST(an_empty_trace_is_one)
{
	for (unsigned i = 0; ours_format(i) != NULL; i++) {
		const struct hatf_writer_options options = {
			.format = ours_format(i)
		};
		const int fd = scratch();
		struct hatf_reader_stats stats = { .struct_nbytes =
							   sizeof(stats) };
		struct hatf_reader *reader;
		size_t n;

		write_fd(fd, &options, 0);
		reader = open_fd(fd);
		ck_assert_int_eq(compare(reader, &n), HATF_END);
		ck_assert_uint_eq(n, 0);
		hatf_reader_get_stats(reader, &stats);
		ck_assert(stats.complete);
		hatf_reader_close(reader);
		close(fd);
	}
}
END_TEST

/* A trace states what its writer was told about its source. */
START_TEST(an_incomplete_source_stays_incomplete)
{
	for (unsigned i = 0; ours_format(i) != NULL; i++) {
		const struct hatf_writer_options options = {
			.format = ours_format(i), .incomplete = true
		};
		const int fd = scratch();
		struct hatf_reader_stats stats = { .struct_nbytes =
							   sizeof(stats) };
		struct hatf_reader *reader;
		size_t n;

		anyrecord_fill(&any, records, 10);
		write_fd(fd, &options, 10);
		reader = open_fd(fd);
		ck_assert_int_eq(compare(reader, &n), HATF_END);
		ck_assert_uint_eq(n, 10);
		hatf_reader_get_stats(reader, &stats);
		ck_assert(!stats.complete);
		ck_assert_str_eq(hatf_reader_trailer(reader, "end"),
				 "source incomplete");
		hatf_reader_close(reader);
		close(fd);
	}
}
END_TEST

/* Comments report lost events, and the trailer counts them. */
START_TEST(losses_are_counted)
{
	static const char lost[] = "HATF lost\nthread=1\ncount=42\n";

	for (unsigned i = 0; ours_format(i) != NULL; i++) {
		const struct hatf_writer_options options = {
			.format = ours_format(i)
		};
		const int fd = scratch();
		struct hatf_reader_stats stats = { .struct_nbytes =
							   sizeof(stats) };
		struct hatf_reader *reader;
		size_t n;

		records[0] = (struct hatf_record){
			.tag = HATF_COMMENT,
			.attributes = (const uint8_t *)lost,
			.attributes_nbytes = sizeof(lost) - 1
		};
		write_fd(fd, &options, 1);
		reader = open_fd(fd);
		ck_assert_int_eq(compare(reader, &n), HATF_END);
		hatf_reader_get_stats(reader, &stats);
		ck_assert_uint_eq(stats.lost_count, 42);
		ck_assert(!stats.complete);
		ck_assert_str_eq(hatf_reader_trailer(reader, "lost"), "42");
		hatf_reader_close(reader);
		close(fd);
	}
}
END_TEST

/* Drop the fields in 'drop' from 'records'.  Return how many remain. */
static size_t
drop_by_hand(unsigned drop)
{
	size_t n = 0;

	for (size_t i = 0; i < COUNT; i++) {
		struct hatf_record *const r = &records[n];

		*r = records[i];
		if (((drop & HATF_DROP_COMMENTS) && r->tag == HATF_COMMENT) ||
		    ((drop & HATF_DROP_THREAD) &&
		     (r->tag == HATF_CREATE_THREAD ||
		      r->tag == HATF_DESTROY_THREAD)) ||
		    ((drop & HATF_DROP_HEAP) && (r->tag == HATF_CREATE_HEAP ||
						 r->tag == HATF_DESTROY_HEAP)))
			continue;
		if (drop & HATF_DROP_THREAD)
			r->thread = 0;
		if (drop & HATF_DROP_HEAP)
			r->heap = 0;
		if (drop & HATF_DROP_TIME)
			r->time = 0;
		if ((drop & HATF_DROP_ATTRIBUTES) && r->tag != HATF_COMMENT)
			r->attributes_nbytes = 0;
		n++;
	}
	return n;
}

START_TEST(what_is_dropped_is_gone_and_nothing_else)
{
	static const unsigned bits[] = { HATF_DROP_TIME, HATF_DROP_THREAD,
					 HATF_DROP_HEAP, HATF_DROP_ATTRIBUTES,
					 HATF_DROP_COMMENTS };

	for (unsigned i = 0; ours_format(i) != NULL; i++) {
		for (unsigned set = SAMPLE_FIRST; set < 64;
		     set += SAMPLE_STEP) {
			struct hatf_writer_options options = {
				.format = ours_format(i),
				.plain = true,
				.bare = set >= 32,
			};
			const int fd = scratch();
			struct hatf_reader *reader;
			size_t n, kept;

			for (unsigned bit = 0; bit < 5; bit++)
				if (set >> bit & 1)
					options.drop |= bits[bit];
			anyrecord_fill(&any, records, COUNT);
			write_fd(fd, &options, COUNT);
			kept = drop_by_hand(options.drop);
			reader = open_fd(fd);
			ck_assert_int_eq(compare(reader, &n), HATF_END);
			ck_assert_uint_eq(n, kept);
			hatf_reader_close(reader);
			close(fd);
		}
	}
}
END_TEST

/*
 * Read the first 'nbytes' of a trace in 'format'.  There must be no crash and
 * no wrong record.
 */
static void
check_cut(const char *format, const uint8_t *bytes, size_t nbytes)
{
	const int fd = hand_file(bytes, nbytes);
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	struct hatf_error err;
	enum hatf_status status;
	size_t n;

	if (reader_of_fd(fd, 0, &reader, &err) != HATF_OK) {
		/*
		 * Too few bytes remain to tell what the file is, or to say how
		 * to read it.
		 */
		mini_check(nbytes <
			   (strncmp(format, "metatf", 6) == 0 ? 4000u : 400u));
		mini_check(err.status == HATF_NOT_HATF ||
			   err.status == HATF_TRUNCATED);
		close(fd);
		return;
	}
	status = compare(reader, &n);
	if (status != HATF_TRUNCATED && status != HATF_NO_TRAILER)
		ck_abort_msg("%s, cut at %zu: %s", format, nbytes,
			     hatf_status_text(status));
	mini_check(n <= SMALL_COUNT);
	mini_check(hatf_reader_error(reader)->status == status);
	hatf_reader_get_stats(reader, &stats);
	/* Only a checksum or the like may be missing. */
	mini_check(!stats.complete || status == HATF_TRUNCATED);
	hatf_reader_close(reader);
	close(fd);
}

START_TEST(a_cut_is_seen_at_every_byte)
{
	for (unsigned i = 0; ours_format(i) != NULL; i++) {
		for (unsigned plain = 0; plain < 2; plain++) {
			const struct hatf_writer_options options = {
				.format = ours_format(i), .plain = plain != 0
			};
			const int fd = scratch();
			uint8_t *bytes;
			off_t nbytes;

			anyrecord_fill(&any, records, SMALL_COUNT);
			write_fd(fd, &options, SMALL_COUNT);
			nbytes = lseek(fd, 0, SEEK_END);
			bytes = malloc((size_t)nbytes);
			ck_assert_int_eq(pread(fd, bytes, (size_t)nbytes, 0),
					 nbytes);
			/*
			 * The final newline of XML is not part of the document.
			 */
			if (plain != 0 && strcmp(options.format, "xml") == 0)
				nbytes--;
			for (size_t n = SAMPLE_FIRST; n < (size_t)nbytes;
			     n += SAMPLE_STEP)
				check_cut(options.format, bytes, n);
			free(bytes);
			close(fd);
		}
	}
}
END_TEST

/* Flip bytes anywhere: an error or other records may result, never a crash. */
START_TEST(damage_is_survived)
{
	for (unsigned i = 0; ours_format(i) != NULL; i++) {
		const struct hatf_writer_options options = {
			.format = ours_format(i), .plain = true
		};
		const int fd = scratch();
		uint8_t bytes[1 << 14];
		size_t nbytes;

		anyrecord_fill(&any, records, SMALL_COUNT);
		write_fd(fd, &options, SMALL_COUNT);
		nbytes = (size_t)pread(fd, bytes, sizeof(bytes), 0);
		for (unsigned round = 0; round < 1000 / SAMPLE_STEP; round++) {
			const uint64_t random = mini_random(&any.seed) >> 16;
			uint8_t *const byte = &bytes[(random >> 8) % nbytes];
			const uint8_t was = *byte;
			struct hatf_record batch[8];
			struct hatf_reader *reader;
			int copy;
			size_t n;

			*byte = (uint8_t)random;
			copy = hand_file(bytes, nbytes);
			if (reader_of_fd(copy, 0, &reader, NULL) == HATF_OK) {
				while (hatf_reader_read(reader, batch, 8, &n) ==
				       HATF_OK)
					mini_check(n > 0 &&
						   batch[0].tag <=
							   HATF_COMMENT);
				hatf_reader_close(reader);
			}
			close(copy);
			*byte = was;
		}
		close(fd);
	}
}
END_TEST

START_TEST(names_end_in_what_they_hold)
{
	static const struct {
		const char *path, *format;
		const char *compression;
	} cases[] = {
		{ "a.hatf", "hatf", NULL },
		{ "dir.csv/a.hatf.gz", "hatf", "gzip" },
		{ "a.ascii", "ascii", NULL },
		{ "a.csv.gz", "csv", "gzip" },
		{ "a.json", "json", NULL },
		{ "a.split", "split", "gzip" },
		{ "a.splitaddr", "splitaddr", "gzip" },
		{ "a.split.gz", NULL, "gzip" },
		{ "a.split.zst", NULL, "zstd" },
		{ "a.hatf.zst", NULL, "zstd" },
		{ "a.hatf.lz4", NULL, "lz4" },
		{ "a.csv.lz4", "csv", "lz4" },
		{ "a.heaptrack.zst", "heaptrack", "zstd" },
		{ "a.pb.gz", "pprof", "gzip" },
		{ "a.pprof", "pprof", NULL },
		{ "a.jsonl", "json", NULL },
		{ "a.dhat.json", "dhat", NULL },
		{ "a.dhat.json.gz", "dhat", "gzip" },
		{ "a.ctf", "memtrace", NULL },
		{ "a.zst", NULL, "zstd" },
		{ "a.b", NULL, NULL },
		{ "a.gz", NULL, "gzip" },
		{ ".hatf", NULL, NULL },
		{ "", NULL, NULL },
		{ "-", NULL, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *compression;
		const char *const format =
			hatf_format_of_path(cases[i].path, &compression);

		ck_assert_pstr_eq(format, cases[i].format);
		ck_assert_pstr_eq(compression, cases[i].compression);
	}
}
END_TEST

START_TEST(wrong_options_are_refused_by_name)
{
	static const struct {
		struct hatf_writer_options options;
		const char *field;
	} cases[] = {
		{ { .format = "nothing" }, "format" },
		{ { .format = "ascii", .level = 10 }, "level" },
		{ { .format = "ascii", .level = -1 }, "level" },
		{ { .format = "hatf", .level = 100 }, "level" },
		{ { .format = "hatf", .placement = "magic" }, "placement" },
		{ { .format = "csv", .compression = "xz" }, "compression" },
		{ { .format = "hatf", .compression = "zstd" }, "compression" },
		{ { .format = "split", .compression = "lz4" }, "compression" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hatf_writer *w;
		struct hatf_error err;

		ck_assert_int_eq(writer_of_fd(-1, &cases[i].options, &w, &err),
				 HATF_BAD_OPTION);
		ck_assert_int_eq(err.status, HATF_BAD_OPTION);
		ck_assert_str_eq(err.field, cases[i].field);
	}
}
END_TEST

START_TEST(a_full_disk_is_told)
{
	for (unsigned i = 0; ours_format(i) != NULL; i++) {
		for (unsigned plain = 0; plain < 2; plain++) {
			const struct hatf_writer_options options = {
				.struct_nbytes = sizeof(options),
				.format = ours_format(i),
				.plain = plain != 0
			};
			struct hatf_writer *w;
			struct hatf_error err;

			ck_assert_int_eq(hatf_writer_open("/dev/full", &options,
							  &w, &err),
					 HATF_OK);
			anyrecord_fill(&any, records, COUNT);
			hatf_writer_write(w, records, COUNT);
			ck_assert_int_eq(hatf_writer_close(w, &err), HATF_IO);
			ck_assert_int_eq(err.sys_errno, ENOSPC);
		}
	}
}
END_TEST

/* A descriptor remains the caller's, even where opening fails. */
START_TEST(a_descriptor_stays_open)
{
	const int fd = scratch();
	struct hatf_writer *w;

	ck_assert_int_eq(writer_of_fd(fd, NULL, &w, NULL), HATF_OK);
	ck_assert_int_eq(hatf_writer_close(w, NULL), HATF_OK);
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
	close(fd);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("formats");
	TCase *const tc = tcase_create("formats");
	SRunner *runner;
	int failed;

	tcase_add_test(tc, what_goes_in_comes_out);
	tcase_add_test(tc, the_longest_records_pass);
	tcase_add_test(tc, an_empty_trace_is_one);
	tcase_add_test(tc, an_incomplete_source_stays_incomplete);
	tcase_add_test(tc, losses_are_counted);
	tcase_add_test(tc, what_is_dropped_is_gone_and_nothing_else);
	tcase_add_test(tc, a_cut_is_seen_at_every_byte);
	tcase_add_test(tc, damage_is_survived);
	tcase_add_test(tc, names_end_in_what_they_hold);
	tcase_add_test(tc, wrong_options_are_refused_by_name);
	tcase_add_test(tc, a_full_disk_is_told);
	tcase_add_test(tc, a_descriptor_stays_open);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
