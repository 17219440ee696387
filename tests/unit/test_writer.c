/* SPDX-License-Identifier: MIT */
/*
 * test_writer.c - writer output is read back by the reader and by mini.h
 *
 * Records that go into a hatf_writer come out of a hatf_reader and of the
 * decoder in mini.h.  Each gzip member decodes alone.  The header, block
 * comments and trailer are those of FORMAT.md and their claims are true.
 * Records that cannot be written are refused, and every error is kept.
 *
 * runs early: it takes a minute under a sanitizer
 */
#include "hatf/codec/bytes.h"
#include "hatf/codec/comment_text.h"
#include "hatf/hatf.h"
#include "tests/unit/support/mini.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define RECORD_COUNT 60000
#define STREAM_MAX   (16 * 1024 * 1024)

/* The placements between these behave alike. */
static const char *const placements[] = { "online", "naive", "best",
					  "optimum" };
#define PLACEMENT_COUNT (int)(sizeof(placements) / sizeof(placements[0]))

static char path[64];
static struct hatf_record *records; /* RECORD_COUNT */
static uint64_t event_count;	    /* in 'records' */

/*
 * Give a record a stack in one of the ways that attributes can have one.  Most
 * are of a few stacks, in an order that repeats itself now and then.
 */
static void
set_stack(struct hatf_record *r, uint64_t *seed)
{
	static uint8_t items[RECORD_COUNT][12];
	uint8_t *const buf = items[r - records];
	const unsigned how = (unsigned)(mini_random(seed) >> 56);
	const struct hatf_attr_item zeroed = { .key = HATF_ATTR_ZEROED };
	struct hatf_attr_item stack = { .key = HATF_ATTR_STACK };
	size_t used = 0;

	if (r->tag == HATF_FREE ? how > 2 : how > 240)
		return;
	stack.value = how > 64	 ? r->time % 11 + 1
		      : how > 32 ? mini_random(seed) >> 50
		      : how > 3	 ? mini_random(seed) >> 32
				 : mini_random(seed);
	if (how % 8 == 7)
		hatf_attr_put(buf, sizeof(items[0]), &used, &zeroed);
	hatf_attr_put(buf, sizeof(items[0]), &used, &stack);
	if (how % 16 == 1)
		hatf_attr_put(buf, sizeof(items[0]), &used, &zeroed);
	r->attributes = buf;
	r->attributes_nbytes = (uint32_t)used;
}

/*
 * A program that allocates, resizes and frees on three threads, with comments
 * and stacks.
 */
static void
make_records(void)
{
	uint64_t seed = 88172645463325252u;
	size_t n = 0;

	records = calloc(RECORD_COUNT, sizeof(*records));
	event_count = 0;
	while (n + 3 <= RECORD_COUNT) {
		struct hatf_record *const r = &records[n];
		const unsigned kind = mini_random(&seed) >> 32 & 15;

		r->time = n / 7;
		r->thread = mini_random(&seed) >> 62;
		r->address = 0x555555559000 + (mini_random(&seed) >> 40) * 16;
		n++;
		if (kind == 0) {
			*r = (struct hatf_record){
				.tag = HATF_COMMENT,
				.attributes = (const uint8_t *)"HATF note\n",
				.attributes_nbytes = 10
			};
			continue;
		}
		event_count++;
		r->tag = kind < 8 ? HATF_ALLOC : HATF_FREE;
		if (kind < 8)
			r->size = mini_random(&seed) >> 54;
		if (kind != 1) {
			set_stack(r, &seed);
			continue;
		}
		/*
		 * A realloc that moves, and the two records that it announces.
		 */
		r->tag = HATF_REALLOC_ALLOC_FREE;
		r->old_address = r->address + 64;
		r[1] = r[0];
		r[1].tag = HATF_ALLOC;
		r[1].old_address = 0;
		r[2] = r[1];
		r[2].tag = HATF_FREE;
		r[2].size = 0;
		r[2].address = r[0].old_address;
		set_stack(r, &seed);
		n += 2;
	}
	for (; n < RECORD_COUNT; n++) {
		records[n].tag = HATF_CREATE_THREAD;
		records[n].thread = n;
		records[n].time = n / 7;
	}
}

