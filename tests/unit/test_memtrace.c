/* SPDX-License-Identifier: MIT */
/*
 * test_memtrace.c - invalid or truncated Memtrace traces are reported
 *
 * What a trace of Memtrace must not say, and where it is told; that what its
 * codecs refer to must be there; and that a cut at any byte is told.
 */
#include "hatf/hatf.h"
#include "support/hand.h"
#include "support/streams.h"

#define BEGIN UINT64_C(1600000000000000)

/* Little-endian. */
static void
put(struct hand *h, uint64_t n, unsigned nbytes)
{
	for (; nbytes != 0; nbytes--, n >>= 8)
		hand_put(h, n & 0xff, 1);
}

static void
put_string(struct hand *h, const char *text)
{
	hand_bytes(h, text, strlen(text) + 1);
}

static void
put_event(struct hand *h, unsigned event, uint64_t time)
{
	put(h, (uint64_t)event << 25 | (time & 0x1ffffff), 4);
}

/* What a packet of version 3 says of itself. */
struct packet {
	unsigned pid, domain;
	uint64_t first_id, last_id;
	uint64_t begin, end;	      /* from BEGIN on */
	unsigned bucket, after, code; /* of the cache */
};

/* With these events, which it takes over. */
static void
put_any_packet(struct hand *h, const struct packet *p, struct hand *events)
{
	put(h, 0xc1fc1fc1, 4);
	put(h, 8 * (68 + events->used), 4);
	put(h, BEGIN + p->begin, 8);
	put(h, BEGIN + p->end, 8);
	put(h, 0, 4);
	put(h, 3, 2);
	put(h, p->pid, 8);
	put(h, p->domain, 2);
	put(h, p->bucket, 2);
	put(h, p->after, 2);
	put(h, p->code, 8);
	put(h, p->first_id, 8);
	put(h, p->last_id, 8);
	hand_bytes(h, events->bytes, events->used);
	hand_fini(events);
}

/* A packet that allocates 'count' objects and tells nothing of the cache. */
static void
put_packet(struct hand *h, unsigned domain, uint64_t first_id, uint64_t count,
	   struct hand *events)
{
	const struct packet p = { .pid = 77,
				  .domain = domain,
				  .first_id = first_id,
				  .last_id = first_id + count,
				  .end = 1000,
				  .bucket = 0xffff };

	put_any_packet(h, &p, events);
}

/* A code of which nothing is known but that it exists. */
static void
put_code(struct hand *e, uint64_t code)
{
	put_event(e, 1, BEGIN);
	put(e, code, 8);
	put(e, 0, 1);
}

static void
put_info(struct hand *h, unsigned word_bits)
{
	struct hand e = { 0 };

	put_event(&e, 0, BEGIN);
	put(&e, UINT64_C(0x3ff0000000000000), 8); /* 1.0 */
	put(&e, word_bits, 1);
	put_string(&e, "a.out");
	put_string(&e, "host");
	put_string(&e, "");
	put(&e, 77, 8);
	put_string(&e, "context");
	put_packet(h, 0, 0, 0, &e);
}

/* One frame, of a code that is not in the cache. */
static void
put_miss(struct hand *e, unsigned bucket, uint64_t code)
{
	put(e, bucket << 2 | 3, 2);
	put(e, code, 8);
}

struct reading {
	enum hatf_status status;
	struct hatf_error err;
	char text[2000];
};

static void
note(struct reading *r, struct hatf_stacks *stacks,
     const struct hatf_record *rec)
{
	struct hatf_stack stack;
	char buf[100];

	if (hatf_stacks_note(stacks, rec, NULL) != HATF_OK)
		ck_abort_msg("a wrong definition");
	if (rec->tag == HATF_COMMENT)
		return;
	snprintf(buf, sizeof(buf), "%d %s %d %d in %d @%d:", (int)rec->thread,
		 hatf_tag_name(rec->tag), (int)rec->address, (int)rec->size,
		 (int)rec->heap, (int)rec->time);
	strcat(r->text, buf);
	for (uint64_t id = hatf_record_stack(rec);
	     hatf_stacks_get(stacks, id, &stack); id = stack.parent) {
		struct hatf_frame f;

		ck_assert(hatf_stacks_get_frame(stacks, stack.frame, &f));
		snprintf(buf, sizeof(buf), " %d", (int)f.address);
		strcat(r->text, buf);
	}
	strcat(r->text, "\n");
	ck_assert_uint_lt(strlen(r->text), 1500);
}

