/* SPDX-License-Identifier: MIT */
/*
 * test_format_doc.c - the dumps and layouts in the format documents are right
 *
 * The library and the independent decoder of mini.h decode each dump of HATF,
 * and the text of each line must be the meaning of its bytes.  Together the
 * dumps show every tag, every metadata operation, interpretation and width.
 * The tables of offsets in RINGS.md are those of the structures.
 */
#include "hatf/codec/bytes.h"
#include "hatf/hatf.h"
#include "hatf/rings/image.h"
#include "tests/unit/support/mini.h"
#include "tests/unit/support/streams.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#define FORMAT	"hatf/FORMAT.md"
#define FORMATS "hatf/formats/FORMATS.md"
#define RINGS	"hatf/rings/RINGS.md"

#define LINE_MAX_NBYTES	 1024
#define DUMP_MAX_NBYTES	 4096
#define DUMP_MAX_RECORDS 64

struct dump {
	uint8_t bytes[DUMP_MAX_NBYTES];
	size_t nbytes;
	char text[DUMP_MAX_RECORDS][LINE_MAX_NBYTES];
	size_t offset[DUMP_MAX_RECORDS]; /* of the line's first byte */
	size_t count;
};

static const char *const field_names[] = { "size",   "address", "time",
					   "thread", "heap",	"attributes" };

static bool seen_tag[HATF_TAG_COUNT];
static bool seen_width[11];
static bool seen_interpretation[5];

/* Take the bytes at the start of a line; return what follows them. */
static const char *
take_bytes(struct dump *d, const char *line)
{
	while (isxdigit((unsigned char)line[0]) &&
	       isxdigit((unsigned char)line[1]) &&
	       (line[2] == ' ' || line[2] == '\n')) {
		const char pair[3] = { line[0], line[1], '\0' };

		ck_assert_uint_lt(d->nbytes, DUMP_MAX_NBYTES);
		d->bytes[d->nbytes++] = (uint8_t)strtoul(pair, NULL, 16);
		line += 2;
		if (line[0] == ' ' && line[1] != ' ')
			line++;
		else
			break;
	}
	while (*line == ' ')
		line++;
	return line;
}

/* Read the lines of a dump up to its closing fence. */
static void
read_dump(FILE *file, struct dump *d)
{
	char line[LINE_MAX_NBYTES];

	memset(d, 0, sizeof(*d));
	while (fgets(line, sizeof(line), file) != NULL) {
		const size_t offset = d->nbytes;

		if (strncmp(line, "```", 3) == 0)
			return;

		const char *const text = take_bytes(d, line);

		ck_assert_msg(d->nbytes > offset, "no bytes in '%s'", line);
		if (*text == '\n')
			continue;
		ck_assert_uint_lt(d->count, DUMP_MAX_RECORDS);
		memcpy(d->text[d->count], text, strcspn(text, "\n"));
		d->offset[d->count++] = offset;
	}
	ck_abort_msg("a dump that does not end");
}

/*
 * Find the next dump of 'kind' in the document; return false if there is none.
 */
static bool
next_dump(FILE *file, const char *kind, struct dump *d)
{
	char line[LINE_MAX_NBYTES], fence[16];

	snprintf(fence, sizeof(fence), "```%s\n", kind);
	while (fgets(line, sizeof(line), file) != NULL) {
		if (strcmp(line, fence) != 0)
			continue;
		read_dump(file, d);
		return true;
	}
	return false;
}

static FILE *
open_document(const char *path)
{
	FILE *const file = fopen(path, "r");

	ck_assert_msg(file != NULL,
		      "cannot open %s: run this in the top directory", path);
	return file;
}

