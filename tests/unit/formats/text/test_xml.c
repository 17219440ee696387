/* SPDX-License-Identifier: MIT */
/*
 * test_xml.c - equal XML reads the same in any layout
 *
 * Equivalent XML is read alike, whether or not it has the layout of our sink,
 * for which the source has a fast path.  Text that merely looks like such a
 * line is not a record.  The reader rejects malformed documents, and those made
 * to exhaust it, at the offending place.
 */
#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/streams.h"

#define ALLOC(size, tail)                                          \
	"<alloc><size>" size "</size><address>0x10</address>" tail \
	"<attributes></attributes></alloc>"
#define TAIL "<time>3</time><thread>4</thread><heap>5</heap>"
#define LINE ALLOC("7", TAIL) "\n"

/*
 * Read up to 'max' records of a document to its end.  The error is in '*err'.
 */
static size_t
read_bytes(const uint8_t *bytes, size_t nbytes, struct hatf_record *records,
	   size_t max, struct hatf_error *err)
{
	const int fd = hand_file(bytes, nbytes);
	struct hatf_reader *reader;
	size_t n, count = 0;

	if (reader_of_fd(fd, 0, &reader, err) == HATF_OK) {
		ck_assert_str_eq(hatf_reader_format(reader), "xml");
		while (hatf_reader_read(reader, records + count, max - count,
					&n) == HATF_OK) {
			count += n;
			ck_assert_uint_lt(count, max);
		}
		*err = *hatf_reader_error(reader);
		hatf_reader_close(reader);
	}
	close(fd);
	return count;
}

static size_t
read_text(const char *text, struct hatf_record *records, size_t max,
	  struct hatf_error *err)
{
	return read_bytes((const uint8_t *)text, strlen(text), records, max,
			  err);
}

/*
 * Documents of one alloc of 7 bytes with all fields, between two other records.
 */
static const char *const same[] = {
	"<hatf>\n" LINE LINE LINE "</hatf>\n",
	"<hatf>" LINE LINE LINE "</hatf>",
	"<?xml version='1.0'?><!DOCTYPE hatf SYSTEM 'hatf.dtd'>\n<hatf>\n" LINE
	"<!-- \n" LINE "-->\n" LINE " " LINE "</hatf>\n<!-- end -->\n",
	"\xef\xbb\xbf<hatf>\r\n" ALLOC("7", TAIL) "\r\n" LINE LINE "</hatf>",
	"<hatf \n>\n" LINE
	"<alloc >\n<address> 16\n</address> <size\n>0x7</size>"
	"<heap>5</heap><thread>4</thread><time>3</time></alloc\n>\n" LINE
	"</hatf>",
	"<hatf>\n" LINE ALLOC("&#55;", TAIL)
		ALLOC("<![CDATA[7]]>", TAIL) "</hatf>",
	"<hatf><?note\n" LINE "?>\n" LINE LINE LINE "</hatf>",
};

START_TEST(what_says_the_same_is_the_same)
{
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		struct hatf_record r[8];
		struct hatf_error err;

		ck_assert_msg(read_text(same[i], r, 8, &err) == 3,
			      "document %zu", i);
		ck_assert_int_eq(err.status, HATF_OK);
		for (size_t j = 0; j < 3; j++) {
			ck_assert_int_eq(r[j].tag, HATF_ALLOC);
			ck_assert_uint_eq(r[j].size, 7);
			ck_assert_uint_eq(r[j].address, 16);
			ck_assert_uint_eq(r[j].time, 3);
			ck_assert_uint_eq(r[j].thread, 4);
			ck_assert_uint_eq(r[j].heap, 5);
			ck_assert_uint_eq(r[j].attributes_nbytes, 0);
			/* Each record is at its offset. */
			ck_assert_mem_eq(same[i] + r[j].offset, "<alloc", 6);
		}
	}
}
END_TEST