static void
read_bytes(struct reading *r, const uint8_t *bytes, size_t nbytes, size_t max)
{
	const int fd = hand_file(bytes, nbytes);
	struct hatf_record records[8];
	struct hatf_reader *reader;
	struct hatf_stacks *stacks;
	size_t n;

	memset(r, 0, sizeof(*r));
	ck_assert_int_eq(hatf_stacks_open(&stacks), HATF_OK);
	r->status = reader_of_fd(fd, 0, &reader, &r->err);
	if (r->status == HATF_OK) {
		ck_assert_str_eq(hatf_reader_format(reader), "memtrace");
		ck_assert_str_eq(hatf_reader_header(reader, "context"),
				 "context");
		while ((r->status = hatf_reader_read(reader, records, max,
						     &n)) == HATF_OK)
			for (size_t i = 0; i < n; i++)
				note(r, stacks, &records[i]);
		r->err = *hatf_reader_error(reader);
		hatf_reader_close(reader);
	}
	hatf_stacks_close(stacks);
	close(fd);
}

/* Three domains, a hit, predictions, a common part. */
static void
make_all(struct hand *h)
{
	struct hand e = { 0 };

	*h = (struct hand){ 0 };
	put_info(h, 64);
	for (unsigned code = 100; code <= 400; code += 100)
		put_code(&e, code);
	put_event(&e, 103, BEGIN + 1);
	put(&e, 0, 1); /* nothing in common */
	put(&e, 3, 1); /* codes */
	put_miss(&e, 5, 100);
	put_miss(&e, 6, 200);
	put_miss(&e, 7, 300);
	put_event(&e, 2, BEGIN + 2);
	put(&e, 253, 1); /* 1000 words */
	put(&e, 1000, 2);
	put(&e, 2, 1); /* samples */
	put(&e, 1, 1); /* major */
	put(&e, 1, 1); /* in common */
	put(&e, 2, 2);
	put_miss(&e, 8, 400);
	put(&e, 5 << 2 | 2, 2); /* a hit, and two that follow it */
	put(&e, 2, 1);
	put_packet(h, 0, 10, 2, &e);
	put_event(&e, 4, BEGIN + 1);
	put(&e, 8, 1); /* 8 before the last one */
	put_packet(h, 2, 20, 0, &e);
	put_event(&e, 4, BEGIN + 4);
	put(&e, 254, 1); /* one that comes later */
	put(&e, (uint32_t)-12, 4);
	put_packet(h, 3, 0, 0, &e);
}

static const char all[] = "0 alloc 11 24 in 0 @1: 300 200 100\n"
			  "0 alloc 12 8000 in 1 @2: 300 200 100 400 100\n"
			  "2 free 12 0 in 1 @2:\n"
			  "3 free 12 0 in 0 @4:\n";

START_TEST(events_are_what_they_say)
{
	struct hand h;

	make_all(&h);
	for (size_t max = 1; max <= 8; max++) {
		struct reading r;

		read_bytes(&r, h.bytes, h.used, max);
		ck_assert_str_eq(r.text, all);
		ck_assert_int_eq(r.status, HATF_END);
	}
	hand_fini(&h);
}
END_TEST

