/* SPDX-License-Identifier: MIT */
/*
 * test_memtrace.c - valid traces of Memtrace, cuts, and deep stacks
 *
 * Events become records, whatever the batch size.  A cut at any byte is
 * reported.  The depth of stacks is limited.
 */
#include "tests/unit/support/memtrace_hand.h"

/* Three domains, a cache hit, predictions, a common part of stacks. */
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
	put(&e, 254, 1); /* a later object */
	put(&e, (uint32_t)-12, 4);
	put_packet(h, 3, 0, 0, &e);
}

static const char all[] = "0 alloc 11 24 in 0 @1: 300 200 100\n"
			  "0 alloc 12 8000 in 1 @2: 300 200 100 400 100\n"
			  "2 free 12 0 in 1 @2:\n"
			  "3 free 12 0 in 0 @4:\n";

START_TEST(events_become_records)
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

START_TEST(a_cut_at_any_byte_is_reported)
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
		/* Find the packet that has the cut. */
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

/* Location 0 has 255 inlined functions. */
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

/* Three bytes of a packet can encode 256 codes, each with 255 frames. */
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
		events_become_records,
		a_cut_at_any_byte_is_reported,
		the_depth_of_stacks_is_bounded,
	};

	return hand_run("memtrace", tests, sizeof(tests) / sizeof(tests[0]));
}
