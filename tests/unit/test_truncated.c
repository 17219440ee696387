/* SPDX-License-Identifier: MIT */
/*
 * test_truncated.c - a truncated trace yields each whole record, then an error
 *
 * A trace truncated at any byte, plain or compressed, must yield every record
 * that is whole before the cut, and then one clear and lasting error:
 * HATF_TRUNCATED inside a record or gzip member, HATF_NO_TRAILER between two
 * records of a trace of ours.  Opening fails with HATF_NOT_HATF only if too few
 * bytes remain to tell what the file is.
 */
#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/sample.h"
#include "tests/unit/support/streams.h"

#include <stdarg.h>

#define MAX 64

/* A trace and the ends of its records; ends[0] is 0. */
struct trace {
	struct hand h;
	size_t ends[MAX];
	size_t count;
	bool ours;
	size_t member[3]; /* where gzip members begin */
};

/* The bytes since the last mark are a record. */
static void
mark(struct trace *t)
{
	t->ends[++t->count] = t->h.used;
	ck_assert_uint_lt(t->count, MAX);
}

__attribute__((format(printf, 2, 3))) static void
note(struct trace *t, const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	hand_comment(&t->h, text);
	mark(t);
}

/* Put every data record, with attributes whose length takes 'length_nbytes'. */
static void
put_every_tag(struct trace *t, unsigned length_nbytes)
{
	for (unsigned tag = 0; tag < 10; tag++) {
		hand_put(&t->h, tag, 1);
		hand_put(&t->h, tag == 6 || tag == 7 ? 1 : tag, 1);
		if (tag <= 5)
			hand_put(&t->h, 0x77, tag == 1 ? 4 : 8);
		if (tag >= 2 && tag <= 5)
			hand_put(&t->h, 0x88, 4);
		if (tag != 8 && tag != 9)
			hand_put(&t->h, 0x99, 1);
		hand_put(&t->h, 5, length_nbytes);
		hand_bytes(&t->h, "attri", 5);
		mark(t);
	}
}

/* Put every length of metadata record, and widths that suit put_every_tag(). */
static void
put_metadata(struct trace *t, unsigned attributes_width)
{
	hand_interpretation(&t->h, 0, HATF_NONE, 0, 0, 0);
	mark(t);
	hand_interpretation(&t->h, 1, HATF_DELTA, 1, 0x7f0000000000, 0);
	mark(t);
	hand_interpretation(&t->h, 2, HATF_STRIDE, 2, 5, 1);
	mark(t);
	for (unsigned field = 3; field <= 5; field++) {
		hand_interpretation(&t->h, field, HATF_NONE, 0, 0, 0);
		mark(t);
		hand_width(&t->h, field, field == 5 ? attributes_width : 1);
		mark(t);
	}
}

/*
 * Put a block with every kind of record; its length is known only at its end.
 */
static void
put_block(struct trace *t, unsigned number, unsigned record, unsigned event,
	  unsigned attributes_width)
{
	const size_t start = number == 0 ? 0 : t->h.used;
	char digits[11];
	size_t end_of_comment;

	note(t, "HATF block\nblock=%u\nrecord=%u\nevent=%u\nbytes=0000000000\n",
	     number, record, event);
	end_of_comment = t->h.used;
	put_metadata(t, attributes_width);
	put_every_tag(t, attributes_width == HATF_WIDTH_V1 ? 1 : 2);
	snprintf(digits, sizeof(digits), "%010zu", t->h.used - start);
	memcpy(t->h.bytes + end_of_comment - 11, digits, 10);
}

static struct trace
make_ours(void)
{
	struct trace t = { .ours = true };

	note(&t, "HATF 1.0\nproducer=test\n");
	put_block(&t, 0, 1, 0, HATF_WIDTH_V1);
	t.member[1] = t.h.used;
	put_block(&t, 1, 12, 6, HATF_WIDTH_V2);
	note(&t, "an annotation");
	t.member[2] = t.h.used;
	note(&t,
	     "HATF end\ncomplete=1\nevents=12\nrecords=24\nlost=0\n"
	     "hatf_bytes=%zu\n",
	     t.h.used);
	return t;
}

static struct trace
make_foreign(void)
{
	struct trace t = { 0 };

	put_metadata(&t, HATF_WIDTH_V1);
	put_every_tag(&t, 1);
	t.member[1] = t.h.used;
	put_metadata(&t, HATF_WIDTH_V2);
	put_every_tag(&t, 2);
	t.member[2] = t.h.used;
	note(&t, "the end");
	return t;
}