static void
write_all(const struct hatf_writer_options *options)
{
	struct hatf_writer_options o = { .fd = -1 };
	struct hatf_writer *w;
	struct hatf_error err;

	if (options != NULL)
		o = *options;
	o.struct_nbytes = sizeof(o);
	ck_assert_int_eq(hatf_writer_open(path, &o, &w, &err), HATF_OK);
	for (size_t i = 0; i < RECORD_COUNT; i += 1000)
		ck_assert_int_eq(hatf_writer_write(w, records + i, 1000),
				 HATF_OK);
	ck_assert_int_eq(hatf_writer_close(w, &err), HATF_OK);
	ck_assert_int_eq(err.status, HATF_OK);
}

static uint8_t *
slurp(size_t *nbytes_ret)
{
	uint8_t *const buf = malloc(STREAM_MAX);
	FILE *const file = fopen(path, "rb");

	ck_assert_ptr_nonnull(file);
	*nbytes_ret = fread(buf, 1, STREAM_MAX, file);
	fclose(file);
	return buf;
}

static size_t
inflate_member(const uint8_t *member, size_t nbytes, uint8_t *out, size_t cap)
{
	z_stream z = { .next_in = (uint8_t *)(uintptr_t)member,
		       .avail_in = (uInt)nbytes,
		       .next_out = out,
		       .avail_out = (uInt)cap };

	ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
	ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(z.avail_in, 0);
	inflateEnd(&z);
	return z.total_out;
}

static bool
is_kind(const struct hatf_record *r, const char *kind)
{
	const size_t nbytes = strlen(kind);

	return r->tag == HATF_COMMENT && r->attributes_nbytes > nbytes &&
	       memcmp(r->attributes, kind, nbytes) == 0 &&
	       r->attributes[nbytes] == '\n';
}

static uint64_t
number_of(const struct hatf_record *r, const char *key)
{
	uint64_t n;

	mini_check(text_find_u64((const char *)r->attributes,
				 r->attributes_nbytes, key, &n));
	return n;
}

static void
check_trailer(const struct hatf_record *r, uint64_t read_count)
{
	ck_assert_uint_eq(number_of(r, "complete"), 1);
	ck_assert_uint_eq(number_of(r, "events"), event_count);
	ck_assert_uint_eq(number_of(r, "records"), read_count);
	ck_assert_uint_eq(number_of(r, "lost"), 0);
	ck_assert_uint_eq(number_of(r, "hatf_bytes"), r->offset);
}

/*
 * Check a whole stream with its framing, and that each block has a column of
 * stacks; return the number of blocks.
 */
static uint64_t
check_stream(const uint8_t *stream, size_t nbytes)
{
	uint64_t blocks = 0, read_count = 0, n = 0, block_end = 0;
	uint64_t column_count = 0;
	struct hatf_record r, last = { 0 };
	struct mini m;

	mini_init(&m, stream, nbytes);
	while (mini_read(&m, &r)) {
		if (read_count == 0) {
			ck_assert(is_kind(&r, "HATF 1.0"));
		} else if (is_kind(&r, "HATF block")) {
			ck_assert_uint_eq(number_of(&r, "block"), blocks++);
			ck_assert_uint_eq(number_of(&r, "record"), read_count);
			if (blocks > 1)
				ck_assert_uint_eq(r.offset, block_end);
			block_end += number_of(&r, "bytes");
		} else if (is_kind(&r, "HATF sum")) {
			/* The record ends its block. */
			ck_assert_uint_eq(r.offset + 3 + r.attributes_nbytes,
					  block_end);
		} else if (is_kind(&r, "HATF stacks")) {
			column_count++;
		} else if (!is_kind(&r, "HATF end")) {
			mini_assert_same(&r, &records[n++]);
		} else {
			check_trailer(&r, read_count);
		}
		last = r;
		read_count++;
	}
	ck_assert_uint_eq(n, RECORD_COUNT);
	ck_assert(is_kind(&last, "HATF end"));
	ck_assert_uint_eq(column_count, blocks);
	return blocks;
}

START_TEST(a_plain_trace_is_the_stream)
{
	const struct hatf_writer_options options = {
		.plain = true,
		.placement = placements[_i],
	};
	uint8_t *stream;
	size_t nbytes;

	write_all(&options);
	stream = slurp(&nbytes);
	ck_assert_uint_gt(check_stream(stream, nbytes), 1);
	free(stream);
}
END_TEST