START_TEST(a_cut_at_any_byte_is_told)
{
	const size_t info = 68 + 4 + 8 + 1 + 6 + 5 + 1 + 8 + 8;
	struct hand h;

	make_all(&h);
	for (size_t n = 0; n < h.used; n++) {
		struct reading r;
		uint64_t start = 0, nbytes;

		read_bytes(&r, h.bytes, n, 8);
		ck_assert(strncmp(r.text, all, strlen(r.text)) == 0);
		if (n < 4) {
			ck_assert_int_eq(r.err.status, HATF_NOT_HATF);
			continue;
		}
		/* Where the packet begins that is cut. */
		for (; start + 8 <= n; start += nbytes) {
			nbytes = (h.bytes[start + 4] |
				  (uint64_t)h.bytes[start + 5] << 8) /
				 8;
			if (start + nbytes > n)
				break;
		}
		if (start == n) {
			ck_assert_int_eq(r.status, HATF_END);
			ck_assert_uint_ge(n, info);
			continue;
		}
		ck_assert_int_eq(r.err.status, HATF_TRUNCATED);
		ck_assert_uint_eq(r.err.offset, start);
		ck_assert_str_eq(r.err.field, "packet");
	}
	hand_fini(&h);
}
END_TEST

/* How reading ends; stacks may be as deep as they like. */
static void
read_to_end(struct hand *h, struct hatf_error *err)
{
	const int fd = hand_file(h->bytes, h->used);
	struct hatf_record records[64];
	struct hatf_reader *reader;
	size_t n;

	ck_assert_int_eq(reader_of_fd(fd, 0, &reader, err), HATF_OK);
	while (hatf_reader_read(reader, records, 64, &n) == HATF_OK)
		continue;
	*err = *hatf_reader_error(reader);
	hatf_reader_close(reader);
	close(fd);
}

/* ------------------------------------------------------------------- faults */

static void
make_events(struct hand *h, struct hand *events)
{
	*h = (struct hand){ 0 };
	put_info(h, 64);
	put_packet(h, 0, 0, 0, events);
}

static void
make_unknown_event(struct hand *h)
{
	struct hand e = { 0 };

	put_event(&e, 117, BEGIN);
	make_events(h, &e);
}

static void
make_cut_event(struct hand *h)
{
	struct hand e = { 0 };

	put(&e, 0, 3);
	make_events(h, &e);
}

static void
make_cut_alloc(struct hand *h)
{
	struct hand e = { 0 };

	put_event(&e, 2, BEGIN);
	put(&e, 255, 1);
	make_events(h, &e);
}

static void
make_many_codes(struct hand *h)
{
	struct hand e = { 0 };

	put_event(&e, 101, BEGIN);
	put(&e, 0, 1);
	put(&e, 255, 1);
	make_events(h, &e);
}

static void
make_alloc(struct hand *h, uint64_t words, unsigned place)
{
	struct hand e = { 0 };

	put_event(&e, 2, BEGIN);
	put(&e, 255, 1);
	put(&e, words, 8);
	put(&e, 1, 1);
	put(&e, place, 1);
	put(&e, 0, 1);
	put(&e, 0, 2);
	make_events(h, &e);
}

static void
make_huge(struct hand *h)
{
	make_alloc(h, UINT64_MAX / 2, 0);
}

static void
make_nowhere(struct hand *h)
{
	make_alloc(h, 1, 3);
}

static void
make_location(struct hand *h, uint64_t place, const char *text, size_t nbytes)
{
	struct hand e = { 0 };

	put_event(&e, 1, BEGIN);
	put(&e, 100, 8);
	put(&e, 1, 1);
	put(&e, place, 6);
	hand_bytes(&e, text, nbytes);
	make_events(h, &e);
}

static void
make_unknown_file(struct hand *h)
{
	make_location(h, UINT64_C(31) << 43, "f", 2);
}

static void
make_unknown_function(struct hand *h)
{
	make_location(h, UINT64_C(31) << 38, "a.ml", 5);
}

static void
make_endless_name(struct hand *h)
{
	make_location(h, UINT64_C(31) << 38 | UINT64_C(31) << 43, "a.ml", 4);
}

static void
make_no_object(struct hand *h)
{
	struct hand e = { 0 };

	put_event(&e, 4, BEGIN);
	put(&e, 0, 1);
	make_events(h, &e);
}

static void
make_other_magic(struct hand *h)
{
	*h = (struct hand){ 0 };
	put_info(h, 64);
	put(h, 0, 70);
}

static void
make_size(struct hand *h, uint64_t bits)
{
	struct hand e = { 0 };

	make_events(h, &e);
	for (unsigned i = 0; i < 4; i++)
		h->bytes[113 + i] = (uint8_t)(bits >> 8 * i);
}

