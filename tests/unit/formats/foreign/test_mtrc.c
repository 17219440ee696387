/* SPDX-License-Identifier: MIT */
/*
 * test_mtrc.c - mpatrol's tracing files
 *
 * mpatrol's tracing files: the source reads those of every kind of machine and
 * version.  A malformed item is reported with its place, after the records
 * before it.  A file that is cut at any byte yields the first of its records
 * and never passes for complete.  The batch size makes no difference.
 */
#include "tests/unit/support/mini.h"

#include "tests/unit/support/hand.h"
#include "tests/unit/support/sample.h"
#include "tests/unit/support/streams.h"

#include <glob.h>

#define MAX 8192

/* ---------------------------------------------------------- hand-made files */

/* Append a word of the header. */
static void
put_word(struct hand *h, uint64_t n, unsigned nbytes, bool big)
{
	for (unsigned i = 0; i < nbytes; i++) {
		const unsigned shift = 8 * (big ? nbytes - 1 - i : i);
		const uint8_t byte = (uint8_t)(n >> shift);

		hand_bytes(h, &byte, 1);
	}
}

static void
put_header(struct hand *h, unsigned word, unsigned version_word, bool big,
	   uint64_t version)
{
	hand_bytes(h, "MTRC", 4);
	put_word(h, 1, word, big);
	put_word(h, version, version_word, big);
}