START_TEST(every_element_is_read)
{
	static const char document[] =
		"<hatf>\n"
		"<reallocFree size='9'><address>1</address><address>2</address>"
		"</reallocFree>"
		"<reallocAlloc><address>0x1</address><address>0x2</address>"
		"</reallocAlloc>"
		"<createHeap time='6'><heap>2</heap></createHeap>"
		"<destroyThread><thread>2</thread></destroyThread>"
		"<free><address>1</address><attributes>0aFf</attributes></free>"
		"<comment><attributes>a&lt;\\x00\\x5c&#xe9;</attributes>"
		"</comment><comment/></hatf>";
	struct hatf_record r[16];
	struct hatf_error err;

	ck_assert_uint_eq(read_text(document, r, 16, &err), 7);
	ck_assert_int_eq(err.status, HATF_OK);
	ck_assert_int_eq(r[0].tag, HATF_REALLOC_FREE);
	ck_assert_uint_eq(r[0].size, 9);
	ck_assert_uint_eq(r[0].old_address, 1);
	ck_assert_uint_eq(r[0].address, 2);
	ck_assert_int_eq(r[1].tag, HATF_REALLOC_ALLOC);
	ck_assert_uint_eq(r[1].size, 0);
	ck_assert_int_eq(r[2].tag, HATF_CREATE_HEAP);
	ck_assert_uint_eq(r[2].time, 6);
	ck_assert_uint_eq(r[2].heap, 2);
	ck_assert_int_eq(r[3].tag, HATF_DESTROY_THREAD);
	ck_assert_int_eq(r[4].tag, HATF_FREE);
	ck_assert_uint_eq(r[4].attributes_nbytes, 2);
	ck_assert_int_eq(r[5].tag, HATF_COMMENT);
	ck_assert_uint_eq(r[5].attributes_nbytes, 6);
	ck_assert_int_eq(r[6].tag, HATF_COMMENT);
	ck_assert_uint_eq(r[6].attributes_nbytes, 0);
}
END_TEST

static const struct {
	const char *text; /* after "<hatf>\n" and a record in a line */
	const char *field;
	enum hatf_status status;
	unsigned line;
} bad[] = {
	{ "<alloc>", "XML", HATF_TRUNCATED, 3 },
	{ "", "XML", HATF_TRUNCATED, 3 },
	{ "<!-- ", "XML", HATF_TRUNCATED, 3 },
	{ "<allocate/>", "element", HATF_BAD_TAG, 3 },
	{ "\n\n<hatf/>", "element", HATF_BAD_TAG, 5 },
	{ "<alloc><time>1</time></alloc>", "size", HATF_BAD_FIELD, 3 },
	{ "<alloc/>", "size", HATF_BAD_FIELD, 3 },
	{ "<free></free>", "address", HATF_BAD_FIELD, 3 },
	{ "<reallocFree><address>1</address></reallocFree>", "address",
	  HATF_BAD_FIELD, 3 },
	{ "<free><address>1</address><address>1</address></free>", "element",
	  HATF_BAD_FIELD, 3 },
	{ "<free><size>1</size></free>", "element", HATF_BAD_FIELD, 3 },
	{ "<free><address><b/></address></free>", "element", HATF_BAD_FIELD,
	  3 },
	{ "<free><address>x</address></free>", "address", HATF_BAD_FIELD, 3 },
	{ "<free><address>1 1</address></free>", "address", HATF_BAD_FIELD, 3 },
	{ "<free><address></address></free>", "address", HATF_BAD_FIELD, 3 },
	{ "<free><address>18446744073709551616</address></free>", "address",
	  HATF_BAD_FIELD, 3 },
	{ ALLOC("0x", TAIL) "\n", "size", HATF_BAD_FIELD, 3 },
	{ ALLOC("7", "<time>-1</time>") "\n", "time", HATF_BAD_FIELD, 3 },
	{ "<free><address>1</address><attributes>0</attributes></free>\n",
	  "attributes", HATF_BAD_FIELD, 3 },
	{ "<free><address>1</address><attributes>0g</attributes></free>\n",
	  "attributes", HATF_BAD_FIELD, 3 },
	{ "<free size='1'><address>1</address></free>", "attribute",
	  HATF_BAD_FIELD, 3 },
	{ "<createHeap size='1'/>", "attribute", HATF_BAD_FIELD, 3 },
	{ "<createHeap time='t'/>", "time", HATF_BAD_FIELD, 3 },
	{ "<createHeap time='1' time='1'/>", "XML", HATF_BAD_FIELD, 3 },
	{ "text", "text", HATF_BAD_FIELD, 3 },
	{ "<free>1<address>1</address></free>", "text", HATF_BAD_FIELD, 3 },
	{ "&nothing;", "XML", HATF_BAD_FIELD, 3 },
	{ "<free></alloc>", "XML", HATF_BAD_FIELD, 3 },
	{ "</hatf>\n<hatf>", "XML", HATF_BAD_FIELD, 4 },
	{ "</hatf>\n" LINE, "XML", HATF_BAD_FIELD, 4 },
};