static void
make_small(struct hand *h)
{
	make_size(h, 67 * 8);
}

static void
make_long(struct hand *h)
{
	make_size(h, UINT32_MAX);
}

static void
make_domains(struct hand *h)
{
	*h = (struct hand){ 0 };
	put_info(h, 64);
	for (unsigned i = 0; i <= 128; i++) {
		struct hand e = { 0 };

		put_packet(h, i, 0, 0, &e);
	}
}

static void
make_word(struct hand *h)
{
	*h = (struct hand){ 0 };
	put_info(h, 0);
}

static void
make_unknown_code(struct hand *h)
{
	struct hand e = { 0 };

	put_event(&e, 101, BEGIN);
	put(&e, 0, 1);
	put(&e, 1, 1);
	put_miss(&e, 5, 100);
	make_events(h, &e);
}

/* The code 100 is line 1 of a function, in a file; then it is another line. */
static void
make_other_location(struct hand *h)
{
	struct hand e = { 0 };

	for (uint64_t line = 1; line <= 2; line++) {
		put_event(&e, 1, BEGIN);
		put(&e, 100, 8);
		put(&e, 1, 1);
		put(&e, line | UINT64_C(31) << 38 | UINT64_C(31) << 43, 6);
		hand_bytes(&e, "a.ml\0f", 7);
	}
	make_events(h, &e);
}

/* The code 100 has one function more than it had. */
static void
make_longer_location(struct hand *h)
{
	struct hand e = { 0 };

	put_code(&e, 100);
	put_event(&e, 1, BEGIN);
	put(&e, 100, 8);
	put(&e, 1, 1);
	put(&e, UINT64_C(31) << 38 | UINT64_C(31) << 43, 6);
	hand_bytes(&e, "a.ml\0f", 7);
	make_events(h, &e);
}

static void
make_no_promotion(struct hand *h)
{
	struct hand e = { 0 };

	put_event(&e, 3, BEGIN);
	put(&e, 254, 1);
	put(&e, UINT32_MAX, 4);
	make_events(h, &e);
}

static void
make_times(struct hand *h, uint64_t first, uint64_t second)
{
	struct hand e = { 0 };

	put_event(&e, 1, BEGIN + first);
	put(&e, 100, 8);
	put(&e, 0, 1);
	put_event(&e, 1, BEGIN + second);
	make_events(h, &e);
}

static void
make_time_back(struct hand *h)
{
	make_times(h, 5, 4);
}

static void
make_time_behind(struct hand *h)
{
	make_times(h, 1000, 1001);
}

static void
make_time_before(struct hand *h)
{
	make_times(h, 0, UINT64_MAX);
}

static void
make_time_of_packet_before(struct hand *h)
{
	struct hand e = { 0 };

	*h = (struct hand){ 0 };
	put_info(h, 64);
	put_event(&e, 1, BEGIN + 7);
	put(&e, 100, 8);
	put(&e, 0, 1);
	put_packet(h, 0, 0, 0, &e);
	put_code(&e, 100);
	put_packet(h, 0, 0, 0, &e);
}

/* The trace's only packet but the first, with one object, at bucket 5 of the cache. */
static void
make_packet(struct hand *h, const struct packet *packet)
{
	struct packet p = *packet;
	struct hand e = { 0 };

	*h = (struct hand){ 0 };
	put_info(h, 64);
	put_code(&e, 100);
	put_event(&e, 101, BEGIN);
	put(&e, 0, 1);
	put(&e, 1, 1);
	put_miss(&e, 5, 100);
	put_packet(h, 0, 0, 1, &e);
	p.pid += 77;
	put_any_packet(h, &p, &e);
}

static void
make_good_cache(struct hand *h)
{
	make_packet(h, &(struct packet){ .first_id = 1,
					 .last_id = 1,
					 .bucket = 5,
					 .code = 100 });
}

static void
make_no_bucket(struct hand *h)
{
	make_packet(h, &(struct packet){
			       .first_id = 1, .last_id = 1, .bucket = 16384 });
}