static void
describe_metadata(const struct hatf_metadata *m, char *out)
{
	static const char *const interpretations[] = { "none", "default",
						       "baseOffset", "delta",
						       "stride" };
	static const char *const widths[] = { "0", "1", "2", "?",  "4", "?",
					      "?", "?", "8", "v1", "v2" };

	if (m->op == HATF_SET_FIELD_SIZE) {
		seen_width[m->argument] = true;
		sprintf(out, "set fieldSize %s %s", field_names[m->field],
			widths[m->argument]);
		return;
	}
	seen_interpretation[m->argument] = true;
	out += sprintf(out, "set fieldInterpretation %s %s",
		       field_names[m->field], interpretations[m->argument]);
	if (m->argument != HATF_NONE)
		out += sprintf(out,
			       m->field == HATF_FIELD_ADDRESS ? " 0x%" PRIx64
							      : " %" PRIu64,
			       m->value);
	if (m->argument == HATF_STRIDE)
		sprintf(out, " %" PRIu64, m->stride);
}

static void
describe_comment(const struct hatf_record *r, char *out)
{
	out += sprintf(out, "comment \"");
	for (uint32_t i = 0; i < r->attributes_nbytes; i++) {
		const uint8_t byte = r->attributes[i];

		out += sprintf(out,
			       byte == '\n'  ? "\\n"
			       : byte < 0x20 ? "\\x%02x"
					     : "%c",
			       byte);
	}
	sprintf(out, "\"");
}

static void
describe(const struct hatf_record *r, char *out)
{
	seen_tag[r->tag] = true;
	if (r->tag == HATF_METADATA) {
		describe_metadata(&r->metadata, out);
		return;
	}
	if (r->tag == HATF_COMMENT) {
		describe_comment(r, out);
		return;
	}

	const bool is_heap =
		r->tag == HATF_CREATE_HEAP || r->tag == HATF_DESTROY_HEAP;
	const bool is_realloc =
		r->tag >= HATF_REALLOC_NO_ALLOC && r->tag <= HATF_REALLOC_FREE;

	out += sprintf(out, "%s", hatf_tag_name(r->tag));
	if (is_heap)
		out += sprintf(out, " heap=%" PRIu64, r->heap);
	if (r->tag == HATF_ALLOC || is_realloc)
		out += sprintf(out, " size=%" PRIu64, r->size);
	if (is_realloc)
		out += sprintf(out, " old=0x%" PRIx64, r->old_address);
	if (r->tag <= HATF_REALLOC_FREE)
		out += sprintf(out, " address=0x%" PRIx64, r->address);
	out += sprintf(out, " thread=%" PRIu64, r->thread);
	if (r->tag <= HATF_REALLOC_FREE)
		out += sprintf(out, " heap=%" PRIu64, r->heap);
	out += sprintf(out, " time=%" PRIu64 " attributes=%s", r->time,
		       r->attributes_nbytes == 0 ? "-" : "");
	for (uint32_t i = 0; i < r->attributes_nbytes; i++)
		out += sprintf(out, "%02x", r->attributes[i]);
}

static void
check_record(const struct dump *d, size_t i, const struct hatf_record *r)
{
	char text[2 * LINE_MAX_NBYTES];

	ck_assert_uint_lt(i, d->count);
	ck_assert_uint_eq(r->offset, d->offset[i]);
	describe(r, text);
	ck_assert_str_eq(text, d->text[i]);
}

static void
check_by_mini(const struct dump *d)
{
	struct hatf_record r;
	struct mini m;
	size_t i = 0;

	mini_init(&m, d->bytes, d->nbytes);
	m.metadata_wanted = m.lenient = true;
	while (mini_read(&m, &r))
		check_record(d, i++, &r);
	ck_assert_uint_eq(i, d->count);
}

static void
check_by_library(const struct dump *d)
{
	FILE *const file = tmpfile();
	struct hatf_reader *reader;
	struct hatf_record r;
	size_t i = 0, got;
	enum hatf_status status;

	ck_assert_uint_eq(fwrite(d->bytes, 1, d->nbytes, file), d->nbytes);
	rewind(file);
	ck_assert_int_eq(
		reader_of_fd(fileno(file), HATF_READER_METADATA, &reader, NULL),
		HATF_OK);
	while ((status = hatf_reader_read(reader, &r, 1, &got)) == HATF_OK)
		check_record(d, i++, &r);
	ck_assert_int_eq(status, HATF_END);
	ck_assert_uint_eq(i, d->count);
	hatf_reader_close(reader);
	fclose(file);
}

