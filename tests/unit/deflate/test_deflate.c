/* SPDX-License-Identifier: MIT */
/*
 * test_deflate.c - each library's gzip members inflate to their input
 *
 * The members of each library, at each level, must be gzip that zlib inflates
 * to the input, have their length where FORMAT "Compression" puts it, stay
 * within the bound for any input, and not depend on the contents of the work
 * area.
 */
#include "hatf/codec/bytes.h"
#include "hatf/deflate/deflate_backend.h"
#include "hatf/io/gzip_best.h"

#include "tests/unit/support/checks.h"
#include <stdlib.h>
#include <zlib.h>

#define INPUT_MAX    (400 * 1024)
#define GUARD_NBYTES 64
#define GUARD	     0x5a

static const struct deflate_backend *const backends[] = {
	&deflate_zlib,
#ifdef HAVE_ISAL
	&deflate_isal,
#endif
};
#define BACKEND_COUNT ((int)(sizeof(backends) / sizeof(backends[0])))

static int
level_max(int backend)
{
	return backends[backend] == &deflate_zlib ? DEFLATE_LEVEL_ZLIB_MAX
						  : DEFLATE_LEVEL_MAX;
}

static const size_t lengths[] = { 0,	 1,	2,     100,	 65534,
				  65535, 65536, 65537, INPUT_MAX };
#define LENGTH_COUNT (sizeof(lengths) / sizeof(lengths[0]))

enum content {
	CONTENT_ZERO,
	CONTENT_RECORDS,
	CONTENT_RANDOM,
	CONTENT_COUNT
};

static uint8_t input[INPUT_MAX];

static void
fill(enum content content)
{
	uint64_t seed = 88172645463325252u;

	memset(input, 0, sizeof(input));
	for (size_t i = 0; i < sizeof(input) && content != CONTENT_ZERO; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		/* Resemble records of 6 bytes, of which two vary. */
		if (content == CONTENT_RANDOM || i % 6 == 1 || i % 6 == 5)
			input[i] = (uint8_t)(seed >> 24);
	}
}

/* Check that 'member' inflates to the input, and has no other bytes. */
static void
check_inflates(const uint8_t *member, size_t member_nbytes, size_t nbytes)
{
	uint8_t *const out = malloc(nbytes + 1);
	z_stream z = { .next_in = (uint8_t *)(uintptr_t)member,
		       .avail_in = (uInt)member_nbytes,
		       .next_out = out,
		       .avail_out = (uInt)nbytes + 1 };

	ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
	ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(z.avail_in, 0);
	ck_assert_uint_eq(z.total_out, nbytes);
	if (nbytes != 0)
		ck_assert_mem_eq(out, input, nbytes);
	inflateEnd(&z);
	free(out);
}

static void
check_header(const uint8_t *member, size_t member_nbytes)
{
	static const uint8_t header[] = { 0x1f, 0x8b, 8, 4, 0,	 0,   0, 0,
					  0,	0xff, 8, 0, 'H', 'T', 4, 0 };

	ck_assert_mem_eq(member, header, sizeof(header));
	ck_assert_uint_eq(get_le32(member + 16), member_nbytes);
}

static void
check_member(const struct deflate_backend *backend, int level, size_t nbytes)
{
	const size_t work_nbytes = backend->work_nbytes(level);
	const size_t bound = deflate_bound(nbytes);
	uint8_t *const work =
		aligned_alloc(64, (work_nbytes + GUARD_NBYTES + 63) / 64 * 64);
	uint8_t *const out = malloc(bound + GUARD_NBYTES);
	uint8_t *const again = malloc(bound);

	memset(work, 0xff, work_nbytes);
	memset(work + work_nbytes, GUARD, GUARD_NBYTES);
	memset(out + bound, GUARD, GUARD_NBYTES);

	const size_t n = deflate_member_by(backend, level, work, input, nbytes,
					   out, bound);

	ck_assert_uint_le(n, bound);
	for (size_t i = 0; i < GUARD_NBYTES; i++) {
		ck_assert_uint_eq(work[work_nbytes + i], GUARD);
		ck_assert_uint_eq(out[bound + i], GUARD);
	}
	check_header(out, n);
	check_inflates(out, n, nbytes);

	/* With the used work area the member must be the same. */
	ck_assert_uint_eq(deflate_member_by(backend, level, work, input, nbytes,
					    again, bound),
			  n);
	ck_assert_mem_eq(again, out, n);
	free(again);
	free(out);
	free(work);
}

