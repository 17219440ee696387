/* SPDX-License-Identifier: MIT */
/*
 * test_foreign.c - truncated files of other systems
 *
 * A truncated trace in another system's format yields the records before the
 * cut.  The reader then either reports the truncation with its place, or the
 * rest is as valid as the whole trace.
 *
 * The small files are written by the sinks from a trace with every feature, or
 * come from the systems themselves (tests/data/foreign).
 */
#include "hatf/hatf.h"
#include "hatf/io/frame_reader.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/sample.h"
#include "tests/unit/support/streams.h"

#include <glob.h>

#define TEXT(s) \
	.attributes = (const uint8_t *)(s), .attributes_nbytes = sizeof(s) - 1

/*
 * Cut larger files at this many places, and all but the smallest file of a
 * format at fewer: each cut opens a reader, which is slow under a sanitizer.
 */
#define CUTS_MAX 3000
#define CUTS_FEW 300

#define FILE_MAX ((size_t)256 * 1024)

#define FOLDER "tests/data/foreign"

static const struct hatf_record records[] = {
	{ .tag = HATF_ALLOC, .size = 24, .address = 0x5581c0, .time = 17 },
	{ .tag = HATF_COMMENT,
	  TEXT("HATF frame\nframe=1\nline=3\naddress=0x401000\n"
	       "function=main\nfile=a.c\nobject=/bin/a\n") },
	{ .tag = HATF_COMMENT,
	  TEXT("HATF stack\nstack=1\nparent=0\nframe=1\n") },
	{ .tag = HATF_COMMENT, TEXT("HATF frame\nframe=2\nfunction=f\n") },
	{ .tag = HATF_COMMENT,
	  TEXT("HATF stack\nstack=2\nparent=1\nframe=2\n") },
	{ .tag = HATF_ALLOC,
	  .size = 64,
	  .address = 0x7ffff7a01230,
	  .time = 18,
	  TEXT("\x45\x02") },
	{ .tag = HATF_CREATE_THREAD, .thread = 1, .time = 18 },
	{ .tag = HATF_REALLOC_ALLOC_FREE,
	  .size = 100,
	  .old_address = 0x5581c0,
	  .address = 0x559000,
	  .thread = 1,
	  .time = 20,
	  TEXT("\x45\x01") },
	{ .tag = HATF_ALLOC,
	  .size = 100,
	  .address = 0x559000,
	  .thread = 1,
	  .time = 20 },
	{ .tag = HATF_FREE, .address = 0x5581c0, .thread = 1, .time = 20 },
	{ .tag = HATF_REALLOC_NO_ALLOC,
	  .size = 50,
	  .old_address = 0x559000,
	  .address = 0x559000,
	  .time = 21 },
	{ .tag = HATF_ALLOC, .size = 0, .address = 0x5581c0, .time = 2000 },
	{ .tag = HATF_FREE, .address = 0x559000, .time = 30000 },
	{ .tag = HATF_FREE, .address = 0x7ffff7a01230, .time = 90000 },
};
#define COUNT (sizeof(records) / sizeof(records[0]))

/*
 * Read a file in 'format'; NULL: detect it.  Return the number of records, or
 * -1 if the file could not be opened.
 */
static ssize_t
read_file(const char *format, const uint8_t *bytes, size_t nbytes,
	  struct hatf_error *err)
{
	const int fd = hand_file(bytes, nbytes);
	struct hatf_record batch[64];
	struct hatf_reader *reader;
	enum hatf_status status;
	size_t n, count = 0;

	status = reader_of_fd_as(fd, format, 0, &reader, err);
	if (status != HATF_OK) {
		close(fd);
		return -1;
	}
	while ((status = hatf_reader_read(reader, batch, 64, &n)) == HATF_OK)
		count += n;
	*err = *hatf_reader_error(reader);
	err->status = status;
	hatf_reader_close(reader);
	close(fd);
	return (ssize_t)count;
}

/* Cut the file at every byte, or at about 'count' places. */
static void
check_cuts(const char *format, const char *name, const uint8_t *bytes,
	   size_t nbytes, size_t cuts_max)
{
	const size_t step = (nbytes / cuts_max + 1) * SAMPLE_STEP;
	struct hatf_error err;
	char text[256];
	const ssize_t whole = read_file(format, bytes, nbytes, &err);
	size_t ends = 0, cuts = 0;

	ck_assert_msg(whole >= 0, "%s: %s", name, hatf_status_text(err.status));
	for (size_t cut = 0; cut < nbytes; cut += step) {
		const ssize_t n = read_file(format, bytes, cut, &err);

		cuts++;
		ck_assert_msg(n <= whole, "%s, cut at %zu: %zd records", name,
			      cut, n);
		if (err.status == HATF_END) {
			/* Padding may follow the last record. */
			ends += n < whole;
			continue;
		}
		ck_assert_msg(err.status == HATF_TRUNCATED ||
				      err.status == HATF_NO_TRAILER ||
				      err.status == HATF_NOT_HATF ||
				      err.status == HATF_BAD_FIELD ||
				      err.status == HATF_BAD_TAG,
			      "%s, cut at %zu: %s", name, cut,
			      hatf_status_text(err.status));
		/* Offsets count uncompressed bytes. */
		ck_assert_msg(err.offset <= cut ||
				      frame_kind_recognize(bytes, cut) !=
					      FRAME_NONE,
			      "%s, cut at %zu: offset %zu", name, cut,
			      (size_t)err.offset);
		hatf_error_text(&err, text, sizeof(text));
	}
	/*
	 * A cut at the end of a line may be undetectable; any other cut is
	 * reported.
	 */
	ck_assert_msg(ends <= cuts / 4, "%s: %zu of %zu cuts are whole", name,
		      ends, cuts);
}

