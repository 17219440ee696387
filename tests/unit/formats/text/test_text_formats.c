/* SPDX-License-Identifier: MIT */
/*
 * test_text_formats.c - line formats are exact; malformed lines are reported
 *
 * The line-based formats are written exactly as expected, byte for byte.  Their
 * sources also read what other programs may write.  Each malformed line is
 * reported with its line number, offset, record and offending column, after the
 * records before it.
 */
#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/streams.h"

#include <sys/mman.h>

#define TEXT(s) (const uint8_t *)(s), sizeof(s) - 1

static const struct hatf_record records[] = {
	{ .tag = HATF_ALLOC, .size = 24, .address = 0x55d0c0, .time = 1 },
	{ .tag = HATF_FREE, .address = 0x55d0c0, .thread = 1, .time = 2 },
	{ .tag = HATF_REALLOC_ALLOC_FREE,
	  .size = UINT64_MAX,
	  .address = 0x20,
	  .old_address = UINT64_MAX,
	  .heap = 3,
	  .time = 3,
	  .attributes = (const uint8_t *)"\x00\xff",
	  .attributes_nbytes = 2 },
	{ .tag = HATF_CREATE_HEAP, .heap = 3, .time = 4 },
	{ .tag = HATF_CREATE_THREAD, .thread = 7, .time = 5 },
	{ .tag = HATF_COMMENT,
	  .attributes = (const uint8_t *)"a \"b\"\n\\ \xc3\xa9",
	  .attributes_nbytes = 10 },
	{ .tag = HATF_COMMENT,
	  .attributes = (const uint8_t *)"\xff\t",
	  .attributes_nbytes = 2 },
	{ .tag = HATF_COMMENT },
};
#define COUNT (sizeof(records) / sizeof(records[0]))

static void
check_written(const struct hatf_writer_options *options, const char *want)
{
	const int fd = memfd_create("trace", MFD_CLOEXEC);
	struct hatf_writer *w;
	char text[4096] = "";

	ck_assert_int_eq(writer_of_fd(fd, options, &w, NULL), HATF_OK);
	ck_assert_int_eq(hatf_writer_write(w, records, COUNT), HATF_OK);
	ck_assert_int_eq(hatf_writer_close(w, NULL), HATF_OK);
	ck_assert_int_gt(pread(fd, text, sizeof(text) - 1, 0), 0);
	ck_assert_str_eq(text, want);
	close(fd);
}

START_TEST(ascii_is_numbers)
{
	check_written(&(struct hatf_writer_options){ .format = "ascii",
						     .plain = true,
						     .bare = true },
		      "10 HATF ascii thread heap time attributes\n"
		      "0 24 0x55d0c0 0 0 1\n"
		      "1 0x55d0c0 1 0 2\n"
		      "3 18446744073709551615 0xffffffffffffffff 0x20 0 3 3 "
		      "00ff\n"
		      "6 0 3 4\n"
		      "8 7 0 5\n"
		      "10 a \"b\"\\x0a\\x5c \\xc3\\xa9\n"
		      "10 \\xff\\x09\n"
		      "10 \n");
}
END_TEST

/* The format whose bytes the paper counts. */
START_TEST(ascii_without_further_fields_is_that_of_the_paper)
{
	check_written(
		&(struct hatf_writer_options){
			.format = "ascii",
			.plain = true,
			.bare = true,
			.drop = HATF_DROP_TIME | HATF_DROP_THREAD |
				HATF_DROP_HEAP | HATF_DROP_ATTRIBUTES |
				HATF_DROP_COMMENTS },
		"10 HATF ascii\n"
		"0 24 0x55d0c0\n"
		"1 0x55d0c0\n"
		"3 18446744073709551615 0xffffffffffffffff 0x20\n");
}
END_TEST

START_TEST(csv_is_cells)
{
	check_written(&(struct hatf_writer_options){ .format = "csv",
						     .plain = true,
						     .bare = true },
		      "tag,size,address,old_address,thread,heap,time,"
		      "attributes,text\n"
		      "alloc,24,0x55d0c0,,0,0,1,,\n"
		      "free,,0x55d0c0,,1,0,2,,\n"
		      "reallocAllocFree,18446744073709551615,0x20,"
		      "0xffffffffffffffff,0,3,3,00ff,\n"
		      "createHeap,,,,0,3,4,,\n"
		      "createThread,,,,7,,5,,\n"
		      "comment,,,,,,,,\"a \"\"b\"\"\\x0a\\x5c \xc3\xa9\"\n"
		      "comment,,,,,,,,\"\\xff\\x09\"\n"
		      "comment,,,,,,,,\"\"\n");
}
END_TEST

