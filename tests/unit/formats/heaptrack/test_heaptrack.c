/* SPDX-License-Identifier: MIT */
/*
 * test_heaptrack.c - files of heaptrack, read
 *
 * The meaning of lines in heaptrack's files, in each version and of both kinds.
 * Malformed files are reported with their place.  A file that is cut anywhere
 * yields the records before the cut.
 */
#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/streams.h"

/* The same four events with two stacks, in every form. */
static const char interpreted[] = "v 10400 3\n"
				  "X prog with words\n"
				  "I 1000 5e298f\n"
				  "s 4 main\n"
				  "s 9 a dir/a.c\n"
				  "s 2 so\n"
				  "i 401000 3 1 2 1a\n"
				  "t 1 0\n"
				  "a 40 1\n"
				  "+ 0\n"
				  "+ 0\n"
				  "\n"
				  "# a comment\n"
				  "R 429\n"
				  "S leak:x\n"
				  "c 5\n"
				  "- 0\n"
				  "i 402000 3 1 2 5 0 2 6 1 0 0\n"
				  "t 2 1\n"
				  "a 10 2\n"
				  "c a\n"
				  "+ 1\n"
				  "# strings: 3\n";

static const char raw[] = "v 10400 3\n"
			  "x 2 so\n"
			  "X prog with words\n"
			  "I 1000 5e298f\n"
			  "m 1 -\n"
			  "m 1 x 400000 0 1fff 2000 10\n"
			  "t 401000 0\n"
			  "+ 40 1 a000\n"
			  "+ 40 1 b000\n"
			  "R 429\n"
			  "c 5\n"
			  "- b000\n"
			  "t 402000 1\n"
			  "c a\n"
			  "+ 10 2 b000\n";

/*
 * Before version 3, strings had no length; before version 1, there were no
 * kinds.
 */
static const char old[] = "v 10000\n"
			  "X prog with words\n"
			  "I 1000 5e298f\n"
			  "s main\n"
			  "s a dir/a.c\n"
			  "s so\n"
			  "i 401000 3 1 2 1a\n"
			  "t 1 0\n"
			  "+ 40 1 a000\n"
			  "+ 40 1 b000\n"
			  "c 5\n"
			  "- b000\n"
			  "i 402000 3 1 2 5 0 2 6 1 0 0\n"
			  "t 2 1\n"
			  "c a\n"
			  "+ 10 2 b000\n";

/*
 * The result of reading one file; an event is "+SIZE:FUNCTION LINE<...@TIME".
 */
struct reading {
	enum hatf_status status;
	struct hatf_error err;
	char text[2000];
	char command[100], unit[10], page_size[20], exe[20], start[10];
	uint64_t addresses[50];
	size_t count; /* records except comments */
};

static void
keep_header(const struct hatf_reader *reader, const char *key, char *value,
	    size_t nbytes)
{
	const char *const found = hatf_reader_header(reader, key);

	snprintf(value, nbytes, "%s", found == NULL ? "-" : found);
}

static void
append(struct reading *r, const char *text)
{
	ck_assert_uint_lt(strlen(r->text) + strlen(text), sizeof(r->text));
	strcat(r->text, text);
}

static void
append_stack(struct reading *r, const struct hatf_stacks *stacks, uint64_t id)
{
	struct hatf_stack stack;
	struct hatf_frame f;
	char buf[200];

	for (; hatf_stacks_get(stacks, id, &stack); id = stack.parent) {
		ck_assert(hatf_stacks_get_frame(stacks, stack.frame, &f));
		snprintf(buf, sizeof(buf), "<%s %s:%d %s %#lx",
			 f.function ? f.function : "?", f.file ? f.file : "?",
			 (int)f.line, f.object ? f.object : "?",
			 (unsigned long)f.address);
		append(r, buf);
	}
}