START_TEST(members_can_be_walked_and_decode_alone)
{
	const struct hatf_writer_options options = {
		.level = _i,
		.placement = placements[_i % PLACEMENT_COUNT],
	};
	uint8_t *const stream = malloc(STREAM_MAX);
	uint8_t *file;
	size_t nbytes, used = 0, n = 0;
	struct hatf_record r;
	struct mini m;

	write_all(_i == 0 ? NULL : &options);
	file = slurp(&nbytes);
	for (size_t off = 0; off < nbytes;) {
		const size_t member = get_le32(file + off + 16);
		const size_t length = inflate_member(
			file + off, member, stream + used, STREAM_MAX - used);

		mini_init(&m, stream + used, length);
		m.has_header = true;
		while (mini_read(&m, &r))
			if (!is_kind(&r, "HATF 1.0") &&
			    !is_kind(&r, "HATF block") &&
			    !is_kind(&r, "HATF stacks") &&
			    !is_kind(&r, "HATF end"))
				mini_assert_same(&r, &records[n++]);
		used += length;
		off += member;
	}
	ck_assert_uint_eq(n, RECORD_COUNT);
	ck_assert_uint_gt(check_stream(stream, used), 1);
	free(file);
	free(stream);
}
END_TEST

START_TEST(a_bare_trace_has_the_records_alone)
{
	const struct hatf_writer_options options = {
		.plain = true,
		.bare = true,
		.placement = placements[_i],
	};
	uint8_t *stream;
	size_t nbytes, n = 0;
	struct hatf_record r;
	struct mini m;

	write_all(&options);
	stream = slurp(&nbytes);
	mini_init(&m, stream, nbytes);
	while (mini_read(&m, &r))
		mini_assert_same(&r, &records[n++]);
	ck_assert_uint_eq(n, RECORD_COUNT);
	free(stream);
}
END_TEST

START_TEST(the_reader_reads_what_the_writer_wrote)
{
	static const struct hatf_writer_options options[] = {
		{ .level = 0 },
		{ .plain = true },
		{ .bare = true },
		{ .plain = true, .bare = true },
		{ .level = 3, .header = "unit=us\nexe=/a\\x0ab\n" },
	};
	const bool bare = options[_i].bare;
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	struct hatf_record *const batch = calloc(512, sizeof(*batch));
	enum hatf_status status;
	size_t n = 0, got;

	write_all(&options[_i]);
	ck_assert_int_eq(hatf_reader_open(path, NULL, &reader, NULL), HATF_OK);
	while ((status = hatf_reader_read(reader, batch, 512, &got)) == HATF_OK)
		for (size_t i = 0; i < got; i++)
			if (bare || (!is_kind(&batch[i], "HATF 1.0") &&
				     !is_kind(&batch[i], "HATF block") &&
				     !is_kind(&batch[i], "HATF sum") &&
				     !is_kind(&batch[i], "HATF stacks") &&
				     !is_kind(&batch[i], "HATF end")))
				mini_assert_same(&batch[i], &records[n++]);
	ck_assert_int_eq(status, HATF_END);
	ck_assert_uint_eq(n, RECORD_COUNT);
	hatf_reader_get_stats(reader, &stats);
	ck_assert(stats.complete);
	ck_assert_int_eq(stats.ours, !bare);
	ck_assert_int_eq(stats.compressed, !options[_i].plain);
	ck_assert_int_eq(stats.block_count > 1, !bare);
	if (options[_i].header != NULL) {
		ck_assert_str_eq(hatf_reader_header(reader, "unit"), "us");
		ck_assert_str_eq(hatf_reader_header(reader, "exe"), "/a\nb");
	}
	hatf_reader_close(reader);
	free(batch);
}
END_TEST

START_TEST(framing_comments_are_replaced)
{
	static const char *const texts[] = {
		"HATF 1.0\npid=7\n",
		"HATF block\nblock=9\n",
		"HATF sum\ncrc32c=00000000\n",
		"HATF end\ncomplete=0\n",
		"HATF 1.0",
		"HATF 1.0 is nice",
		"HATF lost\ncount=3\n",
		"HATF blocks",
		"",
	};
	static const bool kept[] = { 0, 0, 0, 0, 0, 1, 1, 1, 1 };
	const struct hatf_writer_options options = {
		.struct_nbytes = sizeof(options),
		.plain = true,
	};
	struct hatf_record r = { .tag = HATF_COMMENT };
	struct hatf_writer *w;
	struct mini m;
	uint8_t *stream;
	size_t nbytes, n = 0;

	ck_assert_int_eq(hatf_writer_open(path, &options, &w, NULL), HATF_OK);
	for (size_t i = 0; i < 9; i++) {
		r.attributes = (const uint8_t *)texts[i];
		r.attributes_nbytes = (uint32_t)strlen(texts[i]);
		ck_assert_int_eq(hatf_writer_write(w, &r, 1), HATF_OK);
	}
	ck_assert_int_eq(hatf_writer_close(w, NULL), HATF_OK);

	stream = slurp(&nbytes);
	mini_init(&m, stream, nbytes);
	ck_assert(mini_read(&m, &r)); /* the header */
	ck_assert(mini_read(&m, &r)); /* the block */
	for (; n < 9; n++) {
		if (!kept[n])
			continue;
		ck_assert(mini_read(&m, &r));
		ck_assert_uint_eq(r.attributes_nbytes, strlen(texts[n]));
		ck_assert_mem_eq(r.attributes, texts[n], r.attributes_nbytes);
	}
	ck_assert(mini_read(&m, &r));
	ck_assert(is_kind(&r, "HATF end"));
	/* Losses of the source are losses of this trace, too. */
	ck_assert_uint_eq(number_of(&r, "lost"), 3);
	ck_assert(!mini_read(&m, &r));
	free(stream);
}
END_TEST