START_TEST(malformed_documents_are_reported)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[1024];
		struct hatf_record r[8];
		struct hatf_error err;

		snprintf(text, sizeof(text), "<hatf>\n" LINE "%s", bad[i].text);
		ck_assert_msg(read_text(text, r, 8, &err) == 1, "case %zu", i);
		ck_assert_msg(err.status == bad[i].status, "case %zu: %s", i,
			      hatf_status_text(err.status));
		ck_assert_str_eq(err.field, bad[i].field);
		ck_assert_msg(err.line == bad[i].line, "case %zu: line %u", i,
			      (unsigned)err.line);
		ck_assert_uint_eq(err.record, 1);
		ck_assert_uint_le(err.offset, strlen(text));
	}
}
END_TEST

START_TEST(entities_are_not_declared)
{
	static const char *const documents[] = {
		"<!DOCTYPE hatf [ <!ENTITY a 'aaaa'> <!ENTITY b '&a;&a;'> ]>\n"
		"<hatf><comment><attributes>&b;</attributes></comment></hatf>",
		"<!DOCTYPE hatf [ <!ENTITY % a SYSTEM '/etc/passwd'> %a; ]>"
		"<hatf/>",
		"<!DOCTYPE hatf [ <!ENTITY a SYSTEM '/etc/passwd'> ]>\n<hatf/>",
	};

	for (size_t i = 0; i < 3; i++) {
		struct hatf_record r[8];
		struct hatf_error err;

		ck_assert_uint_eq(read_text(documents[i], r, 8, &err), 0);
		ck_assert_int_eq(err.status, HATF_LIMIT);
		ck_assert_str_eq(err.field, "entity");
	}
}
END_TEST

START_TEST(declarations_have_a_limit)
{
	static const char *const declarations[][2] = {
		{ "<!ATTLIST hatf a", " CDATA #IMPLIED>\n" },
		{ "<!ATTLIST a", " >\n" },
		{ "<!ELEMENT a", " (#PCDATA)>\n" },
		{ "<?a", "?>\n" },
	};
	enum {
		COUNT = 120000,
		LINE_NBYTES = 64
	};
	char *const document = malloc((size_t)COUNT * LINE_NBYTES);
	struct hatf_record r[8];
	struct hatf_error err;

	ck_assert_ptr_nonnull(document);
	for (unsigned n = 0; n < 8; n++) {
		const unsigned count = n % 2 == 0 ? 10 : COUNT;
		size_t used = (size_t)sprintf(document, "<!DOCTYPE hatf [\n");

		for (unsigned i = 0; i < count; i++)
			used += (size_t)sprintf(document + used, "%s%u%s",
						declarations[n / 2][0], i,
						declarations[n / 2][1]);
		sprintf(document + used, "]>\n<hatf></hatf>");
		ck_assert_uint_eq(read_text(document, r, 8, &err), 0);
		ck_assert_int_eq(err.status == HATF_LIMIT, count == COUNT);
		if (count == COUNT)
			ck_assert_str_eq(err.field, "declarations");
	}
	free(document);
}
END_TEST

