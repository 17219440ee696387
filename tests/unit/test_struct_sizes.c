/* SPDX-License-Identifier: MIT */
/*
 * test_struct_sizes.c - programs may be older or newer than the library
 *
 * The first member of options and results is their size in the caller's version
 * of hatf.h.  An older caller has a smaller struct, a newer caller a larger
 * one.
 */
#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"

#include <check.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GUARD 0xa5

/* Structs of a newer version, which end in a member unknown to the library. */
struct new_reader_options {
	struct hatf_reader_options known;
	uint64_t unknown;
};

struct new_writer_options {
	struct hatf_writer_options known;
	uint64_t unknown;
};

struct new_reader_stats {
	struct hatf_reader_stats known;
	uint64_t unknown;
};

static const struct hatf_record record = { .tag = HATF_ALLOC,
					   .address = 0x1000,
					   .size = 64 };

static int
make_trace(void)
{
	const int fd = hand_file(NULL, 0);
	const struct hatf_writer_options options = {
		.struct_nbytes = sizeof(options),
		.fd = fd,
	};
	struct hatf_writer *writer;

	ck_assert_int_eq(hatf_writer_open(NULL, &options, &writer, NULL),
			 HATF_OK);
	ck_assert_int_eq(hatf_writer_write(writer, &record, 1), HATF_OK);
	ck_assert_int_eq(hatf_writer_close(writer, NULL), HATF_OK);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* Open with these options; return the status, which 'field' explains. */
static enum hatf_status
open_reader(const void *options, const char *field)
{
	struct hatf_reader *reader;
	struct hatf_error err;
	const enum hatf_status status =
		hatf_reader_open(NULL, options, &reader, &err);

	ck_assert_int_eq(err.status, status);
	if (status == HATF_OK)
		hatf_reader_close(reader);
	else
		ck_assert_str_eq(err.field, field);
	return status;
}

static enum hatf_status
open_writer(const void *options, const char *field)
{
	struct hatf_writer *writer;
	struct hatf_error err;
	const enum hatf_status status =
		hatf_writer_open(NULL, options, &writer, &err);

	ck_assert_int_eq(err.status, status);
	if (status == HATF_OK)
		hatf_writer_close(writer, NULL);
	else
		ck_assert_str_eq(err.field, field);
	return status;
}

/* The library does not read beyond the end of an older struct. */
START_TEST(older_options_are_smaller)
{
	const int fd = make_trace();
	struct hatf_reader_options r;
	struct hatf_writer_options w;

	memset(&r, GUARD, sizeof(r));
	r.struct_nbytes = offsetof(struct hatf_reader_options, flags);
	r.format = NULL;
	r.fd = fd;
	ck_assert_int_eq(open_reader(&r, NULL), HATF_OK);
	memset(&w, GUARD, sizeof(w));
	w.struct_nbytes = offsetof(struct hatf_writer_options, level);
	w.format = w.compression = w.placement = w.header = NULL;
	w.fd = fd;
	ck_assert_int_eq(open_writer(&w, NULL), HATF_OK);
	close(fd);
}
END_TEST

START_TEST(newer_options_are_larger)
{
	const int fd = make_trace();
	struct new_reader_options r = { .known.struct_nbytes = sizeof(r),
					.known.fd = fd };
	struct new_writer_options w = { .known.struct_nbytes = sizeof(w),
					.known.fd = fd };

	ck_assert_int_eq(open_reader(&r, NULL), HATF_OK);
	ck_assert_int_eq(open_writer(&w, NULL), HATF_OK);
	r.unknown = w.unknown = (uint64_t)1 << 63;
	ck_assert_int_eq(open_reader(&r, "struct_nbytes"), HATF_BAD_OPTION);
	ck_assert_int_eq(open_writer(&w, "struct_nbytes"), HATF_BAD_OPTION);
	close(fd);
}
END_TEST

START_TEST(impossible_sizes_are_refused)
{
	static const size_t sizes[] = { 0, 1, sizeof(size_t) - 1, 65537,
					SIZE_MAX };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct hatf_reader_options r = { sizes[i], .fd = -1 };
		const struct hatf_writer_options w = { sizes[i], .fd = -1 };

		ck_assert_int_eq(open_reader(&r, "struct_nbytes"),
				 HATF_BAD_OPTION);
		ck_assert_int_eq(open_writer(&w, "struct_nbytes"),
				 HATF_BAD_OPTION);
	}
}
END_TEST

