/* SPDX-License-Identifier: MIT */
/*
 * test_gperftools.c - malloc traces of gperftools
 *
 * Hand-made traces: the meaning of events, the order of events of several
 * threads, threads that free a token that is never allocated, malformed traces,
 * and cuts at any byte.
 */
#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/streams.h"

enum {
	MALLOC = 0x00,
	FREE = 0x01,
	TOKENS = 0x02,
	BUFFER = 0x03,
	FREE_SIZED = 0x04,
	DEATH = 0x07,
	END = 0x0f,
	REALLOC = 0x17,
	MEMALIGN = 0x1f,
	BARRIER = 0x27,
};

/* Append a number in 'nbytes' bytes (1 to 9), or in as few as possible. */
static void
put_number(struct hand *h, uint64_t n, unsigned nbytes)
{
	uint8_t bytes[9] = { 0 };

	if (nbytes == 0) {
		nbytes = 1;
		while (nbytes < 9 && (nbytes == 8 || n >> (7 * nbytes) != 0))
			nbytes++;
	}
	if (nbytes < 9)
		n = n << nbytes | UINT64_C(1) << (nbytes - 1);
	for (unsigned i = 0; i < nbytes && i < 8; i++)
		bytes[i + (nbytes == 9)] = (uint8_t)(n >> 8 * i);
	hand_bytes(h, bytes, nbytes);
}

static void
put(struct hand *h, uint64_t n)
{
	put_number(h, n, 0);
}

/* Encode a difference, above a type. */
static uint64_t
zigzag(unsigned type, int64_t n)
{
	const uint64_t z = (uint64_t)n << 1 ^ (uint64_t)(n >> 63);

	return (type & 7) == 7 ? z << 8 | type : z << 3 | type;
}

/* Encode a difference as a separate number. */
static uint64_t
difference(int64_t n)
{
	return zigzag(0, n) >> 3;
}

static void
put_buffer(struct hand *h, unsigned thread, uint64_t time, struct hand *events)
{
	put(h, thread << 3 | BUFFER);
	put(h, time);
	put(h, events->used);
	hand_bytes(h, events->bytes, events->used);
	hand_fini(events);
}

static void
begin(struct hand *h)
{
	*h = (struct hand){ 0 };
	hand_bytes(h, "\xe4\x63\xbd\x6c", 4);
}

static void
put_tokens(struct hand *h, unsigned base, uint64_t time)
{
	put(h, base << 3 | TOKENS);
	put(h, time);
}

static void
put_barrier(struct hand *h, uint64_t time)
{
	put(h, BARRIER);
	put(h, time);
}

struct reading {
	enum hatf_status status;
	struct hatf_error err;
	char text[2000];
};

static void
note(struct reading *r, const struct hatf_record *rec)
{
	const uint8_t *next = rec->attributes;
	struct hatf_attr_item item = { 0 };
	char buf[100];

	if (rec->attributes_nbytes != 0)
		ck_assert(hatf_attr_next(&next, next + rec->attributes_nbytes,
					 &item));
	snprintf(buf, sizeof(buf), "%d %s %d %d->%d @%d %d\n", (int)rec->thread,
		 hatf_tag_name(rec->tag), (int)rec->size, (int)rec->old_address,
		 (int)rec->address, (int)rec->time, (int)item.value);
	ck_assert_uint_lt(strlen(r->text) + strlen(buf), sizeof(r->text));
	strcat(r->text, buf);
}

static void
read_bytes(struct reading *r, const uint8_t *bytes, size_t nbytes, size_t max)
{
	const int fd = hand_file(bytes, nbytes);
	struct hatf_record records[8];
	struct hatf_reader *reader;
	size_t n;

	memset(r, 0, sizeof(*r));
	r->status = reader_of_fd(fd, 0, &reader, &r->err);
	if (r->status == HATF_OK) {
		ck_assert_str_eq(hatf_reader_format(reader), "gperftools");
		ck_assert_str_eq(hatf_reader_header(reader, "unit"), "ns");
		while ((r->status = hatf_reader_read(reader, records, max,
						     &n)) == HATF_OK)
			for (size_t i = 0; i < n; i++)
				note(r, &records[i]);
		r->err = *hatf_reader_error(reader);
		hatf_reader_close(reader);
	}
	close(fd);
}