static void
make_other_code(struct hand *h)
{
	make_packet(h, &(struct packet){ .first_id = 1,
					 .last_id = 1,
					 .bucket = 5,
					 .code = 101 });
}

static void
make_other_after(struct hand *h)
{
	make_packet(h, &(struct packet){ .first_id = 1,
					 .last_id = 1,
					 .bucket = 0,
					 .after = 6 });
}

static void
make_other_process(struct hand *h)
{
	make_packet(h, &(struct packet){
			       .pid = 1,
			       .first_id = 1,
			       .last_id = 1,
			       .bucket = 0xffff,
		       });
}

static void
make_end_before(struct hand *h)
{
	make_packet(h, &(struct packet){ .first_id = 1,
					 .last_id = 1,
					 .begin = 1,
					 .bucket = 0xffff });
}

static void
make_ids_back(struct hand *h)
{
	make_packet(h, &(struct packet){
			       .first_id = 1, .last_id = 0, .bucket = 0xffff });
}

static void
make_too_many_ids(struct hand *h)
{
	make_packet(h, &(struct packet){
			       .first_id = 1, .last_id = 2, .bucket = 0xffff });
}

static void
make_ids_twice(struct hand *h)
{
	make_packet(h, &(struct packet){ .bucket = 0xffff });
}

/* Packets: the domain, the first object, and what is behind the last one. */
static void
make_ids(struct hand *h, const uint64_t *ids, size_t n)
{
	*h = (struct hand){ 0 };
	put_info(h, 64);
	for (size_t i = 0; i < n; i += 3) {
		struct hand e = { 0 };

		for (uint64_t id = ids[i + 1]; id < ids[i + 2]; id++) {
			put_event(&e, 101, BEGIN);
			put(&e, 0, 2);
		}
		put_packet(h, (unsigned)ids[i], ids[i + 1],
			   ids[i + 2] - ids[i + 1], &e);
	}
}

/* In chunks of 8. */
static void
make_chunks(struct hand *h)
{
	static const uint64_t ids[] = { 0,  0, 3, 0,  3, 8,  0,	 24, 24, 0, 24,
					25, 3, 8, 16, 3, 16, 20, 0,  25, 26 };

	make_ids(h, ids, sizeof(ids) / sizeof(ids[0]));
}

/* That with 3 to 8 is not there. */
static void
make_missing(struct hand *h)
{
	static const uint64_t ids[] = { 0, 0, 3, 0, 8, 9 };

	make_ids(h, ids, sizeof(ids) / sizeof(ids[0]));
}

static void
make_trailing_info(struct hand *h)
{
	struct hand e = { 0 };

	put_info(&e, 64);
	e.bytes[4] = (uint8_t)(8 * 110);
	e.bytes[5] = (uint8_t)(8 * 110 >> 8);
	*h = e;
	put(h, 0, 1);
}

START_TEST(what_can_follow_is_read)
{
	static void (*const make[])(struct hand *) = { make_good_cache,
						       make_chunks };

	for (size_t i = 0; i < sizeof(make) / sizeof(make[0]); i++) {
		struct hatf_error err = { .status = HATF_OK };
		struct hand h;

		make[i](&h);
		read_to_end(&h, &err);
		ck_assert_int_eq(err.status, HATF_OK);
		hand_fini(&h);
	}
}
END_TEST