START_TEST(an_empty_trace_is_complete)
{
	struct hatf_reader *reader;
	struct hatf_record r[4];
	struct hatf_writer *w;
	size_t got;

	ck_assert_int_eq(hatf_writer_open(path, NULL, &w, NULL), HATF_OK);
	ck_assert_int_eq(hatf_writer_close(w, NULL), HATF_OK);
	ck_assert_int_eq(hatf_writer_close(NULL, NULL), HATF_OK);
	ck_assert_int_eq(hatf_reader_open(path, NULL, &reader, NULL), HATF_OK);
	ck_assert_int_eq(hatf_reader_read(reader, r, 4, &got), HATF_OK);
	ck_assert_uint_eq(got, 2);
	ck_assert_int_eq(hatf_reader_read(reader, r, 4, &got), HATF_END);
	ck_assert_str_eq(hatf_reader_trailer(reader, "events"), "0");
	hatf_reader_close(reader);
}
END_TEST

START_TEST(bad_records_are_refused_and_the_error_stays)
{
	struct hatf_record r[3] = { { .tag = HATF_ALLOC } };
	struct hatf_writer *w;
	struct hatf_error err;

	for (unsigned i = 0; i < 3; i++) {
		r[1].tag = i == 0 ? HATF_METADATA : i == 1 ? 200 : HATF_FREE;
		r[1].attributes_nbytes = i == 2 ? 65536 : 0;
		ck_assert_int_eq(hatf_writer_open(path, NULL, &w, NULL),
				 HATF_OK);
		ck_assert_int_eq(hatf_writer_write(w, r, 3), HATF_BAD_RECORD);
		ck_assert_int_eq(hatf_writer_error(w)->status, HATF_BAD_RECORD);
		/* The header, the block comment and the good record. */
		ck_assert_uint_eq(hatf_writer_error(w)->record, 3);
		ck_assert_int_eq(hatf_writer_write(w, r, 1), HATF_BAD_RECORD);
		ck_assert_int_eq(hatf_writer_close(w, &err), HATF_BAD_RECORD);
		ck_assert_str_eq(err.field, i == 2 ? "attributes" : "tag");
	}
}
END_TEST

static enum hatf_status
write_comment(const char *text, bool bare)
{
	const struct hatf_writer_options options = {
		.struct_nbytes = sizeof(options),
		.bare = bare,
	};
	const struct hatf_record comment = {
		.tag = HATF_COMMENT,
		.attributes = (const uint8_t *)text,
		.attributes_nbytes = (uint32_t)strlen(text),
	};
	struct hatf_writer *w;
	struct hatf_error err;

	ck_assert_int_eq(hatf_writer_open(path, &options, &w, NULL), HATF_OK);
	hatf_writer_write(w, &comment, 1);
	if (hatf_writer_close(w, &err) != HATF_OK)
		ck_assert_str_eq(err.field, "count");
	return err.status;
}

/*
 * Regression: these were written, but no reader accepts them (a fuzzer's find).
 */
START_TEST(losses_without_a_count_are_refused)
{
	static const char *const bad[] = { "HATF lost", "HATF lost\n",
					   "HATF lost\ncount=\n",
					   "HATF lost\ncount=1x\n" };
	static const char *const good[] = { "HATF lost\ncount=1\n",
					    "HATF losses\n" };

	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(write_comment(bad[i], false), HATF_BAD_RECORD);
		ck_assert_int_eq(write_comment(bad[i], true), HATF_OK);
	}
	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(write_comment(good[i], false), HATF_OK);
}
END_TEST