static void
note(struct reading *r, struct hatf_stacks *stacks,
     const struct hatf_record *rec)
{
	char buf[100];

	if (rec->tag == HATF_COMMENT) {
		ck_assert_int_eq(hatf_stacks_note(stacks, rec, NULL), HATF_OK);
		return;
	}
	ck_assert_uint_lt(r->count, 50);
	r->addresses[r->count++] = rec->address;
	snprintf(buf, sizeof(buf), "%c%d", rec->tag == HATF_ALLOC ? '+' : '-',
		 (int)rec->size);
	append(r, buf);
	append_stack(r, stacks, hatf_record_stack(rec));
	snprintf(buf, sizeof(buf), "@%d\n", (int)rec->time);
	append(r, buf);
}

/* Read 'nbytes' bytes in batches of 'batch' records. */
static void
read_bytes(struct reading *r, const char *bytes, size_t nbytes, size_t max)
{
	const int fd = hand_file((const uint8_t *)bytes, nbytes);
	struct hatf_record records[8];
	struct hatf_reader *reader;
	struct hatf_stacks *stacks;
	size_t n;

	memset(r, 0, sizeof(*r));
	ck_assert_int_eq(hatf_stacks_open(&stacks), HATF_OK);
	r->status = reader_of_fd(fd, 0, &reader, &r->err);
	if (r->status == HATF_OK) {
		ck_assert_str_eq(hatf_reader_format(reader), "heaptrack");
		while ((r->status = hatf_reader_read(reader, records, max,
						     &n)) == HATF_OK)
			for (size_t i = 0; i < n; i++)
				note(r, stacks, &records[i]);
		r->err = *hatf_reader_error(reader);
		keep_header(reader, "command", r->command, sizeof(r->command));
		keep_header(reader, "unit", r->unit, sizeof(r->unit));
		keep_header(reader, "page_size", r->page_size,
			    sizeof(r->page_size));
		keep_header(reader, "exe", r->exe, sizeof(r->exe));
		keep_header(reader, "start", r->start, sizeof(r->start));
		hatf_reader_close(reader);
	}
	hatf_stacks_close(stacks);
	close(fd);
}

static void
read_text(struct reading *r, const char *text)
{
	read_bytes(r, text, strlen(text), 8);
}

static void
check_header(const struct reading *r, const char *exe)
{
	ck_assert_int_eq(r->status, HATF_END);
	ck_assert_str_eq(r->command, "prog with words");
	ck_assert_str_eq(r->unit, "us");
	ck_assert_str_eq(r->page_size, "4096");
	ck_assert_str_eq(r->exe, exe);
	ck_assert_str_eq(r->start, "-");
}

/* The innermost function comes first in an 'i', and in a stack. */
#define NAMED                                                        \
	"+64<main a dir/a.c:26 so 0x401001@0\n"                      \
	"+64<main a dir/a.c:26 so 0x401001@0\n"                      \
	"-0@5000\n"                                                  \
	"+16<main a dir/a.c:5 so 0x402001<? a dir/a.c:6 so 0x402001" \
	"<main ?:0 so 0x402001<main a dir/a.c:26 so 0x401001@10000\n"

START_TEST(names_stacks_and_times_are_those_of_an_interpreted_file)
{
	struct reading r;

	for (size_t max = 1; max <= 8; max++) {
		read_bytes(&r, interpreted, sizeof(interpreted) - 1, max);
		check_header(&r, "-");
		ck_assert_str_eq(r.text, NAMED);
	}
}
END_TEST

START_TEST(a_free_of_a_kind_frees_the_newest_block)
{
	struct reading r;

	read_text(&r, interpreted);
	ck_assert_uint_eq(r.count, 4);
	ck_assert_uint_ne(r.addresses[0], r.addresses[1]);
	ck_assert_uint_eq(r.addresses[2], r.addresses[1]);
	ck_assert_uint_ne(r.addresses[3], r.addresses[0]);
	ck_assert_uint_ne(r.addresses[3], r.addresses[1]);
	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(r.addresses[i] % 16, 0);
}
END_TEST

static void
check_addresses(const struct reading *r)
{
	static const uint64_t want[] = { 0xa000, 0xb000, 0xb000, 0xb000 };

	ck_assert_uint_eq(r->count, 4);
	ck_assert_mem_eq(r->addresses, want, sizeof(want));
}