START_TEST(files_of_our_sinks_may_be_cut)
{
	struct hatf_format f = { .struct_nbytes = sizeof(f) };

	for (unsigned i = 0; hatf_format_get(i, &f); i++) {
		const struct hatf_writer_options options = { .plain = true,
							     .format = f.name };
		static uint8_t bytes[FILE_MAX];
		struct hatf_writer *w;
		ssize_t nbytes;
		int fd;

		if (!f.foreign || !f.reads || !f.writes)
			continue;
		fd = memfd_create("trace", MFD_CLOEXEC);
		ck_assert_int_eq(writer_of_fd(fd, &options, &w, NULL), HATF_OK);
		ck_assert_int_eq(hatf_writer_write(w, records, COUNT), HATF_OK);
		ck_assert_int_eq(hatf_writer_close(w, NULL), HATF_OK);
		nbytes = pread(fd, bytes, sizeof(bytes), 0);
		ck_assert_int_gt(nbytes, 0);
		check_cuts(f.name, f.name, bytes, (size_t)nbytes, CUTS_MAX);
		close(fd);
	}
}
END_TEST

/* Load a file, uncompressed. */
static size_t
load(const char *path, uint8_t *bytes, size_t cap)
{
	const gzFile file = gzopen(path, "r");
	const int n = file == NULL ? -1 : gzread(file, bytes, (unsigned)cap);

	gzclose(file);
	return n < 0 ? 0 : (size_t)n;
}

/* Load a whole trace in the format.  Return its length, or 0. */
static size_t
load_trace(const char *format, const char *path, uint8_t *bytes)
{
	const size_t nbytes = load(path, bytes, FILE_MAX);
	struct hatf_error err;

	if (nbytes == FILE_MAX || nbytes < 16 ||
	    read_file(NULL, bytes, nbytes, &err) < 1 || err.status != HATF_END)
		return 0;
	/* The folder has results of the systems' own readers, too. */
	if (read_file(format, bytes, nbytes, &err) < 1 ||
	    err.status != HATF_END)
		return 0;
	return nbytes;
}

/* Check each file of the folder that is a trace in its format. */
static unsigned
check_folder(const char *format)
{
	static uint8_t bytes[FILE_MAX];
	size_t smallest = FILE_MAX;
	unsigned count = 0;
	char pattern[512];
	glob_t files;

	snprintf(pattern, sizeof(pattern), FOLDER "/%s/*", format);
	if (glob(pattern, 0, NULL, &files) != 0)
		return 0;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		const size_t n = load_trace(format, files.gl_pathv[i], bytes);

		if (n != 0 && n < smallest)
			smallest = n;
	}
	for (size_t i = 0; i < files.gl_pathc; i++) {
		const size_t n = load_trace(format, files.gl_pathv[i], bytes);

		if (n == 0)
			continue;
		check_cuts(format, files.gl_pathv[i], bytes, n,
			   n == smallest ? CUTS_MAX : CUTS_FEW);
		count++;
	}
	globfree(&files);
	return count;
}

START_TEST(files_of_other_systems_may_be_cut)
{
	struct hatf_format f = { .struct_nbytes = sizeof(f) };
	unsigned count = 0;

	for (unsigned i = 0; hatf_format_get(i, &f); i++)
		if (f.foreign && f.reads)
			count += check_folder(f.name);
	ck_assert_uint_gt(count, 5);
}
END_TEST

/* A format that cannot be opened this way is refused by name. */
START_TEST(names_of_formats_are_checked)
{
	static const uint8_t text[] = "0 1 0x10\n";
	struct hatf_error err;
	struct hatf_format f = { .struct_nbytes = sizeof(f) };

	ck_assert_int_eq(read_file("nothing", text, sizeof(text) - 1, &err),
			 -1);
	ck_assert_int_eq(err.status, HATF_BAD_OPTION);
	ck_assert_str_eq(err.field, "format");
	for (unsigned i = 0; hatf_format_get(i, &f); i++) {
		const struct hatf_writer_options options = { .format = f.name };
		struct hatf_writer *w;

		if (!f.reads) {
			ck_assert_int_eq(
				read_file(f.name, text, sizeof(text) - 1, &err),
				-1);
			ck_assert_int_eq(err.status, HATF_BAD_OPTION);
		}
		if (!f.writes)
			ck_assert_int_eq(writer_of_fd(-1, &options, &w, &err),
					 HATF_BAD_OPTION);
		/*
		 * The content decides, unless it is ambiguous or HATF is
		 * requested.
		 */
		if (f.reads && !f.by_name && strcmp(f.name, "hatf") != 0)
			ck_assert_int_eq(
				read_file(f.name, text, sizeof(text) - 1, &err),
				1);
	}
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("foreign");
	TCase *const tc = tcase_create("foreign");

	tcase_set_timeout(tc, 240);
	tcase_add_test(tc, files_of_our_sinks_may_be_cut);
	tcase_add_test(tc, files_of_other_systems_may_be_cut);
	tcase_add_test(tc, names_of_formats_are_checked);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