START_TEST(json_is_objects)
{
	check_written(
		&(struct hatf_writer_options){
			.format = "json", .plain = true, .bare = true },
		"{\"tag\":\"alloc\",\"size\":24,\"address\":\"0x55d0c0\","
		"\"thread\":0,\"heap\":0,\"time\":1}\n"
		"{\"tag\":\"free\",\"address\":\"0x55d0c0\",\"thread\":1,"
		"\"heap\":0,\"time\":2}\n"
		"{\"tag\":\"reallocAllocFree\",\"size\":"
		"\"18446744073709551615\",\"address\":\"0x20\","
		"\"old_address\":\"0xffffffffffffffff\",\"thread\":0,"
		"\"heap\":3,\"time\":3,\"attributes\":\"00ff\"}\n"
		"{\"tag\":\"createHeap\",\"thread\":0,\"heap\":3,\"time\":4}\n"
		"{\"tag\":\"createThread\",\"thread\":7,\"time\":5}\n"
		"{\"tag\":\"comment\",\"text\":\"a \\\"b\\\"\\n\\\\ "
		"\xc3\xa9\"}\n"
		"{\"tag\":\"comment\",\"hex\":\"ff09\"}\n"
		"{\"tag\":\"comment\",\"text\":\"\"}\n");
}
END_TEST

/* ------------------------------------------------- input by other programs */

/* Open a trace of these bytes.  Returns NULL and sets '*err' if that fails. */
static struct hatf_reader *
open_text(const uint8_t *text, size_t nbytes, struct hatf_error *err)
{
	const int fd = hand_file(text, nbytes);
	struct hatf_reader *reader = NULL;

	/* The reader has read the whole file, or keeps its own descriptor. */
	reader_of_fd(fd, 0, &reader, err);
	return reader;
}

/*
 * Check that the text is an alloc of 24 bytes at 0x10 with time 5 and attribute
 * 01.
 */
static void
check_alloc(const uint8_t *text, size_t nbytes)
{
	struct hatf_record r[2];
	struct hatf_error err;
	struct hatf_reader *const reader = open_text(text, nbytes, &err);
	char buf[200];
	size_t n;

	if (reader == NULL)
		ck_abort_msg("%s: %s", text,
			     hatf_error_text(&err, buf, sizeof(buf)));
	if (hatf_reader_read(reader, r, 2, &n) != HATF_OK)
		ck_abort_msg("%s: %s", text,
			     hatf_error_text(hatf_reader_error(reader), buf,
					     sizeof(buf)));
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(r->tag, HATF_ALLOC);
	ck_assert_uint_eq(r->size, 24);
	ck_assert_uint_eq(r->address, 16);
	ck_assert_uint_eq(r->time, 5);
	ck_assert_uint_eq(r->attributes_nbytes, 1);
	ck_assert_uint_eq(r->attributes[0], 1);
	ck_assert_int_eq(hatf_reader_read(reader, r, 2, &n), HATF_END);
	hatf_reader_close(reader);
}