START_TEST(what_a_trace_must_not_say_is_told)
{
	static const struct {
		void (*make)(struct hand *h);
		uint64_t offset;
		enum hatf_status status;
		const char *field;
	} faults[] = {
		{ make_unknown_event, 177, HATF_BAD_FIELD, "event" },
		{ make_cut_event, 177, HATF_BAD_FIELD, "event" },
		{ make_cut_alloc, 177, HATF_BAD_FIELD, "alloc" },
		{ make_many_codes, 177, HATF_BAD_FIELD, "backtrace" },
		{ make_huge, 177, HATF_BAD_FIELD, "length" },
		{ make_nowhere, 177, HATF_BAD_FIELD, "source" },
		{ make_unknown_file, 177, HATF_BAD_FIELD, "location" },
		{ make_unknown_function, 177, HATF_BAD_FIELD, "location" },
		{ make_endless_name, 177, HATF_BAD_FIELD, "location" },
		{ make_no_object, 177, HATF_BAD_FIELD, "object" },
		{ make_other_magic, 109, HATF_BAD_FIELD, "magic" },
		{ make_small, 109, HATF_BAD_FIELD, "packet_size" },
		{ make_long, 109, HATF_LIMIT, "packet_size" },
		{ make_domains, 109 + 128 * 68, HATF_LIMIT, "domain" },
		{ make_word, 0, HATF_BAD_FIELD, "word_size" },
		{ make_trailing_info, 0, HATF_BAD_FIELD, "packet_size" },
		{ make_unknown_code, 177, HATF_BAD_FIELD, "backtrace" },
		{ make_other_location, 203, HATF_BAD_FIELD, "location" },
		{ make_longer_location, 190, HATF_BAD_FIELD, "location" },
		{ make_no_promotion, 177, HATF_BAD_FIELD, "object" },
		{ make_time_back, 190, HATF_BAD_FIELD, "time" },
		{ make_time_behind, 190, HATF_BAD_FIELD, "time" },
		{ make_time_before, 190, HATF_BAD_FIELD, "time" },
		{ make_time_of_packet_before, 258, HATF_BAD_FIELD, "time" },
		{ make_no_bucket, 206, HATF_BAD_FIELD, "cache_verify" },
		{ make_other_code, 206, HATF_BAD_FIELD, "cache_verify" },
		{ make_other_after, 206, HATF_BAD_FIELD, "cache_verify" },
		{ make_other_process, 206, HATF_BAD_FIELD, "pid" },
		{ make_end_before, 206, HATF_BAD_FIELD, "timestamp_end" },
		{ make_ids_back, 206, HATF_BAD_FIELD, "alloc_id_end" },
		{ make_too_many_ids, 206, HATF_BAD_FIELD, "alloc_id_end" },
		{ make_ids_twice, 206, HATF_BAD_FIELD, "alloc_id_begin" },
		{ make_missing, 195, HATF_BAD_FIELD, "alloc_id_begin" },
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

/* Location 0 is one of 255 functions that were inlined. */
static void
put_inlined(struct hand *e)
{
	put_event(e, 1, BEGIN);
	put(e, 0, 8);
	put(e, 255, 1);
	put(e, UINT64_C(31) << 38 | UINT64_C(31) << 43, 6);
	hand_bytes(e, "a.ml\0f", 7);
	for (uint64_t line = 1; line < 255; line++)
		put(e, line, 6);
}

/* Three bytes of a packet can stand for 256 codes, and each for 255 frames. */
START_TEST(the_depth_of_stacks_is_bounded)
{
	static const struct {
		uint64_t words;
		bool is_inlined;
		enum hatf_status status;
	} cases[] = {
		{ 4000, false, HATF_OK },
		{ 5000, false, HATF_LIMIT },
		{ 16, true, HATF_OK },
		{ 17, true, HATF_LIMIT },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hand h = { 0 }, e = { 0 };
		struct hatf_error err = { .status = HATF_OK };

		put_info(&h, 64);
		if (cases[i].is_inlined)
			put_inlined(&e);
		else
			put_code(&e, 0);
		put_event(&e, 2, BEGIN);
		put(&e, 1, 1);
		put(&e, 1, 1);
		put(&e, 0, 1);
		put(&e, 0, 1);
		put(&e, cases[i].words, 2);
		for (uint64_t word = 0; word < cases[i].words; word++) {
			put(&e, 2, 2);
			put(&e, 255, 1);
		}
		put_packet(&h, 0, 0, 1, &e);
		read_to_end(&h, &err);
		ck_assert_int_eq(err.status, cases[i].status);
		if (err.status == HATF_LIMIT)
			ck_assert_str_eq(err.field, "backtrace");
		hand_fini(&h);
	}
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		events_are_what_they_say,
		a_cut_at_any_byte_is_told,
		what_can_follow_is_read,
		what_a_trace_must_not_say_is_told,
		the_depth_of_stacks_is_bounded,
	};

	return hand_run("memtrace", tests, sizeof(tests) / sizeof(tests[0]));
}