/* Append a record: a letter and numbers. */
static void
put_record(struct hand *h, char letter, const uint64_t *numbers, size_t count)
{
	hand_bytes(h, &letter, 1);
	for (size_t i = 0; i < count; i++) {
		uint64_t n = numbers[i];

		for (; n >= 0x80; n >>= 7)
			hand_put(h, (n & 0x7f) | 0x80, 1);
		hand_put(h, n, 1);
	}
}
#define PUT(h, letter, ...)                                      \
	put_record(h, letter, (const uint64_t[]){ __VA_ARGS__ }, \
		   sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

/* The result of reading some bytes. */
struct outcome {
	enum hatf_status status;
	struct hatf_error err;
	bool complete;
	size_t n;
	struct hatf_record records[MAX]; /* without attributes */
	/* text of comments and attributes, truncated */
	char text[MAX];
	char version[8], word[4], order[8];
};

static void
keep(struct outcome *out, const struct hatf_record *r)
{
	const size_t used = strlen(out->text);

	ck_assert_uint_lt(out->n, MAX);
	out->records[out->n] = *r;
	out->records[out->n].attributes = NULL;
	out->records[out->n].attributes_nbytes = 0;
	out->n++;
	if (r->tag == HATF_COMMENT)
		snprintf(out->text + used, MAX - used, "%.*s",
			 (int)r->attributes_nbytes,
			 (const char *)r->attributes);
	else
		snprintf(out->text + used, MAX - used, "%c%u\n",
			 "AFRRRR"[r->tag], (unsigned)hatf_record_stack(r));
}

static void
read_fd(int fd, size_t batch, struct outcome *out)
{
	struct hatf_record records[256];
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	size_t n;

	memset(out, 0, offsetof(struct outcome, records));
	out->text[0] = '\0';
	out->status = reader_of_fd(fd, 0, &reader, &out->err);
	if (out->status != HATF_OK)
		return;
	ck_assert_str_eq(hatf_reader_format(reader), "mtrc");
	snprintf(out->version, sizeof(out->version), "%s",
		 hatf_reader_header(reader, "mtrc_version"));
	snprintf(out->word, sizeof(out->word), "%s",
		 hatf_reader_header(reader, "mtrc_word"));
	snprintf(out->order, sizeof(out->order), "%s",
		 hatf_reader_header(reader, "mtrc_order"));
	while ((out->status = hatf_reader_read(reader, records, batch, &n)) ==
	       HATF_OK)
		for (size_t i = 0; i < n; i++)
			keep(out, &records[i]);
	out->err = *hatf_reader_error(reader);
	hatf_reader_get_stats(reader, &stats);
	out->complete = stats.complete && out->status == HATF_END;
	hatf_reader_close(reader);
}

static void
read_bytes(const uint8_t *bytes, size_t nbytes, size_t batch,
	   struct outcome *out)
{
	const int fd = hand_file(bytes, nbytes);

	read_fd(fd, batch, out);
	close(fd);
}

static struct outcome got, other;

/* The differences between machines and versions; the rest is the same. */
START_TEST(every_kind_of_header_is_read)
{
	static const struct {
		unsigned word, version_word;
		bool big;
	} machines[] = {
		{ 4, 4, false }, { 4, 4, true },  { 8, 8, false },
		{ 8, 8, true },	 { 8, 4, false }, { 8, 4, true },
	};
	static const uint64_t versions[] = { 10300, 10404, 10405, 10501,
					     10599 };

	for (size_t i = 0; i < 6 * 5; i++) {
		const unsigned word = machines[i % 6].word;
		const uint64_t version = versions[i / 6];
		const bool has_sites = version >= 10405;
		struct hand h = { 0 };
		char digits[8];

		put_header(&h, word, machines[i % 6].version_word,
			   machines[i % 6].big, version);
		if (has_sites)
			PUT(&h, 'A', 7, 0x1000, 24, 0xf7c0, 0, 0, 9);
		else
			PUT(&h, 'A', 7, 0x1000, 24);
		hand_bytes(&h, "MTRC", 4);
		read_bytes(h.bytes, h.used, 256, &got);
		ck_assert_int_eq(got.status, HATF_END);
		ck_assert(got.complete);
		/*
		 * The place of a call takes two comments, an unusual index one.
		 */
		ck_assert_uint_eq(got.n, has_sites ? 4 : 2);
		ck_assert_uint_eq(got.records[got.n - 1].address, 0x1000);
		ck_assert_uint_eq(got.records[got.n - 1].size, 24);
		ck_assert_uint_eq(got.records[got.n - 1].thread,
				  has_sites ? 0xf7c0 : 0);
		snprintf(digits, sizeof(digits), "%u", (unsigned)version);
		ck_assert_str_eq(got.version, digits);
		ck_assert_str_eq(got.word, word == 4 ? "32" : "64");
		ck_assert_str_eq(got.order,
				 machines[i % 6].big ? "big" : "little");
		free(h.bytes);
	}
}
END_TEST

/* Names and references to them, with all 127 indices and one reused. */
START_TEST(names_are_found_by_their_indices)
{
	struct hand h = { 0 };

	put_header(&h, 8, 8, false, 10501);
	PUT(&h, 'A', 1, 0x10, 1, 0);
	hand_bytes(&h, "\xff\x66\0\x81" /* a new name */ "a.c\0\x07", 9);
	PUT(&h, 'A', 2, 0x20, 1, 0);
	hand_bytes(&h, "\x7f\x01\x07", 3);
	PUT(&h, 'R', 2, 0x20, 2, 0);
	hand_bytes(&h, "\x7f\x81" /* a new name */ "b.c\0\x08", 7);
	PUT(&h, 'F', 1, 0);
	hand_bytes(&h, "\x7f\x81" /* a new name */ "a.c\0\x07", 7);
	PUT(&h, 'F', 2, 5);
	hand_bytes(&h, "\x81\0\0\0", 4);
	hand_bytes(&h, "MTRC", 4);
	read_bytes(h.bytes, h.used, 256, &got);
	ck_assert_int_eq(got.status, HATF_END);
	ck_assert_str_eq(got.text,
			 "HATF frame\nframe=1\nline=7\nfunction=f\nfile=a.c\n"
			 "HATF stack\nstack=1\nparent=0\nframe=1\n"
			 "A1\nA1\n"
			 "HATF frame\nframe=2\nline=8\nfunction=f\nfile=b.c\n"
			 "HATF stack\nstack=2\nparent=0\nframe=2\n"
			 "R2\nF1\nF0\n");
	free(h.bytes);
}
END_TEST

START_TEST(bytes_after_the_trailer_are_ignored)
{
	struct hand h = { 0 };

	put_header(&h, 8, 8, false, 10501);
	hand_bytes(&h, "MTRCAAAA", 8);
	read_bytes(h.bytes, h.used, 256, &got);
	ck_assert_int_eq(got.status, HATF_END);
	ck_assert(got.complete);
	ck_assert_uint_eq(got.n, 0);
	free(h.bytes);
}
END_TEST

/* Memory from the system becomes comments, in the order of the records. */
START_TEST(memory_of_the_system_is_a_comment)
{
	struct hand h = { 0 };

	put_header(&h, 4, 4, true, 10300);
	PUT(&h, 'I', 0x9000, 4096);
	PUT(&h, 'H', UINT64_MAX, 0);
	hand_bytes(&h, "MTRC", 4);
	read_bytes(h.bytes, h.used, 256, &got);
	ck_assert_str_eq(
		got.text,
		"HATF system\nuse=internal\naddress=0x9000\nsize=4096\n"
		"HATF system\nuse=heap\naddress=0xffffffffffffffff\n"
		"size=0\n");
	free(h.bytes);
}
END_TEST

/* --------------------------------------------------------------- malformed */

#define TEXT(s) s, sizeof(s) - 1

/* After a 64-bit header of version 10501, 20 bytes, and a valid record of 9. */
static const struct {
	const char *bytes;
	size_t nbytes;
	enum hatf_status status;
	const char *field;
} faults[] = {
	{ TEXT("X"), HATF_BAD_FIELD, "record" },
	{ TEXT("MTRX"), HATF_BAD_FIELD, "record" },
	{ TEXT("MTR"), HATF_TRUNCATED, "trailer" },
	{ TEXT(""), HATF_NO_TRAILER, NULL },
	{ TEXT("A"), HATF_TRUNCATED, "index" },
	{ TEXT("A\x80"), HATF_TRUNCATED, "index" },
	{ TEXT("A\x01\x02"), HATF_TRUNCATED, "size" },
	{ TEXT("A\x01\x02\x03\x00\x81"
	       "name"),
	  HATF_TRUNCATED, "function" },
	{ TEXT("F\x01\x00\x01\x00\x00MTRC"), HATF_BAD_FIELD, "function" },
	{ TEXT("F\x01\x00\x00\x20\x00MTRC"), HATF_BAD_FIELD, "file" },
	/* An index byte that defines entry 0. */
	{ TEXT("F\x01\x00\x80MTRC\x00\x00\x00"), HATF_BAD_FIELD, "function" },
	/* 2^64, and a number of eleven bytes. */
	{ TEXT("A\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02\x01\x01MTRCMTRC"),
	  HATF_BAD_FIELD, "index" },
	{ TEXT("A\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00\x01\x01MTRCMTRC"),
	  HATF_BAD_FIELD, "index" },
};

START_TEST(malformed_items_are_reported_with_their_place)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct hand h = { 0 };

		put_header(&h, 8, 8, false, 10501);
		PUT(&h, 'A', 1, 0x1000, 24, 0, 0, 0, 0);
		hand_bytes(&h, faults[i].bytes, faults[i].nbytes);
		read_bytes(h.bytes, h.used, 256, &got);
		ck_assert_msg(got.status == faults[i].status, "%zu: %s", i,
			      hatf_status_text(got.status));
		ck_assert_uint_eq(got.n, 1);
		ck_assert_uint_eq(got.err.offset, 29);
		ck_assert_uint_eq(got.err.record, 1);
		ck_assert(!got.complete);
		if (faults[i].field == NULL)
			ck_assert_ptr_null(got.err.field);
		else
			ck_assert_str_eq(got.err.field, faults[i].field);
		free(h.bytes);
	}
}
END_TEST

