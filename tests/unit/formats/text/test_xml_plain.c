/* SPDX-License-Identifier: MIT */
/*
 * test_xml_plain.c - the fast XML path agrees with the XML parser
 *
 * The fast path for plain XML gives the same result as the full parser.  Random
 * documents use every optional variation of layout, and some are broken.  They
 * give the same records, and the same error at the same line, with a document
 * type that disables the fast path and with one that does not.  The fast path
 * must also accept the layouts that programs write: otherwise they would be
 * read at a fifth of the speed.
 */
#include "hatf/formats/text/xml_plain.h"
#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/sample.h"
#include "tests/unit/support/streams.h"

#define DOCUMENTS   (4000 / SAMPLE_STEP)
#define RECORDS_MAX 64

/*
 * Of equal length; the first declares a default for an unused attribute, which
 * disables the fast path.
 */
static const char *const starts[] = {
	"<!DOCTYPE hatf [<!ATTLIST hatf a CDATA 'aaa'>]>",
	"<!DOCTYPE hatf [<!ATTLIST hatf a ID #IMPLIED>]>",
};

static uint64_t seed;

static unsigned
below(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)((seed >> 20) % n);
}

static void
put(struct hand *h, const char *text)
{
	hand_bytes(h, text, strlen(text));
}

/* Put one of the texts before NULL, the first more often than the others. */
static void
put_one(struct hand *h, const char *const *those)
{
	unsigned count = 0;

	while (those[count] != NULL)
		count++;
	put(h, those[below(3) == 0 ? below(count) : 0]);
}

#define ONE_OF(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void
put_blanks(struct hand *h)
{
	put_one(h, ONE_OF("", " ", "\n", "\r\n", "\t ", "  \n    "));
}

static void
put_between(struct hand *h)
{
	put_one(h,
		ONE_OF("", "\n", " ", "\n    ", "<!---->",
		       "\n<!-- <free> -->\n", "<?note <free>?>",
		       "<!-- \xc3\xa9 -->",
		       "<!-- \x7f</free><free><address>1</address></free> -->",
		       "<!--\n-\n->\n-->"));
}

/* Put one or more digits, sometimes as references. */
static void
put_number(struct hand *h)
{
	put_one(h, ONE_OF("17", "0", "0x10", "18446744073709551615", "007",
			  "&#55;", "&#x37;", "1&#50;3", "<![CDATA[24]]>",
			  "1<![CDATA[2]]>3", "<![CDATA[]]>5", "7<!-- -->",
			  "7<?n?>7", "&#32;4",
			  "0000000000000000000000000000000000000000000000000000"
			  "000000"
			  "0000000000000000000000000000000000000000000000000000"
			  "00001"));
}

static void
put_wrong_number(struct hand *h)
{
	put_one(h, ONE_OF("", "x", "-1", "0x", "1 1", "18446744073709551616",
			  "&#0;", "&#9999999999;", "&#", "&none;", "1]]>",
			  "<![CDATA[1]>", "1\xc3\xa9", "&#0x31;", "&#x;",
			  "&lt;", "<b/>", "1\x01"));
}

static void
put_attributes(struct hand *h, bool is_comment)
{
	if (is_comment)
		put_one(h,
			ONE_OF("note", "", "a\\x00b",
			       "&lt;&gt;&amp;&quot;&apos;", "line\nline",
			       "line\r\nline", "\xc3\xa9", "a > b", "]]",
			       "<![CDATA[<a> & ]b]]]>", "&#10;", "&#65;\\",
			       "a]]>", "\\x4", " a\tb ", "&#13;", "<!-- -->a"));
	else
		put_one(h, ONE_OF("", "0102", "0aFf", "0", "0g", " 01", "01\n",
				  "&#48;1", "<![CDATA[02]]>", "&#x30;1"));
}

static void
put_field(struct hand *h, enum xml_field field, bool is_comment)
{
	const char *const name = xml_field_names[field];

	put_between(h);
	put(h, "<");
	put(h, name);
	put_blanks(h);
	if (field == XML_ATTRIBUTES && below(4) == 0) {
		put(h, "/>");
		return;
	}
	put(h, ">");
	if (field == XML_ATTRIBUTES) {
		put_attributes(h, is_comment);
	} else {
		put_blanks(h);
		if (below(200) == 0)
			put_wrong_number(h);
		else
			put_number(h);
		put_blanks(h);
	}
	put(h, "</");
	put(h, name);
	put_blanks(h);
	put(h, ">");
}

/* Put the attribute of an element, usually the one that it may have. */
static void
put_attribute(struct hand *h, unsigned tag)
{
	const enum xml_field field = xml_attribute_field(tag);
	const char *const quote = below(2) == 0 ? "'" : "\"";

	if (field == XML_FIELD_COUNT && below(100) != 0)
		return;
	put_one(h, ONE_OF(" ", "\n\t"));
	put(h, field == XML_FIELD_COUNT ? "size" : xml_field_names[field]);
	put_blanks(h);
	put(h, "=");
	put_blanks(h);
	put(h, quote);
	put_one(h, ONE_OF("12", " 12 ", "0x1f", "&#49;", "\n7"));
	put(h, quote);
}