START_TEST(values_of_options_are_checked)
{
	static const struct {
		struct hatf_reader_options options;
		const char *field;
	} cases[] = {
		{ { .flags = 16 }, "flags" },
		{ { .jobs = HATF_READER_JOBS_MAX + 1 }, "jobs" },
		{ { .reserved = 1 }, "reserved" },
		{ { .format = "nothing" }, "format" },
	};
	const struct hatf_writer_options w = {
		.struct_nbytes = sizeof(w),
		.drop = 1,
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hatf_reader_options r = cases[i].options;

		r.struct_nbytes = sizeof(r);
		ck_assert_int_eq(open_reader(&r, cases[i].field),
				 HATF_BAD_OPTION);
	}
	ck_assert_int_eq(open_writer(&w, "drop"), HATF_BAD_OPTION);
}
END_TEST

/* Return a reader that has read the one record of a trace. */
static struct hatf_reader *
read_trace(int *fd_ret)
{
	struct hatf_reader_options options = {
		.struct_nbytes = sizeof(options),
	};
	struct hatf_reader *reader;
	struct hatf_record got;
	size_t n;

	*fd_ret = options.fd = make_trace();
	ck_assert_int_eq(hatf_reader_open(NULL, &options, &reader, NULL),
			 HATF_OK);
	while (hatf_reader_read(reader, &got, 1, &n) == HATF_OK)
		;
	return reader;
}

START_TEST(results_fit_the_callers_struct)
{
	const size_t older = offsetof(struct hatf_reader_stats, block_count);
	struct new_reader_stats stats, untouched;
	int fd;
	struct hatf_reader *const reader = read_trace(&fd);

	memset(&untouched, GUARD, sizeof(untouched));
	memset(&stats, GUARD, sizeof(stats));
	stats.known.struct_nbytes = older;
	hatf_reader_get_stats(reader, &stats.known);
	ck_assert_uint_eq(stats.known.struct_nbytes, older);
	ck_assert_uint_eq(stats.known.record_count[HATF_ALLOC], 1);
	ck_assert_mem_eq((char *)&stats + older, (char *)&untouched + older,
			 sizeof(stats) - older);

	stats.known.struct_nbytes = sizeof(stats);
	hatf_reader_get_stats(reader, &stats.known);
	ck_assert(stats.known.complete);
	ck_assert_uint_eq(stats.unknown, 0);

	memset(&stats, GUARD, sizeof(stats));
	hatf_reader_get_stats(reader, &stats.known);
	ck_assert_mem_eq(&stats, &untouched, sizeof(stats));
	hatf_reader_close(reader);
	close(fd);
}
END_TEST

/* The same holds for each struct that the library fills. */
START_TEST(all_results_keep_their_size)
{
	struct hatf_format format = { .struct_nbytes = 16 };
	struct hatf_events_stats seen = { .struct_nbytes = 16 };
	struct hatf_rings rings = { .struct_nbytes = 16, .trace = "x" };
	struct hatf_recovery found = { .struct_nbytes = 16, .trace = "x" };
	struct hatf_events *events;
	int fd;
	struct hatf_reader *const reader = read_trace(&fd);

	ck_assert(hatf_format_find("hatf", &format));
	ck_assert_str_eq(format.name, "hatf");
	ck_assert_ptr_null(format.suffix);
	ck_assert_int_eq(hatf_events_open(reader, &events), HATF_OK);
	hatf_events_get_stats(events, &seen);
	ck_assert_uint_eq(seen.struct_nbytes, 16);
	hatf_events_close(events);
	ck_assert_int_eq(hatf_rings_get("/nowhere", &rings, NULL), HATF_IO);
	ck_assert_str_eq(rings.trace, "x");
	ck_assert_int_eq(hatf_recover("/nowhere", NULL, 0, &found, NULL),
			 HATF_IO);
	ck_assert_str_eq(found.trace, "x");
	hatf_reader_close(reader);
	close(fd);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("struct_sizes");
	TCase *const tcase = tcase_create("struct_sizes");
	SRunner *const runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, older_options_are_smaller);
	tcase_add_test(tcase, newer_options_are_larger);
	tcase_add_test(tcase, impossible_sizes_are_refused);
	tcase_add_test(tcase, values_of_options_are_checked);
	tcase_add_test(tcase, results_fit_the_callers_struct);
	tcase_add_test(tcase, all_results_keep_their_size);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