/*
 * A block with an unknown index has an address that no block has, until a
 * realloc gives it one.
 */
START_TEST(an_unknown_index_is_accepted)
{
	static const struct {
		unsigned tag;
		uint64_t old_address, address;
	} want[] = {
		{ HATF_ALLOC, 0, 0x1000 },
		{ HATF_FREE, 0, 0x1000 },
		{ HATF_FREE, 0, 0x8000000000000001 },
		{ HATF_REALLOC_ALLOC_FREE, 0x8000000000000007, 0x2000 },
		{ HATF_ALLOC, 0, 0x2000 },
		{ HATF_FREE, 0, 0x8000000000000007 },
		{ HATF_FREE, 0, 0x2000 },
		{ HATF_ALLOC, 0, 0x3000 },
	};
	struct hand h = { 0 };
	const struct hatf_record *r = got.records;

	put_header(&h, 8, 8, false, 10300);
	PUT(&h, 'A', 1, 0x1000, 24);
	PUT(&h, 'F', 1);
	PUT(&h, 'F', 1);
	PUT(&h, 'R', 7, 0x2000, 8);
	PUT(&h, 'F', 7);
	PUT(&h, 'A', 2, 0x3000, 24);
	hand_bytes(&h, "MTRC", 4);
	read_bytes(h.bytes, h.used, 256, &got);
	ck_assert_int_eq(got.status, HATF_END);
	ck_assert(got.complete);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++, r++) {
		ck_assert_uint_lt(r - got.records, got.n);
		/*
		 * An index that the sink would not assign itself has a comment.
		 */
		if (r->tag == HATF_COMMENT)
			r++;
		ck_assert_uint_eq(r->tag, want[i].tag);
		ck_assert_uint_eq(r->old_address, want[i].old_address);
		ck_assert_uint_eq(r->address, want[i].address);
	}
	free(h.bytes);
}
END_TEST