/* Put the fields of a tag in any order, with some missing and few repeated. */
static void
put_fields(struct hand *h, unsigned tag)
{
	const unsigned first = below(3) == 0 ? below(XML_FIELD_COUNT) : 0;

	for (unsigned i = 0; i < XML_FIELD_COUNT; i++) {
		const unsigned field = (first + i) % XML_FIELD_COUNT;
		const bool must = XML_REQUIRED >> field & 1;

		if (((xml_fields(tag) >> field & 1) == 0 || below(12) == 0) !=
		    (must && below(8) == 0))
			continue;
		put_field(h, (enum xml_field)field, tag == HATF_COMMENT);
		if (below(300) == 0)
			put_field(h, (enum xml_field)field, false);
	}
}

static void
put_record(struct hand *h)
{
	const unsigned tag = below(2) == 0 ? below(2) : below(HATF_METADATA);
	const char *const name = hatf_tag_name(tag);

	put_between(h);
	put(h, "<");
	put(h, name);
	if (below(2) == 0)
		put_attribute(h, tag);
	put_blanks(h);
	if (below(20) == 0) {
		put(h, "/>");
		return;
	}
	put(h, ">");
	put_fields(h, tag);
	put_between(h);
	put(h, "</");
	put(h, name);
	put_blanks(h);
	put(h, ">");
	if (below(200) == 0)
		put(h, "text");
}

/* Change a byte of the document, or truncate it. */
static void
damage(struct hand *h, size_t start)
{
	static const char bytes[] = "<>/&;'\"!-[]?= \n\rax0\xc3";
	const size_t at = start + below((unsigned)(h->used - start));

	switch (below(3)) {
	case 0:
		h->used = at;
		break;
	case 1:
		h->bytes[at] = (uint8_t)bytes[below(sizeof(bytes))];
		break;
	default:
		memmove(h->bytes + at, h->bytes + at + 1, h->used - at - 1);
		h->used--;
		break;
	}
}

struct outcome {
	struct hatf_record records[RECORDS_MAX];
	uint8_t bytes[RECORDS_MAX][64];
	size_t count;
	struct hatf_error err;
};

static void
read_document(const struct hand *h, struct outcome *o)
{
	const int fd = hand_file(h->bytes, h->used);
	struct hatf_reader *reader;
	size_t n;

	o->count = 0;
	if (reader_of_fd(fd, 0, &reader, &o->err) != HATF_OK) {
		close(fd);
		return;
	}
	while (hatf_reader_read(reader, &o->records[o->count], 7, &n) ==
	       HATF_OK) {
		for (size_t i = 0; i < n; i++, o->count++) {
			struct hatf_record *const rec = &o->records[o->count];

			ck_assert_uint_le(rec->attributes_nbytes, 64);
			if (rec->attributes_nbytes != 0)
				memcpy(o->bytes[o->count], rec->attributes,
				       rec->attributes_nbytes);
			rec->attributes = NULL;
		}
		ck_assert_uint_le(o->count, RECORDS_MAX - 7);
	}
	o->err = *hatf_reader_error(reader);
	hatf_reader_close(reader);
	close(fd);
}

static bool
are_same(const struct outcome *a, const struct outcome *b, size_t i)
{
	const struct hatf_record *const x = &a->records[i];
	const struct hatf_record *const y = &b->records[i];

	return x->tag == y->tag && x->size == y->size &&
	       x->address == y->address && x->old_address == y->old_address &&
	       x->thread == y->thread && x->heap == y->heap &&
	       x->time == y->time && x->offset == y->offset &&
	       x->attributes_nbytes == y->attributes_nbytes &&
	       memcmp(a->bytes[i], b->bytes[i], x->attributes_nbytes) == 0;
}

static void
check_same(const struct outcome *a, const struct outcome *b,
	   const struct hand *h)
{
	const int length = (int)h->used;
	const char *const text = (const char *)h->bytes;
	/* expat counts a lone '\r' as a line; the fast path does not. */
	const bool has_cr = memchr(text, '\r', h->used) != NULL;

	ck_assert_msg(a->count == b->count, "%zu, not %zu records: %.*s",
		      b->count, a->count, length, text);
	for (size_t i = 0; i < a->count; i++)
		ck_assert_msg(are_same(a, b, i), "record %zu: %.*s", i, length,
			      text);
	ck_assert_msg(a->err.status == b->err.status &&
			      a->err.record == b->err.record &&
			      (a->err.line == b->err.line || has_cr) &&
			      (a->err.field == b->err.field ||
			       strcmp(a->err.field, b->err.field) == 0),
		      "%s %s line %zu, not %s %s line %zu: %.*s",
		      hatf_status_text(b->err.status), b->err.field,
		      (size_t)b->err.line, hatf_status_text(a->err.status),
		      a->err.field, (size_t)a->err.line, length, text);
}