START_TEST(a_raw_file_has_addresses_and_objects)
{
	struct reading r;

	for (size_t max = 1; max <= 8; max++) {
		read_bytes(&r, raw, sizeof(raw) - 1, max);
		check_header(&r, "so");
		check_addresses(&r);
		ck_assert_str_eq(r.text, "+64<? ?:0 so 0x401001@0\n"
					 "+64<? ?:0 so 0x401001@0\n"
					 "-0@5000\n"
					 "+16<? ?:0 so 0x402001"
					 "<? ?:0 so 0x401001@10000\n");
	}
}
END_TEST

START_TEST(a_file_of_version_0_has_names_and_addresses)
{
	struct reading r;

	read_text(&r, old);
	check_header(&r, "-");
	check_addresses(&r);
	ck_assert_str_eq(r.text, NAMED);
}
END_TEST

/* Some releases wrote this instead of a version. */
START_TEST(versions_1_and_2_have_kinds_and_strings_without_length)
{
	static const char *const firsts[] = { "v 10200\n", "v 10100 1\n",
					      "v 10300 2\n" };
	static const char rest[] = "s a dir/a.c\n"
				   "s 3 x\n"
				   "i 1 0 2 1 7\n"
				   "t 1 0\n"
				   "a 8 1\n"
				   "a 8 0\n"
				   "+ 0\n"
				   "+ 1\n";

	for (size_t i = 0; i < 3; i++) {
		char text[200];
		struct reading r;

		snprintf(text, sizeof(text), "%s%s", firsts[i], rest);
		read_text(&r, text);
		ck_assert_int_eq(r.status, HATF_END);
		ck_assert_str_eq(r.text, "+8<3 x a dir/a.c:7 ? 0x2@0\n+8@0\n");
	}
}
END_TEST

START_TEST(a_late_start_may_free_older_blocks)
{
	struct reading r;

	read_text(&r, "v 10400 3\nA\n- a000\n");
	ck_assert_int_eq(r.status, HATF_END);
	ck_assert_str_eq(r.start, "late");
}
END_TEST

/* A process loads and unloads objects. */
START_TEST(an_address_is_in_the_object_loaded_then)
{
	struct reading r;

	read_text(&r, "v 10400 3\n"
		      "m 1 a 1000 0 1000\n"
		      "m 1 b 3000 0 1000\n"
		      "t 1fff 0\n"
		      "t 2000 0\n"
		      "m 1 -\n"
		      "m 1 c 1000 0 3000\n"
		      "t 3001 0\n"
		      "+ 1 1 10\n"
		      "+ 1 2 20\n"
		      "+ 1 3 30\n");
	ck_assert_int_eq(r.status, HATF_END);
	ck_assert_str_eq(r.text, "+1<? ?:0 a 0x2000@0\n+1<? ?:0 ? 0x2001@0\n"
				 "+1<? ?:0 c 0x3002@0\n");
}
END_TEST