START_TEST(other_ways_to_write_a_record_are_read)
{
	static const struct {
		const uint8_t *text;
		size_t nbytes;
	} cases[] = {
		{ TEXT("10 HATF ascii time attributes\n0 24 0x10 5 01\n") },
		{ TEXT("10 HATF ascii heap time thread attributes\n"
		       "0\t24  16   0 5 0 01\r\n") },
		/* Another line of columns applies to the lines after it. */
		{ TEXT("10 HATF ascii heap time thread attributes\n"
		       "10 HATF ascii time\n"
		       "10 HATF ascii\ttime attributes\n"
		       "0 24 0x10 5 01\n") },
		{ TEXT("tag,size,address,time,attributes\n"
		       "alloc,24,0x10,5,01\n") },
		{ TEXT("\"tag\",\"time\",\"attributes\",\"size\","
		       "\"address\"\r\n"
		       "\"0\",\"5\",\"01\",\"24\",\"16\"\r\n") },
		{ TEXT("{\"tag\":0,\"size\":24,\"address\":16,\"time\":5,"
		       "\"attributes\":\"01\"}\n") },
		{ TEXT("{ \"attributes\" : \"01\", \"heap\": null,\t"
		       "\"address\" : \"0x10\" , \"size\":\"24\", "
		       "\"time\" : \"5\" , \"tag\" : \"all\\u006fc\" } \r\n") },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_alloc(cases[i].text, cases[i].nbytes);
}
END_TEST

START_TEST(json_escapes_are_read)
{
	static const uint8_t text[] =
		"{\"tag\":\"comment\",\"text\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t"
		"\\u0000\\u00e9\\u20AC\\ud83d\\ude00\"}\n";
	static const uint8_t want[] = "\"\\/\b\f\n\r\t\0\xc3\xa9\xe2\x82\xac"
				      "\xf0\x9f\x98\x80";
	struct hatf_error err;
	struct hatf_reader *const reader =
		open_text(text, sizeof(text) - 1, &err);
	struct hatf_record r;
	size_t n;

	ck_assert_ptr_nonnull(reader);
	ck_assert_int_eq(hatf_reader_read(reader, &r, 1, &n), HATF_OK);
	ck_assert_uint_eq(r.attributes_nbytes, sizeof(want) - 1);
	ck_assert_mem_eq(r.attributes, want, sizeof(want) - 1);
	hatf_reader_close(reader);
}
END_TEST

/* Without a first line, ascii has no further columns. */
START_TEST(ascii_needs_no_first_line)
{
	struct hatf_error err;
	struct hatf_reader *const reader =
		open_text(TEXT("10 hello\n0 24 0x10\n1 16\n"), &err);
	struct hatf_record r[4];
	size_t n;

	ck_assert_ptr_nonnull(reader);
	ck_assert_str_eq(hatf_reader_format(reader), "ascii");
	ck_assert_int_eq(hatf_reader_read(reader, r, 4, &n), HATF_OK);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(r->attributes_nbytes, 5);
	ck_assert_int_eq(hatf_reader_read(reader, r, 4, &n), HATF_OK);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(r[1].address, 16);
	hatf_reader_close(reader);
}
END_TEST

/* Every example in FORMATS.md between ```KIND and ``` is a trace. */
START_TEST(the_examples_of_the_document_are_read)
{
	static const char *const kinds[] = { "ascii", "csv", "json", "xml" };
	static char document[1 << 17];
	FILE *const file = fopen("hatf/formats/FORMATS.md", "r");
	size_t nbytes;

	ck_assert_ptr_nonnull(file);
	nbytes = fread(document, 1, sizeof(document) - 1, file);
	fclose(file);
	ck_assert_uint_lt(nbytes, sizeof(document) - 1);
	for (size_t i = 0; i < 4; i++) {
		char fence[16];
		const char *start, *end;
		struct hatf_error err;
		struct hatf_reader *reader;
		struct hatf_record r[16];
		enum hatf_status status;
		size_t n, count = 0;

		snprintf(fence, sizeof(fence), "\n```%s\n", kinds[i]);
		start = strstr(document, fence);
		ck_assert_ptr_nonnull(start);
		start += strlen(fence);
		end = strstr(start, "```");
		reader = open_text((const uint8_t *)start,
				   (size_t)(end - start), &err);
		ck_assert_ptr_nonnull(reader);
		ck_assert_str_eq(hatf_reader_format(reader), kinds[i]);
		while ((status = hatf_reader_read(reader, r, 16, &n)) ==
		       HATF_OK)
			count += n;
		ck_assert_int_eq(status, HATF_END);
		ck_assert_uint_ge(count, 3);
		hatf_reader_close(reader);
	}
}
END_TEST

/* ------------------------------------------------------------ malformed */

/* The first line of each format, and a record. */
#define ASCII "10 HATF ascii thread time attributes\n1 0x10 0 1\n"
#define CSV                                                    \
	"tag,size,address,old_address,thread,heap,time,text\n" \
	"free,,0x10,,0,0,1,\n"
#define JSON "{\"tag\":\"free\",\"address\":\"0x10\"}\n"

struct bad {
	const char *text; /* what follows one of these */
	const char *field;
	enum hatf_status status; /* 0: HATF_BAD_FIELD */
};

static void
check_bad(const char *before, const struct bad *bad, unsigned line)
{
	char text[1024];
	struct hatf_error err;
	struct hatf_reader *reader;
	const struct hatf_error *e;
	struct hatf_record r[4];
	char buf[200], want[200];
	size_t n;

	snprintf(text, sizeof(text), "%s%s", before, bad->text);
	reader = open_text((const uint8_t *)text, strlen(text), &err);
	ck_assert_ptr_nonnull(reader);
	ck_assert_int_eq(hatf_reader_read(reader, r, 4, &n), HATF_OK);
	ck_assert_uint_eq(n, 1);
	if (hatf_reader_read(reader, r, 4, &n) !=
	    (bad->status == HATF_OK ? HATF_BAD_FIELD : bad->status))
		ck_abort_msg("passed: %s", bad->text);
	e = hatf_reader_error(reader);
	ck_assert_uint_eq(n, 0);
	ck_assert_pstr_eq(e->field, bad->field);
	ck_assert_uint_eq(e->record, 1);
	ck_assert_uint_eq(e->line, line);
	ck_assert_uint_eq(e->offset, strlen(before));
	snprintf(want, sizeof(want), "line %u, offset 0x%zx, record 1%s%s: %s",
		 line, strlen(before), bad->field != NULL ? ": " : "",
		 bad->field != NULL ? bad->field : "",
		 hatf_status_text(e->status));
	ck_assert_str_eq(hatf_error_text(e, buf, sizeof(buf)), want);
	hatf_reader_close(reader);
}

START_TEST(malformed_ascii_is_reported)
{
	static const struct bad cases[] = {
		{ "\n", "tag", 0 },
		{ "11 0\n", "tag", 0 },
		{ "x\n", "tag", 0 },
		{ "-1 0x10 0 0\n", "tag", 0 },
		{ " 1 0x10 0 0\n", "tag", 0 },
		{ "1x 0x10 0 0\n", "tag", 0 },
		{ "99999999999999999999 1\n", "tag", 0 },
		{ "0\n", "size", 0 },
		{ "0 x\n", "size", 0 },
		{ "0 18446744073709551616 0x10 0 0\n", "size", 0 },
		{ "0 -1 0x10 0 0\n", "size", 0 },
		{ "0 1.5 0x10 0 0\n", "size", 0 },
		{ "0 24\n", "address", 0 },
		{ "0 24 0x\n", "address", 0 },
		{ "0 24 0xg 0 0\n", "address", 0 },
		{ "0 24 0x10000000000000000 0 0\n", "address", 0 },
		{ "2 24 0x10 0x20x 0 0\n", "address", 0 },
		{ "2 24\n", "old_address", 0 },
		{ "1 0x10\n", "thread", 0 },
		{ "1 0x10 0\n", "time", 0 },
		{ "1 0x10 0 0 0\n", "attributes", 0 },
		{ "1 0x10 0 0 0g\n", "attributes", 0 },
		{ "1 0x10 0 0 01 02\n", "attributes", 0 },
		{ "8 1\n", "time", 0 },
		{ "1 0x10 0 0", NULL, HATF_TRUNCATED },
		{ "10 no end", NULL, HATF_TRUNCATED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_bad(ASCII, &cases[i], 3);
}
END_TEST

START_TEST(malformed_csv_is_reported)
{
	static const struct bad cases[] = {
		{ "\n", "size", 0 },
		{ ",,,,,,,\n", "tag", 0 },
		{ "malloc,24,0x10,,0,0,1,\n", "tag", 0 },
		{ "11,24,0x10,,0,0,1,\n", "tag", 0 },
		{ "\"free,,0x10,,0,0,1,\n", "tag", 0 },
		{ "\"free\"x,,0x10,,0,0,1,\n", "tag", 0 },
		{ "free,24,0x10,,0,0,1,\n", "size", 0 },
		{ "alloc,,0x10,,0,0,1,\n", "size", 0 },
		{ "alloc,24 ,0x10,,0,0,1,\n", "size", 0 },
		{ "alloc,24\n", "address", 0 },
		{ "alloc,24,,,0,0,1,\n", "address", 0 },
		{ "alloc,24,0x10,0x10,0,0,1,\n", "old_address", 0 },
		{ "free,,0x10,,,0,1,\n", "thread", 0 },
		{ "free,,0x10,,0,,1,\n", "heap", 0 },
		{ "createThread,,,,0,0,1,\n", "heap", 0 },
		{ "free,,0x10,,0,0,,\n", "time", 0 },
		{ "free,,0x10,,0,0,1\n", "text", 0 },
		{ "free,,0x10,,0,0,1,x\n", "text", 0 },
		{ "free,,0x10,,0,0,1,,\n", "columns", 0 },
		{ "comment,,,,,,,\"a\n", "text", 0 },
		{ "comment,,,,,,,\"a\"b\n", "text", 0 },
		{ "free,,0x10,,0,0,1,", NULL, HATF_TRUNCATED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_bad(CSV, &cases[i], 3);
}
END_TEST

START_TEST(malformed_json_is_reported)
{
	static const struct bad cases[] = {
		{ "\n", "object", 0 },
		{ "[]\n", "object", 0 },
		{ "{}\n", "key", 0 },
		{ "{\"tag\"}\n", "key", 0 },
		{ "{\"tag\":\"free\",}\n", "key", 0 },
		{ "{\"tag\":\"free\",\"address\":1\n", "object", 0 },
		{ "{\"tag\":\"free\",\"address\":1} x\n", "object", 0 },
		{ "{\"tag\":\"free\" \"address\":1}\n", "object", 0 },
		{ "{\"address\":1}\n", "tag", 0 },
		{ "{\"tag\":11}\n", "tag", 0 },
		{ "{\"tag\":[0]}\n", "tag", 0 },
		{ "{\"tag\":0,\"tag\":0}\n", "tag", 0 },
		{ "{\"tag\":\"free\"}\n", "address", 0 },
		{ "{\"tag\":\"free\",\"address\":null}\n", "address", 0 },
		{ "{\"tag\":\"free\",\"address\":\"\"}\n", "address", 0 },
		{ "{\"tag\":\"free\",\"address\":-1}\n", "address", 0 },
		{ "{\"tag\":\"free\",\"address\":1e3}\n", "object", 0 },
		{ "{\"tag\":\"free\",\"address\":{}}\n", "address", 0 },
		{ "{\"tag\":\"free\",\"address\":true}\n", "address", 0 },
		{ "{\"tag\":\"free\",\"address\":1,\"size\":1}\n", "size", 0 },
		{ "{\"tag\":\"free\",\"address\":1,\"where\":1}\n", "key", 0 },
		{ "{\"tag\":\"free\",\"address\":1,\"time\":"
		  "18446744073709551616}\n",
		  "time", 0 },
		{ "{\"tag\":\"free\",\"address\":1,\"attributes\":\"0\"}\n",
		  "attributes", 0 },
		{ "{\"tag\":\"free\",\"address\":1,\"attributes\":1}\n",
		  "attributes", 0 },
		{ "{\"tag\":\"comment\"}\n", "text", 0 },
		{ "{\"tag\":\"comment\",\"text\":12}\n", "text", 0 },
		{ "{\"tag\":\"comment\",\"text\":\"a\tb\"}\n", "text", 0 },
		{ "{\"tag\":\"comment\",\"text\":\"\\x\"}\n", "text", 0 },
		{ "{\"tag\":\"comment\",\"text\":\"\\u12\"}\n", "text", 0 },
		{ "{\"tag\":\"comment\",\"text\":\"\\ud83d\"}\n", "text", 0 },
		{ "{\"tag\":\"comment\",\"text\":\"\\ude00\"}\n", "text", 0 },
		{ "{\"tag\":\"comment\",\"text\":\"\\ud83d\\u0041\"}\n", "text",
		  0 },
		{ "{\"tag\":\"comment\",\"text\":\"a\\\n", "text", 0 },
		{ "{\"tag\":\"comment\",\"hex\":\"0\"}\n", "hex", 0 },
		{ "{\"tag\":\"comment\",\"hex\":\"00\",\"text\":\"\"}\n",
		  "text", 0 },
		{ "{\"tag\":\"free\",\"address\":1}", NULL, HATF_TRUNCATED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_bad(JSON, &cases[i], 2);
}
END_TEST

START_TEST(a_wrong_first_line_is_no_trace)
{
	static const struct {
		const uint8_t *text;
		size_t nbytes;
		const char *field;
	} cases[] = {
		{ TEXT("1 monkey\n"), "address" },
		{ TEXT("10 HATF ascii time time\n"), "columns" },
		{ TEXT("10 HATF ascii size\n"), "columns" },
		{ TEXT("10 HATF ascii attributes time\n"), "columns" },
		{ TEXT("tag,time,what\n"), "columns" },
		{ TEXT("tag,time,time\n"), "columns" },
		{ TEXT("tag,\"time\n"), "columns" },
		{ TEXT("{\n  \"key\": 1\n}\n"), "key" },
		{ TEXT("{\"name\":\"hatf\"}\n"), "key" },
		{ TEXT("{\"tag\":\"alloc\""), "line" },
		{ TEXT("tag,size,addr"), "line" },
		{ TEXT("tag,size,address\n"), NULL },
		{ TEXT("10 HATF ascii\n"), NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hatf_error err;

		if (open_text(cases[i].text, cases[i].nbytes, &err) != NULL)
			ck_abort_msg("passed: %s", cases[i].text);
		ck_assert_int_eq(err.status, HATF_NOT_HATF);
		ck_assert_pstr_eq(err.field, cases[i].field);
		/* Or the line after it, where the first is valid. */
		ck_assert_uint_eq(err.line, cases[i].field != NULL ? 1 : 2);
	}
}
END_TEST

/* A line without an end takes no more memory than the window. */
START_TEST(a_line_without_end_is_refused)
{
	const size_t nbytes = 4 << 20;
	uint8_t *const text = malloc(nbytes);
	struct hatf_error err;
	struct hatf_reader *reader;
	struct hatf_record r[2];
	size_t n;

	memset(text, 'a', nbytes);
	memcpy(text, "0 1 1\n10 ", 9);
	reader = open_text(text, nbytes, &err);
	ck_assert_ptr_nonnull(reader);
	ck_assert_int_eq(hatf_reader_read(reader, r, 2, &n), HATF_OK);
	ck_assert_int_eq(hatf_reader_read(reader, r, 2, &n), HATF_LIMIT);
	ck_assert_uint_eq(hatf_reader_error(reader)->line, 2);
	ck_assert_str_eq(hatf_reader_error(reader)->field, "line");
	hatf_reader_close(reader);
	free(text);
}
END_TEST

/* The reader checks the numbers of a trailer in every format. */
START_TEST(a_piece_that_is_missing_is_seen)
{
	struct hatf_error err;
	struct hatf_reader *const reader =
		open_text(TEXT("10 HATF ascii\n10 HATF 1.0\\x0aunit=ns\n1 16\n"
			       "10 HATF end\\x0acomplete=1\\x0aevents=2\\x0a"
			       "records=3\\x0alost=0\n"),
			  &err);
	struct hatf_record r[4];
	size_t n;

	ck_assert_ptr_nonnull(reader);
	ck_assert_str_eq(hatf_reader_header(reader, "unit"), "ns");
	ck_assert_int_eq(hatf_reader_read(reader, r, 4, &n), HATF_OK);
	ck_assert_int_eq(hatf_reader_read(reader, r, 4, &n), HATF_OK);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(hatf_reader_read(reader, r, 4, &n), HATF_BAD_COMMENT);
	ck_assert_str_eq(hatf_reader_error(reader)->field, "events");
	ck_assert_uint_eq(hatf_reader_error(reader)->record, 2);
	ck_assert_uint_eq(hatf_reader_error(reader)->line, 4);
	hatf_reader_close(reader);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("text_formats");
	TCase *const tc = tcase_create("text_formats");
	SRunner *runner;
	int failed;

	tcase_add_test(tc, ascii_is_numbers);
	tcase_add_test(tc, ascii_without_further_fields_is_that_of_the_paper);
	tcase_add_test(tc, csv_is_cells);
	tcase_add_test(tc, json_is_objects);
	tcase_add_test(tc, other_ways_to_write_a_record_are_read);
	tcase_add_test(tc, json_escapes_are_read);
	tcase_add_test(tc, ascii_needs_no_first_line);
	tcase_add_test(tc, the_examples_of_the_document_are_read);
	tcase_add_test(tc, malformed_ascii_is_reported);
	tcase_add_test(tc, malformed_csv_is_reported);
	tcase_add_test(tc, malformed_json_is_reported);
	tcase_add_test(tc, a_wrong_first_line_is_no_trace);
	tcase_add_test(tc, a_line_without_end_is_refused);
	tcase_add_test(tc, a_piece_that_is_missing_is_seen);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