/* The expected result of reading. */
struct want {
	bool opens;
	size_t records;
	uint64_t offset;
	enum hatf_status status;
};

/*
 * Return what 'known' bytes of 't' must give; 'in_member': gzip was truncated.
 */
static struct want
expectation(const struct trace *t, size_t known, bool in_member)
{
	struct want want = { .opens = true };
	bool between;

	while (want.records < t->count && t->ends[want.records + 1] <= known)
		want.records++;
	want.offset = t->ends[want.records];
	between = want.offset == known;
	if (in_member || !between)
		want.status = HATF_TRUNCATED;
	else if (t->ours && want.records < t->count)
		want.status = HATF_NO_TRAILER;
	else
		want.status = HATF_END;
	/*
	 * A plain file needs the first line of the header, or one whole record.
	 */
	if (!in_member)
		want.opens = t->ours ? known >= 3 + strlen("HATF 1.0")
				     : want.records > 0;
	return want;
}

static void
check(const uint8_t *bytes, size_t nbytes, unsigned jobs,
      const struct want *want)
{
	const int fd = hand_file(bytes, nbytes);
	struct hatf_record records[MAX];
	struct hatf_reader *reader;
	struct hatf_error err;
	const struct hatf_reader_options options = {
		.flags = HATF_READER_METADATA,
		.jobs = jobs,
	};
	const enum hatf_status opened = reader_with(fd, options, &reader, &err);
	size_t n = 0, sum = 0;

	ck_assert_int_eq(opened, want->opens ? HATF_OK : HATF_NOT_HATF);
	if (opened != HATF_OK) {
		ck_assert_int_eq(err.status, HATF_NOT_HATF);
		close(fd);
		return;
	}
	while (hatf_reader_read(reader, records, MAX, &n) == HATF_OK)
		sum += n;
	ck_assert_uint_eq(sum, want->records);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(hatf_reader_read(reader, records, MAX, &n),
				 want->status);
		ck_assert_uint_eq(n, 0);
	}
	if (want->status != HATF_END) {
		const struct hatf_error *const e = hatf_reader_error(reader);

		ck_assert_int_eq(e->status, want->status);
		ck_assert_uint_eq(e->offset, want->offset);
		ck_assert_uint_eq(e->file_offset, nbytes);
	}
	hatf_reader_close(reader);
	close(fd);
}

static void
cut_plain(const struct trace *t)
{
	for (size_t cut = 0; cut <= t->h.used; cut++) {
		const struct want want = expectation(t, cut, false);

		check(t->h.bytes, cut, 0, &want);
	}
}