START_TEST(malformed_headers_are_refused)
{
	static const struct {
		uint64_t word, version;
		const char *field;
	} headers[] = {
		{ 2, 10501, "word" },	      { 0, 10501, "word" },
		{ 1, 0, "version" },	      { 1, 10600, "version" },
		{ 1, UINT32_MAX, "version" },
	};

	for (size_t i = 0; i < 5; i++) {
		struct hand h = { 0 };

		hand_bytes(&h, "MTRC", 4);
		put_word(&h, headers[i].word, 8, false);
		put_word(&h, headers[i].version, 8, false);
		read_bytes(h.bytes, h.used, 256, &got);
		ck_assert_int_eq(got.status, HATF_NOT_HATF);
		ck_assert_str_eq(got.err.field, headers[i].field);
		free(h.bytes);
	}
}
END_TEST

/* An unterminated name must not be searched in all of a large file. */
START_TEST(a_name_has_a_limit)
{
	for (size_t length = 4095; length <= 4097; length++) {
		struct hand h = { 0 };

		put_header(&h, 8, 8, false, 10501);
		PUT(&h, 'A', 1, 0x1000, 24, 0);
		hand_put(&h, 0x81, 1);
		for (size_t i = 0; i < length; i++)
			hand_put(&h, 0x01, 1);
		hand_bytes(&h, "\0\0\0MTRC", 7);
		read_bytes(h.bytes, h.used, 256, &got);
		ck_assert_int_eq(got.status,
				 length <= 4096 ? HATF_END : HATF_LIMIT);
		ck_assert_uint_eq(got.n, length <= 4096 ? 3 : 0);
		if (length > 4096)
			ck_assert_str_eq(got.err.field, "function");
		free(h.bytes);
	}
}
END_TEST

/* -------------------------------------------------------------- real files */

static void
read_file(const char *path, struct hand *h)
{
	FILE *const file = fopen(path, "r");
	uint8_t bytes[4096];
	size_t n;

	ck_assert_ptr_nonnull(file);
	while ((n = fread(bytes, 1, sizeof(bytes), file)) != 0)
		hand_bytes(h, bytes, n);
	fclose(file);
}

