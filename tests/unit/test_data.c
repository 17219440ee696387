/* SPDX-License-Identifier: MIT */
/*
 * test_data.c - the golden traces stay readable; corrupt ones give known errors
 *
 * The traces in tests/data/golden must remain readable for ever, record by
 * record.  Those in tests/data/corrupt must give exactly the status, offset and
 * record in their NAME.expect. tests/data/README.md describes the files.
 */
#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"

#include <glob.h>
#include <inttypes.h>

#define MAX 256

static const char *const status_name[] = {
	"HATF_OK",	    "HATF_END",		 "HATF_TRUNCATED",
	"HATF_BAD_TAG",	    "HATF_BAD_METADATA", "HATF_BAD_COMPRESSION",
	"HATF_NOT_HATF",    "HATF_NO_TRAILER",	 "HATF_IO",
	"HATF_NO_MEMORY",   "HATF_BAD_RECORD",	 "HATF_LIMIT",
	"HATF_BAD_COMMENT",
};

static void
print_record(FILE *out, const struct hatf_record *r)
{
	fprintf(out,
		"%" PRIu64 " %s size=%" PRIu64 " old=0x%" PRIx64
		" address=0x%" PRIx64 " thread=%" PRIu64 " heap=%" PRIu64
		" time=%" PRIu64 " attributes=",
		r->offset, hatf_tag_name(r->tag), r->size, r->old_address,
		r->address, r->thread, r->heap, r->time);
	for (uint32_t i = 0; i < r->attributes_nbytes; i++)
		fprintf(out, "%02x", r->attributes[i]);
	fputc('\n', out);
}

static void
print_end(FILE *out, enum hatf_status status, uint64_t offset, uint64_t record,
	  const char *field)
{
	fprintf(out, "%s offset=%" PRIu64 " record=%" PRIu64 " field=%s\n",
		status_name[status], offset, record,
		field == NULL ? "-" : field);
}

/* Read the trace at 'path' and print the result. */
static void
print_trace(FILE *out, const char *path, bool with_records)
{
	struct hatf_record records[MAX];
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	struct hatf_error err;
	enum hatf_status status;
	uint64_t sum = 0;
	size_t n;

	status = hatf_reader_open(path, NULL, &reader, &err);
	if (status != HATF_OK) {
		print_end(out, status, err.offset, err.record, err.field);
		return;
	}
	while ((status = hatf_reader_read(reader, records, MAX, &n)) ==
	       HATF_OK) {
		sum += n;
		for (size_t i = 0; i < n && with_records; i++)
			print_record(out, &records[i]);
	}
	hatf_reader_get_stats(reader, &stats);
	err = *hatf_reader_error(reader);
	if (status == HATF_END) {
		ck_assert(stats.complete);
		print_end(out, status, stats.hatf_nbytes, sum, NULL);
	} else {
		/* All records before the error must have been delivered. */
		ck_assert_uint_eq(err.record, sum);
		print_end(out, status, err.offset, err.record, err.field);
	}
	hatf_reader_close(reader);
}

static char *
read_text(const char *path)
{
	FILE *const file = fopen(path, "r");
	char *text = NULL;
	size_t nbytes = 0;

	if (file == NULL)
		ck_abort_msg("%s: cannot be read", path);
	if (getdelim(&text, &nbytes, '\0', file) < 0)
		ck_abort_msg("%s: empty", path);
	fclose(file);
	return text;
}

/* Check that "x/NAME.hatf" gives the contents of "x/NAME.expect". */
static void
check_file(const char *path, bool with_records)
{
	const size_t stem = strlen(path) - strlen(".hatf");
	char expect_path[4096];
	char *want, *got;
	size_t nbytes;
	FILE *const out = open_memstream(&got, &nbytes);

	ck_assert_ptr_nonnull(out);
	snprintf(expect_path, sizeof(expect_path), "%.*s.expect", (int)stem,
		 path);
	want = read_text(expect_path);
	print_trace(out, path, with_records);
	fclose(out);
	if (strcmp(want, got) != 0)
		ck_abort_msg("%s\nexpected:\n%s\ngot:\n%s", path, want, got);
	free(want);
	free(got);
}

static void
check_folder(const char *pattern, size_t at_least, bool with_records)
{
	glob_t files;

	ck_assert_int_eq(glob(pattern, 0, NULL, &files), 0);
	ck_assert_uint_ge(files.gl_pathc, at_least);
	for (size_t i = 0; i < files.gl_pathc; i++)
		check_file(files.gl_pathv[i], with_records);
	globfree(&files);
}

START_TEST(golden_traces_are_read_record_for_record)
{
	check_folder("tests/data/golden/*.hatf", 5, true);
}
END_TEST

START_TEST(corrupt_traces_give_exactly_the_error_they_should)
{
	check_folder("tests/data/corrupt/*.hatf", 50, false);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		golden_traces_are_read_record_for_record,
		corrupt_traces_give_exactly_the_error_they_should,
	};

	return hand_run("data", tests, sizeof(tests) / sizeof(tests[0]));
}
