/* SPDX-License-Identifier: MIT */
/*
 * test_memtrace_malformed.c - malformed traces of Memtrace
 *
 * Malformed events and packets are reported with their place, and so are
 * references to missing codes, stacks and cache entries.
 */
#include "tests/unit/support/memtrace_hand.h"

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
make_unknown_area(struct hand *h)
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
make_unterminated_name(struct hand *h)
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

/* Code 100 is line 1 of a function in a file; then it is another line. */
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

/* Code 100 has one function more than before. */
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
make_time_backwards(struct hand *h)
{
	make_times(h, 5, 4);
}

static void
make_time_after_end(struct hand *h)
{
	make_times(h, 1000, 1001);
}

static void
make_time_before_begin(struct hand *h)
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

/*
 * The trace's second and last packet, with one object, at bucket 5 of the
 * cache.
 */
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
make_ids_backwards(struct hand *h)
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

/* Packets: domain, first object id, and the id past the last one. */
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

/* Chunks of 8 ids. */
static void
make_chunks(struct hand *h)
{
	static const uint64_t ids[] = { 0,  0, 3, 0,  3, 8,  0,	 24, 24, 0, 24,
					25, 3, 8, 16, 3, 16, 20, 0,  25, 26 };

	make_ids(h, ids, sizeof(ids) / sizeof(ids[0]));
}

/* The packet with ids 3 to 8 is missing. */
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

START_TEST(unusual_valid_traces_are_read)
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

START_TEST(malformed_traces_are_reported)
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
		{ make_unknown_area, 177, HATF_BAD_FIELD, "source" },
		{ make_unknown_file, 177, HATF_BAD_FIELD, "location" },
		{ make_unknown_function, 177, HATF_BAD_FIELD, "location" },
		{ make_unterminated_name, 177, HATF_BAD_FIELD, "location" },
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
		{ make_time_backwards, 190, HATF_BAD_FIELD, "time" },
		{ make_time_after_end, 190, HATF_BAD_FIELD, "time" },
		{ make_time_before_begin, 190, HATF_BAD_FIELD, "time" },
		{ make_time_of_packet_before, 258, HATF_BAD_FIELD, "time" },
		{ make_no_bucket, 206, HATF_BAD_FIELD, "cache_verify" },
		{ make_other_code, 206, HATF_BAD_FIELD, "cache_verify" },
		{ make_other_after, 206, HATF_BAD_FIELD, "cache_verify" },
		{ make_other_process, 206, HATF_BAD_FIELD, "pid" },
		{ make_end_before, 206, HATF_BAD_FIELD, "timestamp_end" },
		{ make_ids_backwards, 206, HATF_BAD_FIELD, "alloc_id_end" },
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

int
main(void)
{
	const TTest *const tests[] = {
		unusual_valid_traces_are_read,
		malformed_traces_are_reported,
	};

	return hand_run("memtrace_malformed", tests,
			sizeof(tests) / sizeof(tests[0]));
}