static void
check_beginning(const struct outcome *whole, const struct outcome *part)
{
	mini_check(part->n <= whole->n);
	for (size_t i = 0; i < part->n; i++) {
		mini_assert_same(&part->records[i], &whole->records[i]);
		mini_check(part->records[i].offset == whole->records[i].offset);
	}
	mini_check(strncmp(part->text, whole->text, strlen(part->text)) == 0);
}

static void
check_cuts(const uint8_t *bytes, size_t nbytes, size_t step)
{
	for (size_t cut = SAMPLE_FIRST; cut < nbytes;
	     cut += step * SAMPLE_STEP) {
		read_bytes(bytes, cut, 256, &other);
		mini_check(!other.complete);
		mini_check(other.err.offset <= cut);
		if (cut < 4)
			mini_check(other.status == HATF_NOT_HATF ||
				   other.status == HATF_TRUNCATED);
		else
			mini_check(other.status == HATF_TRUNCATED ||
				   other.status == HATF_NO_TRAILER);
		check_beginning(&got, &other);
	}
}

static void
check_damage(uint8_t *bytes, size_t nbytes)
{
	static const uint8_t masks[] = { 0x01, 0x80, 0xff };

	/*
	 * Records are at different offsets in different files, so bytes of each
	 * kind are cut.
	 */
	for (size_t i = SAMPLE_FIRST; i < nbytes; i += 2 * SAMPLE_STEP) {
		const uint8_t mask = masks[i / 2 % sizeof(masks)];
		const int fd = memfd_create("trace", MFD_CLOEXEC);
		struct hatf_record records[64];
		struct hatf_reader *reader;
		size_t n;

		bytes[i] ^= mask;
		mini_check(write(fd, bytes, nbytes) == (ssize_t)nbytes);
		bytes[i] ^= mask;
		mini_check(lseek(fd, 0, SEEK_SET) == 0);
		if (reader_of_fd(fd, 0, &reader, NULL) == HATF_OK) {
			while (hatf_reader_read(reader, records, 64, &n) ==
			       HATF_OK)
				;
			hatf_reader_close(reader);
		}
		close(fd);
	}
}

START_TEST(real_files_may_be_cut_and_damaged_anywhere)
{
	glob_t files;

	ck_assert_int_eq(
		glob("tests/data/foreign/mtrc/*.trace", 0, NULL, &files), 0);
	ck_assert_uint_ge(files.gl_pathc, 9);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct hand h = { 0 };

		read_file(files.gl_pathv[i], &h);
		read_bytes(h.bytes, h.used, 256, &got);
		ck_assert_int_eq(got.status, HATF_END);
		ck_assert_uint_gt(got.n, 20);
		for (size_t batch = 1; batch <= 4; batch++) {
			read_bytes(h.bytes, h.used, batch, &other);
			ck_assert_uint_eq(other.n, got.n);
			ck_assert_int_eq(other.status, HATF_END);
			check_beginning(&got, &other);
		}
		/*
		 * Cut one file of each machine at each byte: each cut opens a
		 * reader.
		 */
		check_cuts(h.bytes, h.used,
			   strstr(files.gl_pathv[i], "/p1-") != NULL ? 1 : 7);
		check_damage(h.bytes, h.used);
		free(h.bytes);
	}
	globfree(&files);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		every_kind_of_header_is_read,
		names_are_found_by_their_indices,
		bytes_after_the_trailer_are_ignored,
		memory_of_the_system_is_a_comment,
		malformed_items_are_reported_with_their_place,
		malformed_headers_are_refused,
		an_unknown_index_is_accepted,
		a_name_has_a_limit,
		real_files_may_be_cut_and_damaged_anywhere,
	};

	return hand_run("mtrc", tests, sizeof(tests) / sizeof(tests[0]));
}