/* Read the trace in batches of each length, and free it. */
static void
check_text(struct hand *h, enum hatf_status status, const char *want)
{
	for (size_t max = 1; max <= 8; max++) {
		struct reading r;

		read_bytes(&r, h->bytes, h->used, max);
		ck_assert_str_eq(r.text, want);
		ck_assert_int_eq(r.status, status);
	}
	hand_fini(h);
}

/* Every event, with positive and negative differences of sizes and tokens. */
static void
make_all(struct hand *h)
{
	struct hand b = { 0 };

	put_tokens(&b, 1024, 5120 + 3);
	put(&b, zigzag(MALLOC, 3));
	put(&b, zigzag(MALLOC, -2));
	put(&b, zigzag(MEMALIGN, 10));
	put(&b, 64);
	put(&b, zigzag(REALLOC, -1));
	put(&b, difference(1024));
	put_tokens(&b, 4096, 6144);
	put(&b, zigzag(FREE, 2));
	put(&b, zigzag(FREE_SIZED, -1));
	put(&b, zigzag(MALLOC, 0));
	begin(h);
	put_buffer(h, 4, 7168 + 1, &b);
	put(h, 4 << 8 | DEATH);
	put(h, 8192);
	put_barrier(h, 9216);
	put(h, END);
	/* The rest is ignored. */
	hand_bytes(h, "\0\0\xff", 3);
}

static const char all[] = "4 alloc 24 0->1025 @5120 0\n"
			  "4 alloc 8 0->1026 @5120 0\n"
			  "4 alloc 88 0->1027 @5120 64\n"
			  "4 reallocAllocFree 80 1025->1028 @5120 0\n"
			  "4 alloc 80 0->1028 @5120 0\n"
			  "4 free 0 0->1025 @5120 0\n"
			  "4 free 0 0->1027 @6144 0\n"
			  "4 free 0 0->1026 @6144 0\n"
			  "4 alloc 80 0->4097 @6144 0\n"
			  "4 destroyThread 0 0->0 @8192 0\n";

START_TEST(events_become_records)
{
	struct hand h;

	make_all(&h);
	check_text(&h, HATF_END, all);
}
END_TEST

/* A number may have more bytes than necessary. */
START_TEST(numbers_of_every_length_are_read)
{
	for (unsigned nbytes = 1; nbytes <= 9; nbytes++) {
		struct hand h, b = { 0 };

		put_number(&b, zigzag(MALLOC, 7), nbytes);
		begin(&h);
		put_buffer(&h, 0, 1024, &b);
		put_number(&h, END, nbytes);
		check_text(&h, HATF_END, "0 alloc 56 0->1 @0 0\n");
	}
}
END_TEST

/* A thread's time is set by a Tokens event and at the end of a buffer. */
START_TEST(the_thread_with_the_least_time_comes_first)
{
	struct hand h, a = { 0 }, b = { 0 };

	put_tokens(&a, 0, 2048);
	put(&a, zigzag(MALLOC, 1));
	put_tokens(&a, 2048, 6144);
	put(&a, zigzag(MALLOC, 0));
	put_tokens(&b, 1024, 4096);
	put(&b, zigzag(MALLOC, 1));
	begin(&h);
	put_buffer(&h, 2, 8192, &b);
	put_buffer(&h, 1, 7168, &a);
	put_barrier(&h, 9216);
	put(&b, zigzag(MALLOC, 0));
	put_buffer(&h, 2, 9216, &b);
	put(&a, zigzag(MALLOC, 0));
	put_buffer(&h, 1, 9216, &a);
	put(&h, END);
	check_text(&h, HATF_END,
		   "1 alloc 8 0->1 @2048 0\n"
		   "2 alloc 8 0->1025 @4096 0\n"
		   "1 alloc 8 0->2049 @6144 0\n"
		   "1 alloc 8 0->2050 @7168 0\n"
		   "2 alloc 8 0->1026 @8192 0\n");
}
END_TEST