START_TEST(other_attributes_are_refused)
{
	static const char *const documents[] = {
		"<hatf><comment><attributes>b</attributes></comment>"
		"<comment a='1'><attributes>b</attributes></comment></hatf>",
		"<hatf><comment><attributes>b</attributes></comment>"
		"<comment><attributes a='1'>b</attributes></comment></hatf>",
	};

	for (size_t i = 0; i < 2; i++) {
		struct hatf_record r[8];
		struct hatf_error err;

		ck_assert_uint_eq(read_text(documents[i], r, 8, &err), 1);
		ck_assert_int_eq(err.status, HATF_BAD_FIELD);
		ck_assert_str_eq(err.field, "attribute");
	}
}
END_TEST

START_TEST(other_documents_are_no_trace)
{
	struct hatf_record r[8];
	struct hatf_error err;

	ck_assert_uint_eq(read_text("<?xml version='1.0'?><html/>", r, 8, &err),
			  0);
	ck_assert_int_eq(err.status, HATF_NOT_HATF);
	ck_assert_uint_eq(read_text("<?xml version='1.0'?><ha", r, 8, &err), 0);
	ck_assert_int_eq(err.status, HATF_NOT_HATF);
	ck_assert_uint_eq(read_text("<hatf/>", r, 8, &err), 0);
	ck_assert_int_eq(err.status, HATF_NOT_HATF);
}
END_TEST

/* Read "<hatf>\n", then 'start', 'count' times 'c', and 'end'. */
static enum hatf_status
read_long(const char *start, char c, size_t count, const char *end, size_t *n)
{
	struct hand h = { .used = 0 };
	struct hatf_record r[8];
	struct hatf_error err;
	char *const many = malloc(count);

	memset(many, c, count);
	hand_bytes(&h, "<hatf>\n" LINE, strlen("<hatf>\n" LINE));
	hand_bytes(&h, start, strlen(start));
	hand_bytes(&h, many, count);
	hand_bytes(&h, end, strlen(end));
	*n = read_bytes(h.bytes, h.used, r, 8, &err);
	free(many);
	free(h.bytes);
	return err.status;
}

START_TEST(what_has_no_end_is_refused)
{
	const size_t mib = 1024 * 1024;
	size_t n;

	/* As long as the longest comment of HATF, and longer. */
	ck_assert_int_eq(read_long("<comment><attributes>", 'x', 65535,
				   "</attributes></comment></hatf>", &n),
			 HATF_OK);
	ck_assert_uint_eq(n, 2);
	ck_assert_int_eq(read_long("<comment><attributes>", 'x', 65536,
				   "</attributes></comment></hatf>", &n),
			 HATF_BAD_FIELD);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(read_long("<comment><attributes>", 'x', 4 * mib,
				   "</attributes></comment></hatf>", &n),
			 HATF_LIMIT);
	/* Names, values, comments: expat holds them in memory. */
	ck_assert_int_eq(read_long("<free ", 'x', 4 * mib, "/></hatf>", &n),
			 HATF_LIMIT);
	ck_assert_int_eq(read_long("<!--", 'x', 4 * mib, "--></hatf>", &n),
			 HATF_LIMIT);
	/* White space takes no memory. */
	ck_assert_int_eq(read_long("", ' ', 4 * mib, "</hatf>", &n), HATF_OK);
	ck_assert_int_eq(read_long("", '\n', 4 * mib, LINE "</hatf>", &n),
			 HATF_OK);
	ck_assert_uint_eq(n, 2);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("xml");
	TCase *const tc = tcase_create("xml");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, what_says_the_same_is_the_same);
	tcase_add_test(tc, every_element_is_read);
	tcase_add_test(tc, malformed_documents_are_reported);
	tcase_add_test(tc, entities_are_not_declared);
	tcase_add_test(tc, declarations_have_a_limit);
	tcase_add_test(tc, other_attributes_are_refused);
	tcase_add_test(tc, other_documents_are_no_trace);
	tcase_add_test(tc, what_has_no_end_is_refused);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