/* The second line is malformed. */
START_TEST(malformed_lines_are_reported)
{
	static const struct {
		const char *line, *field;
		enum hatf_status status;
	} cases[] = {
		{ "z", "line", HATF_BAD_FIELD },
		{ "-", "line", HATF_BAD_FIELD },
		{ "+a", "line", HATF_BAD_FIELD },
		{ "- ", "address", HATF_BAD_FIELD },
		{ "- A", "address", HATF_BAD_FIELD },
		{ "- 12345678901234567", "address", HATF_BAD_FIELD },
		{ "+ 10 1 a000", "trace", HATF_BAD_FIELD },
		{ "+ 10 0", "address", HATF_BAD_FIELD },
		{ "+ x 0 a000", "size", HATF_BAD_FIELD },
		{ "s 5 main", "string", HATF_BAD_FIELD },
		{ "s ffffffffffffffff main", "string", HATF_BAD_FIELD },
		{ "s 3 main", "string", HATF_BAD_FIELD },
		{ "i 1 1", "object", HATF_BAD_FIELD },
		{ "i x", "ip", HATF_BAD_FIELD },
		{ "i 1 0 ffffffffffffffff", "place", HATF_BAD_FIELD },
		{ "i 1 0 0 0", "place", HATF_BAD_FIELD },
		{ "a 10 1", "trace", HATF_BAD_FIELD },
		{ "a", "line", HATF_BAD_FIELD },
		{ "t 1", "parent", HATF_BAD_FIELD },
		{ "t 1 ffffffff", "parent", HATF_BAD_FIELD },
		{ "m ffffffffffffffff x", "module", HATF_BAD_FIELD },
		{ "m 1 x 1000 0", "module", HATF_BAD_FIELD },
		{ "m 1 x ffffffffffffffff 1 0", "module", HATF_BAD_FIELD },
		{ "c -1", "time", HATF_BAD_FIELD },
		{ "c ffffffffffffffff", "time", HATF_BAD_FIELD },
		{ "v 10400 3", "version", HATF_BAD_FIELD },
		{ "I x", "page_size", HATF_BAD_FIELD },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[100];
		struct reading r;

		snprintf(text, sizeof(text), "v 10400 3\n%s\n", cases[i].line);
		read_text(&r, text);
		if (r.err.status != cases[i].status || r.err.field == NULL ||
		    strcmp(r.err.field, cases[i].field) != 0)
			ck_abort_msg("'%s': status %d, field %s", cases[i].line,
				     r.err.status, r.err.field);
		ck_assert_uint_eq(r.err.line, 2);
		ck_assert_uint_eq(r.err.offset, 10);
	}
}
END_TEST

/* Two different names must stay different. */
START_TEST(a_name_with_a_nul_is_refused)
{
	static const char *const heads[] = { "v 10400 3\ns 3 a",
					     "v 10100 2\ns a" };

	for (size_t i = 0; i < 2; i++) {
		char text[100];
		struct hatf_reader *reader;
		struct hatf_record rec;
		size_t n, used = strlen(heads[i]);
		int fd;

		memcpy(text, heads[i], used);
		memcpy(text + used, "\0b\na 1 0\n", 9);
		fd = hand_file((const uint8_t *)text, used + 9);
		ck_assert_int_eq(reader_of_fd(fd, 0, &reader, NULL), HATF_OK);
		ck_assert_int_eq(hatf_reader_read(reader, &rec, 1, &n),
				 HATF_BAD_FIELD);
		ck_assert_str_eq(hatf_reader_error(reader)->field, "string");
		ck_assert_uint_eq(hatf_reader_error(reader)->line, 2);
		hatf_reader_close(reader);
		close(fd);
	}
}
END_TEST

/* An unknown version. */
START_TEST(newer_versions_are_refused)
{
	struct reading r;

	read_text(&r, "v 10400 4\n+ 1 0 2\n");
	ck_assert_int_ne(r.err.status, HATF_OK);
	ck_assert_str_eq(r.text, "");
}
END_TEST