START_TEST(random_documents_are_the_same_to_both)
{
	static struct outcome outcomes[2];
	unsigned whole = 0;

	for (unsigned i = 0; i < DOCUMENTS; i++) {
		for (unsigned j = 0; j < 2; j++) {
			struct hand h = { .used = 0 };

			seed = 88172645463325252 + i;
			put(&h, starts[j]);
			put(&h, "<hatf>");
			for (unsigned n = below(24); n > 0; n--)
				put_record(&h);
			put_between(&h);
			put(&h, "</hatf>\n");
			if (below(3) == 0)
				damage(&h, strlen(starts[j]));
			read_document(&h, &outcomes[j]);
			if (j == 1) {
				check_same(&outcomes[0], &outcomes[1], &h);
				whole += outcomes[0].err.status == HATF_OK;
			}
			free(h.bytes);
		}
	}
	/* Not all documents are broken. */
	ck_assert_uint_gt(whole, DOCUMENTS / 50);
}
END_TEST

/* Return true if the fast path takes this whole record. */
static bool
is_taken(const char *text, struct hatf_record *rec)
{
	struct batch batch = { .count = 0 };
	struct hand h = { .used = 0 };
	struct xml_plain p = { .line_count = 0 };
	bool taken;

	put(&h, text);
	hand_bytes(&h, "", 1);
	p.next = h.bytes;
	p.end = h.bytes + h.used - 1;
	xml_plain_skip(&p);
	taken = xml_plain_take(&p, &batch, rec) && p.next == p.end;
	rec->attributes = NULL;
	batch_fini(&batch);
	free(h.bytes);
	return taken;
}

static const char *const plain[] = {
	"<alloc><size>7</size><address>16</address><time>3</time>"
	"<thread>4</thread><heap>5</heap><attributes>01</attributes></alloc>",
	"\n  <alloc>\n    <size>7</size>\n    <address>0x10</address>\n"
	"    <time>3</time>\n    <thread>4</thread>\n    <heap>5</heap>\n"
	"    <attributes>ff</attributes>\n  </alloc>",
	"\r\n<alloc >\r\n<size\n>\n7\n</size ><time>3</time >"
	"<heap>5</heap><thread>4</thread><address>16</address>"
	"<attributes>02</attributes></alloc\n>",
	"<!-- the first -->\n<alloc><attributes>0a</attributes>"
	"<heap>&#53;</heap><!-- of all --><size>0&#55;</size>"
	"<address><![CDATA[16]]></address><thread>4</thread><time>3</time>"
	"</alloc>",
};

START_TEST(what_programs_write_is_plain)
{
	struct hatf_record r;

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		ck_assert_msg(is_taken(plain[i], &r), "case %zu", i);
		ck_assert_int_eq(r.tag, HATF_ALLOC);
		ck_assert_uint_eq(r.size, 7);
		ck_assert_uint_eq(r.address, 16);
		ck_assert_uint_eq(r.time, 3);
		ck_assert_uint_eq(r.thread, 4);
		ck_assert_uint_eq(r.heap, 5);
		ck_assert_uint_eq(r.attributes_nbytes, 1);
	}
	ck_assert(is_taken("<reallocFree size = ' 9 '><address>1</address>"
			   "<address>2</address><attributes/></reallocFree>",
			   &r));
	ck_assert_uint_eq(r.size, 9);
	ck_assert_uint_eq(r.old_address, 1);
	ck_assert_uint_eq(r.address, 2);
	ck_assert(is_taken("<createThread time=\"6\" />", &r));
	ck_assert_uint_eq(r.time, 6);
	ck_assert(is_taken("<comment><attributes>a &lt; b\\x0a</attributes>"
			   "</comment>",
			   &r));
	ck_assert_uint_eq(r.attributes_nbytes, 6);
}
END_TEST

/*
 * A record truncated anywhere is not taken, and nothing after its end is read.
 */
START_TEST(what_is_not_whole_is_not_taken)
{
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		char text[512];
		struct hatf_record r;

		for (size_t cut = 0; cut < strlen(plain[i]); cut++) {
			snprintf(text, sizeof(text), "%.*s", (int)cut,
				 plain[i]);
			ck_assert_msg(!is_taken(text, &r), "%s", text);
		}
	}
}
END_TEST

START_TEST(defaults_are_for_expat)
{
	struct hand h = { .used = 0 };
	static struct outcome o;

	put(&h, "<!DOCTYPE hatf [<!ATTLIST reallocFree size CDATA '9'>]>\n"
		"<hatf>\n");
	for (unsigned i = 0; i < 16; i++)
		put(&h, "<reallocFree><address>1</address><address>2</address>"
			"</reallocFree>\n");
	put(&h, "</hatf>\n");
	read_document(&h, &o);
	ck_assert_uint_eq(o.count, 16);
	ck_assert_uint_eq(o.records[15].size, 9);
	free(h.bytes);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		random_documents_are_the_same_to_both,
		what_programs_write_is_plain,
		what_is_not_whole_is_not_taken,
		defaults_are_for_expat,
	};

	return hand_run("xml_plain", tests, sizeof(tests) / sizeof(tests[0]));
}