START_TEST(members_inflate_and_keep_their_bound)
{
	for (unsigned content = 0; content < CONTENT_COUNT; content++) {
		fill(content);
		for (int level = DEFLATE_LEVEL_MIN; level <= level_max(_i);
		     level++)
			for (size_t i = 0; i < LENGTH_COUNT; i++)
				check_member(backends[_i], level, lengths[i]);
	}
}
END_TEST

START_TEST(records_get_smaller)
{
	const size_t bound = deflate_bound(INPUT_MAX);
	uint8_t *const out = malloc(bound);

	fill(CONTENT_RECORDS);
	for (int level = DEFLATE_LEVEL_MIN; level <= level_max(_i); level++) {
		void *const work = aligned_alloc(
			64, (backends[_i]->work_nbytes(level) + 63) / 64 * 64);

		ck_assert_uint_lt(deflate_member_by(backends[_i], level, work,
						    input, INPUT_MAX, out,
						    bound),
				  INPUT_MAX / 2);
		free(work);
	}
	free(out);
}
END_TEST

/* For any input, a member must fit a buffer of deflate_bound() bytes. */
START_TEST(every_level_of_the_writer_makes_members)
{
	for (unsigned content = 0; content < CONTENT_COUNT; content++) {
		struct gzip_best *const s = gzip_best_open(_i);

		fill(content);
		for (size_t i = 0; i < LENGTH_COUNT; i++) {
			const size_t bound = deflate_bound(lengths[i]);
			uint8_t *const out = malloc(bound + GUARD_NBYTES);

			memset(out + bound, GUARD, GUARD_NBYTES);

			const size_t n = gzip_best_member(s, input, lengths[i],
							  out, bound);

			ck_assert_uint_le(n, bound);
			for (size_t k = 0; k < GUARD_NBYTES; k++)
				ck_assert_uint_eq(out[bound + k], GUARD);
			check_header(out, n);
			check_inflates(out, n, lengths[i]);
			free(out);
		}
		gzip_best_close(s);
	}
}
END_TEST

START_TEST(what_the_build_chose_is_one_of_them)
{
	const size_t work_nbytes = deflate_work_nbytes(DEFLATE_LEVEL_DEFAULT);
	void *const work = aligned_alloc(64, (work_nbytes + 63) / 64 * 64);
	uint8_t out[256];

	fill(CONTENT_RECORDS);
	ck_assert_str_eq(deflate_name(), backends[BACKEND_COUNT - 1]->name);

	const size_t n = deflate_member(DEFLATE_LEVEL_DEFAULT, work, input, 100,
					out, sizeof(out));

	check_header(out, n);
	check_inflates(out, n, 100);
	free(work);
}
END_TEST

int
main(void)
{
	deflate_load();

	Suite *const suite = suite_create("deflate");
	TCase *const tc = tcase_create("deflate");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, members_inflate_and_keep_their_bound, 0,
			    BACKEND_COUNT);
	tcase_add_loop_test(tc, records_get_smaller, 0, BACKEND_COUNT);
	tcase_add_loop_test(tc, every_level_of_the_writer_makes_members,
			    GZIP_BEST_LEVEL_MIN, GZIP_BEST_LEVEL_MAX + 1);
	tcase_add_test(tc, what_the_build_chose_is_one_of_them);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