START_TEST(every_dump_means_what_it_says)
{
	static const unsigned widths[] = {
		0, 1, 2, 4, 8, HATF_WIDTH_V1, HATF_WIDTH_V2
	};
	static struct dump d;
	FILE *const file = open_document(FORMAT);

	while (next_dump(file, "hatf", &d)) {
		check_by_mini(&d);
		check_by_library(&d);
	}
	fclose(file);
	for (unsigned i = 0; i < HATF_TAG_COUNT; i++)
		ck_assert_msg(seen_tag[i], "no dump of tag %u", i);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_msg(seen_interpretation[i],
			      "no dump of interpretation %u", i);
	for (unsigned i = 0; i < 7; i++)
		ck_assert_msg(seen_width[widths[i]], "no dump of width %u",
			      widths[i]);
}
END_TEST

START_TEST(the_member_inflates_to_the_first_dump)
{
	static struct dump plain, member;
	uint8_t out[DUMP_MAX_NBYTES];
	z_stream z = { .next_out = out, .avail_out = sizeof(out) };
	FILE *file = open_document(FORMAT);

	ck_assert(next_dump(file, "hatf", &plain));
	rewind(file);
	ck_assert(next_dump(file, "gzip", &member));
	fclose(file);
	z.next_in = member.bytes;
	z.avail_in = (uInt)member.nbytes;
	ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
	ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(z.avail_in, 0);
	ck_assert_uint_eq(z.total_out, plain.nbytes);
	ck_assert_mem_eq(out, plain.bytes, plain.nbytes);
	inflateEnd(&z);
	ck_assert_uint_eq(get_le32(member.bytes + 16), member.nbytes);
}
END_TEST

/* The three records of the dumps of other encodings. */
static const struct hatf_record encoded[] = {
	{ .tag = HATF_ALLOC, .size = 24, .address = 0x5555555592a0 },
	{ .tag = HATF_COMMENT,
	  .attributes = (const uint8_t *)"hi",
	  .attributes_nbytes = 2 },
	{ .tag = HATF_FREE, .address = 0x5555555592a0 },
};

static void
check_encoded(const struct dump *d)
{
	FILE *const file = tmpfile();
	struct hatf_reader *reader;
	struct hatf_record r;
	size_t i = 0, got;

	ck_assert_uint_eq(fwrite(d->bytes, 1, d->nbytes, file), d->nbytes);
	rewind(file);
	ck_assert_int_eq(reader_of_fd(fileno(file), 0, &reader, NULL), HATF_OK);
	while (hatf_reader_read(reader, &r, 1, &got) == HATF_OK) {
		ck_assert_uint_lt(i, 3);
		mini_assert_same(&r, &encoded[i++]);
	}
	ck_assert_int_eq(hatf_reader_read(reader, &r, 1, &got), HATF_END);
	ck_assert_uint_eq(i, 3);
	hatf_reader_close(reader);
	fclose(file);
}

START_TEST(the_dumps_of_encodings_are_read)
{
	static const char *const formats[] = { "binary", "split", "splitaddr" };
	static struct dump d;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		FILE *const file = open_document(FORMATS);

		ck_assert(next_dump(file, formats[i], &d));
		check_encoded(&d);
		fclose(file);
	}
}
END_TEST

/* The contents of SplitAddr depend on the placement of metadata. */
START_TEST(the_dumps_of_columns_are_written)
{
	static const char *const formats[] = { "binary", "split" };
	static struct dump d;
	uint8_t bytes[DUMP_MAX_NBYTES];

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		const struct hatf_writer_options options = {
			.plain = true, .bare = true, .format = formats[i]
		};
		struct hatf_writer *w;
		FILE *const file = open_document(FORMATS);
		FILE *const made = tmpfile();

		ck_assert(next_dump(file, formats[i], &d));
		ck_assert_int_eq(writer_of_fd(fileno(made), &options, &w, NULL),
				 HATF_OK);
		hatf_writer_write(w, encoded, 3);
		ck_assert_int_eq(hatf_writer_close(w, NULL), HATF_OK);
		rewind(made);
		ck_assert_uint_eq(fread(bytes, 1, sizeof(bytes), made),
				  d.nbytes);
		ck_assert_mem_eq(bytes, d.bytes, d.nbytes);
		fclose(made);
		fclose(file);
	}
}
END_TEST