START_TEST(files_that_cannot_be_written)
{
	struct hatf_writer *w = NULL;
	struct hatf_error err;

	ck_assert_int_eq(hatf_writer_open("/nowhere/at/all", NULL, &w, &err),
			 HATF_IO);
	ck_assert_int_eq(err.sys_errno, ENOENT);
	ck_assert_int_eq(hatf_writer_open("/", NULL, &w, &err), HATF_IO);
	ck_assert_int_eq(err.sys_errno, EISDIR);
	ck_assert_ptr_null(w);

	ck_assert_int_eq(hatf_writer_open("/dev/full", NULL, &w, NULL),
			 HATF_OK);
	ck_assert_int_eq(hatf_writer_write(w, records, RECORD_COUNT), HATF_IO);
	ck_assert_int_eq(hatf_writer_error(w)->sys_errno, ENOSPC);
	ck_assert_int_eq(hatf_writer_write(w, records, 1), HATF_IO);
	ck_assert_int_eq(hatf_writer_close(w, &err), HATF_IO);
	ck_assert_int_eq(err.sys_errno, ENOSPC);

	/* The first write is that of the trailer. */
	ck_assert_int_eq(hatf_writer_open("/dev/full", NULL, &w, NULL),
			 HATF_OK);
	ck_assert_int_eq(hatf_writer_close(w, NULL), HATF_IO);
}
END_TEST

START_TEST(options_are_checked)
{
	char *const lines = malloc(70000);
	struct hatf_writer_options options = {
		.struct_nbytes = sizeof(options),
		.level = 13,
	};
	struct hatf_writer *w;
	struct hatf_error err;

	ck_assert_int_eq(hatf_writer_open(path, &options, &w, &err),
			 HATF_BAD_OPTION);
	ck_assert_str_eq(err.field, "level");
	options.level = -1;
	ck_assert_int_eq(hatf_writer_open(path, &options, &w, &err),
			 HATF_BAD_OPTION);
	options.level = 1;
	options.header = lines;
	memset(lines, 'a', 70000);
	memcpy(lines, "k=", 2);
	lines[69998] = '\n';
	lines[69999] = '\0';
	ck_assert_int_eq(hatf_writer_open(path, &options, &w, &err),
			 HATF_LIMIT);
	ck_assert_str_eq(err.field, "header");
	free(lines);
}
END_TEST

START_TEST(placements_have_names)
{
	ck_assert_str_eq(hatf_writer_placement(0), "online");
	ck_assert_str_eq(hatf_writer_placement(11), "optimum");
	ck_assert_str_eq(hatf_writer_placement(12), "smallest");
	ck_assert_ptr_null(hatf_writer_placement(13));
}
END_TEST

START_TEST(a_file_that_is_there_is_replaced)
{
	FILE *const file = fopen(path, "w");
	struct hatf_writer *w;
	struct stat st;

	for (unsigned i = 0; i < 100000; i++)
		fputs("old ", file);
	fclose(file);
	ck_assert_int_eq(hatf_writer_open(path, NULL, &w, NULL), HATF_OK);
	ck_assert_int_eq(hatf_writer_close(w, NULL), HATF_OK);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_lt(st.st_size, 1000);
}
END_TEST

static void
set_up(void)
{
	int fd;

	strcpy(path, "/tmp/test_writer.XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	make_records();
}

static void
tear_down(void)
{
	unlink(path);
	free(records);
}

int
main(void)
{
	Suite *const suite = suite_create("writer");
	TCase *const tc = tcase_create("writer");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, a_plain_trace_is_the_stream, 0,
			    PLACEMENT_COUNT);
	tcase_add_loop_test(tc, members_can_be_walked_and_decode_alone, 0, 13);
	tcase_add_loop_test(tc, a_bare_trace_has_the_records_alone, 0,
			    PLACEMENT_COUNT);
	tcase_add_loop_test(tc, the_reader_reads_what_the_writer_wrote, 0, 5);
	tcase_add_test(tc, framing_comments_are_replaced);
	tcase_add_test(tc, an_empty_trace_is_complete);
	tcase_add_test(tc, bad_records_are_refused_and_the_error_stays);
	tcase_add_test(tc, losses_without_a_count_are_refused);
	tcase_add_test(tc, files_that_cannot_be_written);
	tcase_add_test(tc, options_are_checked);
	tcase_add_test(tc, placements_have_names);
	tcase_add_test(tc, a_file_that_is_there_is_replaced);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