START_TEST(a_free_of_an_unknown_token_blocks_its_thread)
{
	struct hand h, a = { 0 }, b = { 0 }, c = { 0 };

	/*
	 * Two threads are blocked on the same token, one of them across a
	 * barrier.
	 */
	put_tokens(&a, 0, 1024);
	put(&a, zigzag(FREE, 1025));
	put_tokens(&c, 2048, 2048);
	put(&c, zigzag(REALLOC, 4));
	put(&c, difference(1026));
	put(&c, zigzag(FREE, 1022));
	put_tokens(&b, 1024, 4096);
	put(&b, zigzag(MALLOC, 1));
	begin(&h);
	put_buffer(&h, 1, 8192, &a);
	put_buffer(&h, 3, 8192, &c);
	put_barrier(&h, 8192);
	put_buffer(&h, 2, 8192, &b);
	put(&b, zigzag(MALLOC, 0));
	put(&b, zigzag(MALLOC, 0));
	put_buffer(&h, 2, 9216, &b);
	put_barrier(&h, 9216);
	put(&h, END);
	check_text(&h, HATF_END,
		   "2 alloc 8 0->1025 @4096 0\n"
		   "2 alloc 8 0->1026 @8192 0\n"
		   "1 free 0 0->1026 @8192 0\n"
		   "2 alloc 8 0->1027 @8192 0\n"
		   "3 reallocAllocFree 32 1027->2049 @8192 0\n"
		   "3 alloc 32 0->2049 @8192 0\n"
		   "3 free 0 0->1027 @8192 0\n"
		   "3 free 0 0->2049 @8192 0\n");
}
END_TEST

START_TEST(frees_of_unknown_tokens_come_at_the_end)
{
	struct hand h, a = { 0 };

	put_tokens(&a, 0, 1024);
	put(&a, zigzag(MALLOC, 1));
	put(&a, zigzag(FREE, 7));
	put(&a, zigzag(FREE, -7));
	put(&a, zigzag(FREE, 0));
	begin(&h);
	put_buffer(&h, 0, 2048, &a);
	put(&h, 0 << 8 | DEATH);
	put(&h, 3072);
	put_barrier(&h, 4096);
	put(&h, END);
	check_text(&h, HATF_END,
		   "0 alloc 8 0->1 @1024 0\n"
		   "0 free 0 0->8 @1024 0\n"
		   "0 free 0 0->1 @1024 0\n"
		   "0 free 0 0->1 @1024 0\n"
		   "0 destroyThread 0 0->0 @3072 0\n");
}
END_TEST

/*
 * A thread is blocked on a token that never comes, and has 70 MB of events: it
 * becomes runnable before the trace ends.
 */
START_TEST(buffered_bytes_are_bounded)
{
	const unsigned count = 280, pairs = 14000;
	struct hatf_record records[256];
	struct hatf_reader *reader;
	struct hand h, b = { 0 };
	size_t n, total = 0;
	uint64_t thread = 0;
	int fd;

	begin(&h);
	put(&b, zigzag(FREE, 100000000));
	put_buffer(&h, 1, 1024, &b);
	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = 0; j < pairs; j++) {
			put_number(&b, zigzag(MALLOC, 0), 9);
			put_number(&b, zigzag(FREE, j + i ? 1 : -100000000), 9);
		}
		put_buffer(&h, 1, 1024, &b);
	}
	put_tokens(&b, 1 << 28, 2048);
	put(&b, zigzag(MALLOC, 0));
	put_buffer(&h, 2, 2048, &b);
	fd = hand_file(h.bytes, h.used);
	hand_fini(&h);
	ck_assert_int_eq(reader_of_fd(fd, 0, &reader, NULL), HATF_OK);
	while (hatf_reader_read(reader, records, 256, &n) == HATF_OK) {
		total += n;
		thread = records[n - 1].thread;
	}
	ck_assert_uint_eq(total, 2 * (size_t)count * pairs + 2);
	ck_assert_uint_eq(thread, 2);
	ck_assert_int_eq(hatf_reader_error(reader)->status, HATF_NO_TRAILER);
	hatf_reader_close(reader);
	close(fd);
}
END_TEST

struct fault {
	void (*make)(struct hand *h);
	uint64_t offset;
	enum hatf_status status;
	const char *field;
};