/* Return how many bytes inflate() makes of 'bytes', fed one by one. */
static size_t
knowable(const uint8_t *bytes, size_t nbytes, bool *in_member_ret)
{
	static uint8_t out[1 << 16];
	z_stream z = { 0 };
	size_t used = 0;

	*in_member_ret = false;
	ck_assert_int_eq(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
	for (size_t i = 0; i < nbytes; i++) {
		z.next_in = bytes + i;
		z.avail_in = 1;
		z.next_out = out;
		z.avail_out = sizeof(out);
		*in_member_ret = inflate(&z, Z_SYNC_FLUSH) != Z_STREAM_END;
		if (!*in_member_ret)
			inflateReset(&z);
		used += sizeof(out) - z.avail_out;
	}
	inflateEnd(&z);
	return used;
}

/* Truncate 'gz', which is 't' compressed, at every byte. */
static void
cut_members(const struct trace *t, const struct hand *gz)
{
	for (size_t cut = SAMPLE_FIRST; cut <= gz->used; cut += SAMPLE_STEP) {
		bool in_member;
		const size_t known = knowable(gz->bytes, cut, &in_member);
		struct want want = expectation(t, known, in_member);

		if (cut < 2) /* not yet gzip */
			want.opens = false;
		check(gz->bytes, cut, 0, &want);
		check(gz->bytes, cut, 2, &want);
	}
}

static void
cut_compressed(const struct trace *t, bool ours)
{
	struct hand gz = { 0 };

	for (int i = 0; i < 3; i++) {
		const size_t end = i == 2 ? t->h.used : t->member[i + 1];

		if (ours)
			hand_member(&gz, t->h.bytes + t->member[i],
				    end - t->member[i], 0);
		else
			hand_gzip(&gz, t->h.bytes + t->member[i],
				  end - t->member[i]);
	}
	cut_members(t, &gz);
	hand_fini(&gz);
}

/* Write one record of each tag with hatf_writer. */
static void
write_every_tag(struct hand *h, bool plain)
{
	const struct hatf_writer_options options = {
		.struct_nbytes = sizeof(options),
		.plain = plain,
	};
	const int fd = hand_file(NULL, 0);
	struct hatf_writer *writer;
	uint8_t buf[4096];
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ck_assert_int_eq(hatf_writer_open(path, &options, &writer, NULL),
			 HATF_OK);
	for (uint8_t tag = 0; tag <= HATF_COMMENT; tag++) {
		const struct hatf_record record = {
			.tag = tag,
			.attributes = (const uint8_t *)"attributes",
			.attributes_nbytes = tag,
			.size = (uint64_t)1 << 4 * tag,
			.address = 0x7f0000001000,
			.thread = tag,
			.time = 1000 * tag,
		};

		ck_assert_int_eq(hatf_writer_write(writer, &record, 1),
				 HATF_OK);
	}
	ck_assert_int_eq(hatf_writer_close(writer, NULL), HATF_OK);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		hand_bytes(h, buf, (size_t)n);
	close(fd);
}

/* Return the trace in 'h' with the ends of its records. */
static struct trace
find_ends(struct hand h)
{
	struct trace t = { .h = h, .ours = true };
	const int fd = hand_file(h.bytes, h.used);
	struct hatf_record records[MAX];
	struct hatf_reader *reader;
	size_t n;

	ck_assert_int_eq(reader_of_fd(fd, HATF_READER_METADATA, &reader, NULL),
			 HATF_OK);
	ck_assert_int_eq(hatf_reader_read(reader, records, MAX, &n), HATF_OK);
	ck_assert_uint_lt(n, MAX);
	for (size_t i = 0; i < n; i++)
		t.ends[i] = records[i].offset;
	t.ends[n] = h.used;
	t.count = n;
	ck_assert_int_eq(hatf_reader_read(reader, records, MAX, &n), HATF_END);
	hatf_reader_close(reader);
	close(fd);
	return t;
}

/* Inflate the only member in 'gz'. */
static struct hand
inflate_all(const struct hand *gz)
{
	struct hand h = { 0 };
	uint8_t out[16384];
	z_stream z = { 0 };

	ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
	z.next_in = gz->bytes;
	z.avail_in = (uInt)gz->used;
	z.next_out = out;
	z.avail_out = sizeof(out);
	ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(z.avail_in, 0);
	hand_bytes(&h, out, z.total_out);
	inflateEnd(&z);
	return h;
}

START_TEST(our_plain_trace)
{
	struct trace t = make_ours();

	cut_plain(&t);
	hand_fini(&t.h);
}
END_TEST

START_TEST(our_compressed_trace)
{
	struct trace t = make_ours();

	cut_compressed(&t, true);
	hand_fini(&t.h);
}
END_TEST

START_TEST(a_foreign_plain_trace)
{
	struct trace t = make_foreign();

	cut_plain(&t);
	hand_fini(&t.h);
}
END_TEST

START_TEST(a_foreign_compressed_trace)
{
	struct trace t = make_foreign();

	cut_compressed(&t, false);
	hand_fini(&t.h);
}
END_TEST

START_TEST(a_plain_trace_by_the_writer)
{
	struct hand plain = { 0 };
	struct trace t;

	write_every_tag(&plain, true);
	t = find_ends(plain);
	cut_plain(&t);
	hand_fini(&t.h);
}
END_TEST

START_TEST(a_compressed_trace_by_the_writer)
{
	struct hand gz = { 0 };
	struct trace t;

	write_every_tag(&gz, false);
	t = find_ends(inflate_all(&gz));
	cut_members(&t, &gz);
	hand_fini(&t.h);
	hand_fini(&gz);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		our_plain_trace,
		our_compressed_trace,
		a_foreign_plain_trace,
		a_foreign_compressed_trace,
		a_plain_trace_by_the_writer,
		a_compressed_trace_by_the_writer,
	};

	return hand_run("truncated", tests, sizeof(tests) / sizeof(tests[0]));
}