/* The offsets in the tables of RINGS.md, in its order. */
static const size_t ring_offsets[] = {
	offsetof(struct image, magic),
	offsetof(struct image, version),
	offsetof(struct image, boot_id),
	offsetof(struct image, pid),
	offsetof(struct image, seq),
	offsetof(struct image, unattached),
	offsetof(struct image, commit),
	offsetof(struct image, trace),
	offsetof(struct image, pid_start),
	offsetof(struct image, file_dev),
	offsetof(struct image, reading_count),
	offsetof(struct image, reading),
	IMAGE_HEADER_NBYTES,

	offsetof(struct image_commit, seq),
	offsetof(struct image_commit, trace),
	offsetof(struct image_commit, nbytes),
	offsetof(struct image_commit, event_count),
	offsetof(struct image_commit, lost_count),
	offsetof(struct image_commit, time),
	offsetof(struct image_commit, timeline),
	offsetof(struct image_commit, unit_ns),
	offsetof(struct image_commit, flags),
	offsetof(struct image_commit, level),
	offsetof(struct image_commit, threads),
	offsetof(struct image_commit, unattached),
	offsetof(struct image_commit, sum),

	offsetof(struct image_trace, head_nbytes),
	offsetof(struct image_trace, head_hash),
	offsetof(struct image_trace, announced_seq),
	offsetof(struct image_trace, path),

	offsetof(struct ring, head),
	offsetof(struct ring, tail),
	offsetof(struct ring, capacity),
	offsetof(struct ring, waiting),
	offsetof(struct ring, lost_count),
	offsetof(struct ring, magic),
	offsetof(struct ring, words_max),
	offsetof(struct ring, id),
	offsetof(struct ring, is_nested),
	offsetof(struct ring, commit),
	offsetof(struct ring, words),

	offsetof(struct ring_commit, seq),
	offsetof(struct ring_commit, pos),
	offsetof(struct ring_commit, stamp),
	offsetof(struct ring_commit, realloc_old),
	offsetof(struct ring_commit, flags),
	offsetof(struct ring_commit, thread),
	offsetof(struct ring_commit, stack),
	offsetof(struct ring_commit, sum),
};
#define RING_OFFSET_COUNT (sizeof(ring_offsets) / sizeof(ring_offsets[0]))

/*
 * Return whether the line is a row of such a table.  Tables of examples have
 * their bytes in backticks.
 */
static bool
is_offset_row(const char *line, size_t *offset_ret)
{
	char bytes[16];

	return sscanf(line, "| %zu | %15[0-9+*] |", offset_ret, bytes) == 2 ||
	       sscanf(line, "| %zu | %1[|]", offset_ret, bytes) == 2;
}

START_TEST(the_layout_of_a_ring_file_is_that_of_the_structures)
{
	FILE *const file = open_document(RINGS);
	char line[LINE_MAX_NBYTES];
	unsigned version = 0;
	size_t count = 0, offset;

	while (fgets(line, sizeof(line), file) != NULL) {
		if (!is_offset_row(line, &offset))
			continue;
		ck_assert_uint_lt(count, RING_OFFSET_COUNT);
		ck_assert_msg(offset == ring_offsets[count], "want %zu: %s",
			      ring_offsets[count], line);
		count++;
		sscanf(line, "| %*u | 4+4 | `version`, %u;", &version);
	}
	fclose(file);
	ck_assert_uint_eq(count, RING_OFFSET_COUNT);
	ck_assert_uint_eq(version, IMAGE_VERSION);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("format_doc");
	TCase *const tc = tcase_create("format_doc");

	tcase_add_test(tc, every_dump_means_what_it_says);
	tcase_add_test(tc, the_member_inflates_to_the_first_dump);
	tcase_add_test(tc, the_dumps_of_encodings_are_read);
	tcase_add_test(tc, the_dumps_of_columns_are_written);
	tcase_add_test(tc, the_layout_of_a_ring_file_is_that_of_the_structures);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