static void
make_long_buffer(struct hand *h)
{
	begin(h);
	put(h, BUFFER);
	put(h, 0);
	put(h, UINT64_MAX);
}

static void
make_unknown_outer(struct hand *h)
{
	begin(h);
	put(h, 0x2f);
}

/* One event, in a buffer at offset 7. */
static void
make_buffer(struct hand *h, uint64_t first)
{
	struct hand b = { 0 };

	put(&b, first);
	begin(h);
	put_buffer(h, 0, 0, &b);
	put(h, END);
}

static void
make_unknown_inner(struct hand *h)
{
	make_buffer(h, 0x05);
}

static void
make_negative_size(struct hand *h)
{
	make_buffer(h, zigzag(MALLOC, -1));
}

/* The third size, of 2^61 words, does not fit 64 bits. */
static void
make_huge_size(struct hand *h)
{
	struct hand b = { 0 };

	put(&b, zigzag(MALLOC, ((int64_t)1 << 60) - 1));
	put(&b, zigzag(MALLOC, ((int64_t)1 << 60) - 1));
	put(&b, zigzag(MALLOC, 2));
	begin(h);
	put_buffer(h, 0, 0, &b);
	put(h, END);
}

static void
make_odd_token(struct hand *h)
{
	make_buffer(h, zigzag(FREE, -1));
}

static void
make_cut_inner(struct hand *h)
{
	make_buffer(h, zigzag(REALLOC, 1));
}

static void
make_dead(struct hand *h)
{
	begin(h);
	for (int i = 0; i < 2; i++) {
		put(h, 9 << 8 | DEATH);
		put(h, 0);
	}
	put(h, END);
}

START_TEST(malformed_traces_are_reported)
{
	static const struct fault faults[] = {
		{ make_long_buffer, 4, HATF_LIMIT, "buffer" },
		{ make_unknown_outer, 4, HATF_BAD_FIELD, "type" },
		{ make_unknown_inner, 7, HATF_BAD_FIELD, "type" },
		{ make_negative_size, 7, HATF_BAD_FIELD, "size" },
		{ make_huge_size, 25, HATF_BAD_FIELD, "size" },
		{ make_odd_token, 7, HATF_BAD_FIELD, "token" },
		{ make_cut_inner, 7, HATF_BAD_FIELD, "event" },
		{ make_dead, 7, HATF_BAD_FIELD, "thread" },
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct reading r;
		struct hand h;

		faults[i].make(&h);
		read_bytes(&r, h.bytes, h.used, 8);
		hand_fini(&h);
		ck_assert_int_eq(r.err.status, faults[i].status);
		ck_assert_str_eq(r.err.field, faults[i].field);
		ck_assert_uint_eq(r.err.offset, faults[i].offset);
	}
}
END_TEST

/* All complete buffers before the cut are read. */
START_TEST(a_cut_at_any_byte_is_reported)
{
	struct reading r;
	struct hand h;
	size_t end;

	make_all(&h);
	end = h.used - 3;
	for (size_t n = 0; n < end; n++) {
		read_bytes(&r, h.bytes, n, 8);
		ck_assert(strncmp(r.text, all, strlen(r.text)) == 0);
		if (n < 4)
			ck_assert_int_eq(r.status, HATF_NOT_HATF);
		else
			ck_assert(r.status == HATF_TRUNCATED ||
				  r.status == HATF_NO_TRAILER);
		if (n >= 4 && r.status == HATF_TRUNCATED)
			ck_assert_uint_lt(r.err.offset, n);
		else if (n >= 4)
			ck_assert_uint_eq(r.err.offset, n);
	}
	ck_assert_str_eq(r.text, all);
	hand_fini(&h);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		events_become_records,
		numbers_of_every_length_are_read,
		the_thread_with_the_least_time_comes_first,
		a_free_of_an_unknown_token_blocks_its_thread,
		frees_of_unknown_tokens_come_at_the_end,
		buffered_bytes_are_bounded,
		malformed_traces_are_reported,
		a_cut_at_any_byte_is_reported,
	};

	return hand_run("gperftools", tests, sizeof(tests) / sizeof(tests[0]));
}