/* In a file whose kind is already known. */
START_TEST(malformed_lines_of_interpreted_files_are_reported)
{
	static const struct {
		const char *line, *field;
	} cases[] = {
		{ "+ 1", "kind" },   { "+ ffffffffffffffff", "kind" },
		{ "- 1", "kind" },   { "- ", "kind" },
		{ "t 1 0", "ip" },   { "m 1 x 0", "line" },
		{ "x 1 x", "line" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[100];
		struct reading r;

		snprintf(text, sizeof(text), "v 10400 3\na 1 0\n+ 0\n%s\n",
			 cases[i].line);
		read_text(&r, text);
		ck_assert_int_eq(r.status, HATF_BAD_FIELD);
		ck_assert_str_eq(r.err.field, cases[i].field);
		ck_assert_uint_eq(r.err.line, 4);
		ck_assert_uint_eq(r.err.record, 1);
		ck_assert_str_eq(r.text, "+1@0\n");
	}
}
END_TEST

/* Every stack with the address has all of its frames. */
START_TEST(the_frames_of_an_address_are_bounded)
{
	char text[8192] = "v 10400 3\ns 1 f\ni 1 0";
	struct reading r;

	for (int i = 0; i < 1024; i++)
		strcat(text, " 1 1 1");
	strcat(text, "\n");
	read_text(&r, text);
	ck_assert_int_eq(r.status, HATF_END);
	strcpy(strchr(text, '\0') - 1, " 1 1 1\n");
	read_text(&r, text);
	ck_assert_int_eq(r.status, HATF_LIMIT);
	ck_assert_str_eq(r.err.field, "ip");
}
END_TEST

START_TEST(other_first_lines_are_not_recognized)
{
	static const char *const texts[] = { "v\n",	    "v x\n",
					     "v 10400 x\n", "v 10400 3 x\n",
					     "w 10400 3\n", "v 10400 4\n",
					     "v 10400 3" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct reading r;

		read_text(&r, texts[i]);
		ck_assert_int_eq(r.status, HATF_NOT_HATF);
	}
}
END_TEST

/*
 * The window has more bytes at once of a plain file than of a compressed one.
 */
START_TEST(recognition_reads_a_bounded_prefix)
{
	char text[1000];
	struct reading r;

	memset(text, '0', sizeof(text));
	memcpy(text, "v ", 2);
	memcpy(text + 500, " 3\n", 4);
	read_text(&r, text);
	ck_assert_int_eq(r.status, HATF_END);
	memset(text + 500, '0', 100);
	memcpy(text + 600, " 3\n", 4);
	read_text(&r, text);
	ck_assert_int_eq(r.status, HATF_NOT_HATF);
}
END_TEST

/*
 * Return whether the events of 'cut' are a prefix of those of the whole file.
 */
static void
check_cut(const char *bytes, size_t nbytes, const struct reading *whole)
{
	const bool is_whole_line = nbytes != 0 && bytes[nbytes - 1] == '\n';
	struct reading r;

	read_bytes(&r, bytes, nbytes, 8);
	ck_assert(strncmp(r.text, whole->text, strlen(r.text)) == 0);
	if (r.err.status == HATF_NOT_HATF) {
		/* Only the first line, or no record at all. */
		ck_assert_uint_eq(r.count, 0);
		return;
	}
	ck_assert_int_eq(r.status, is_whole_line ? HATF_END : HATF_TRUNCATED);
	if (is_whole_line)
		return;

	const char *line = bytes;
	uint64_t line_count = 1;

	for (const char *p = bytes; p != bytes + nbytes; p++)
		if (*p == '\n') {
			line = p + 1;
			line_count++;
		}
	ck_assert_uint_eq(r.err.offset, (uint64_t)(line - bytes));
	ck_assert_uint_eq(r.err.line, line_count);
}

START_TEST(a_cut_at_any_byte_is_reported)
{
	static const char *const texts[] = { interpreted, raw, old };

	for (size_t i = 0; i < 3; i++) {
		struct reading whole;

		read_text(&whole, texts[i]);
		for (size_t n = 0; n < strlen(texts[i]); n++)
			check_cut(texts[i], n, &whole);
	}
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		names_stacks_and_times_are_those_of_an_interpreted_file,
		a_free_of_a_kind_frees_the_newest_block,
		a_raw_file_has_addresses_and_objects,
		a_file_of_version_0_has_names_and_addresses,
		versions_1_and_2_have_kinds_and_strings_without_length,
		a_late_start_may_free_older_blocks,
		an_address_is_in_the_object_loaded_then,
		malformed_lines_are_reported,
		a_name_with_a_nul_is_refused,
		newer_versions_are_refused,
		malformed_lines_of_interpreted_files_are_reported,
		the_frames_of_an_address_are_bounded,
		other_first_lines_are_not_recognized,
		recognition_reads_a_bounded_prefix,
		a_cut_at_any_byte_is_reported,
	};

	return hand_run("heaptrack", tests, sizeof(tests) / sizeof(tests[0]));
}
