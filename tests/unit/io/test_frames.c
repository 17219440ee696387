/* SPDX-License-Identifier: MIT */
/*
 * test_frames.c - zstd and lz4 frames return their data, also if truncated
 *
 * Frames of zstd and lz4 yield the data that was put in.  A file truncated at
 * any byte yields every block before that, and then reports the truncation.
 * Damage, other data after a frame, a window that is too large and endless data
 * are refused.  A build without one of the libraries reports what it lacks.
 */
#include "hatf/io/input.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/streams.h"

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef HAVE_LZ4
#include <lz4frame.h>
#endif

/* Bytes of data in each block of the test frames. */
#define BLOCK_NBYTES 50

static uint8_t
data_at(size_t i)
{
	return (uint8_t)(i * i / 7 % 23);
}

#ifdef HAVE_ZSTD
/* Make a frame of so many blocks; 'ends' gets the end of each. */
static void
zstd_frame(struct hand *h, size_t blocks, size_t *ends)
{
	ZSTD_CCtx *const c = ZSTD_createCCtx();
	uint8_t data[BLOCK_NBYTES], out[1024];

	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	for (size_t i = 0; i < blocks; i++) {
		ZSTD_inBuffer input = { data, BLOCK_NBYTES, 0 };
		ZSTD_outBuffer output = { out, sizeof(out), 0 };

		for (size_t j = 0; j < BLOCK_NBYTES; j++)
			data[j] = data_at(i * BLOCK_NBYTES + j);
		ck_assert_uint_eq(ZSTD_compressStream2(c, &output, &input,
						       i + 1 < blocks
							       ? ZSTD_e_flush
							       : ZSTD_e_end),
				  0);
		for (size_t j = 0; j < output.pos; j++)
			hand_put(h, out[j], 1);
		ends[i] = h->used;
	}
	ZSTD_freeCCtx(c);
}
#endif

#ifdef HAVE_LZ4
static void
put_bytes(struct hand *h, const uint8_t *bytes, size_t nbytes)
{
	ck_assert(!LZ4F_isError(nbytes));
	for (size_t j = 0; j < nbytes; j++)
		hand_put(h, bytes[j], 1);
}

static void
lz4_frame(struct hand *h, size_t blocks, size_t *ends)
{
	const LZ4F_preferences_t wanted = {
		.frameInfo = { .contentChecksumFlag =
				       LZ4F_contentChecksumEnabled,
			       .blockChecksumFlag = LZ4F_blockChecksumEnabled }
	};
	LZ4F_cctx *c;
	static uint8_t out[300 * 1024];
	uint8_t data[BLOCK_NBYTES];

	ck_assert(
		!LZ4F_isError(LZ4F_createCompressionContext(&c, LZ4F_VERSION)));
	put_bytes(h, out, LZ4F_compressBegin(c, out, sizeof(out), &wanted));
	for (size_t i = 0; i < blocks; i++) {
		for (size_t j = 0; j < BLOCK_NBYTES; j++)
			data[j] = data_at(i * BLOCK_NBYTES + j);
		put_bytes(h, out,
			  LZ4F_compressUpdate(c, out, sizeof(out), data,
					      BLOCK_NBYTES, NULL));
		put_bytes(h, out, LZ4F_flush(c, out, sizeof(out), NULL));
		ends[i] = h->used;
	}
	put_bytes(h, out, LZ4F_compressEnd(c, out, sizeof(out), NULL));
	LZ4F_freeCompressionContext(c);
}
#endif

typedef void make_frame(struct hand *h, size_t blocks, size_t *ends);

static make_frame *const makers[] = {
#ifdef HAVE_ZSTD
	zstd_frame,
#endif
#ifdef HAVE_LZ4
	lz4_frame,
#endif
	NULL
};

/*
 * Read bytes[0, nbytes) to the end in pieces.  The data repeats every 'again'
 * bytes.  Return the final status.
 */
static enum hatf_status
read_file(const uint8_t *bytes, size_t nbytes, size_t piece, size_t again,
	  bool check, size_t *got_ret)
{
	const int fd = hand_file(bytes, nbytes);
	uint8_t buf[4096];
	struct input in;
	enum hatf_status status = input_init(&in, fd, 2);
	size_t used = 0, got;

	ck_assert_uint_le(piece, sizeof(buf));
	ck_assert_int_eq(status, HATF_OK);
	while ((got = input_read(&in, buf, piece)) > 0) {
		for (size_t i = 0; check && i < got; i++)
			if (buf[i] != data_at((used + i) % again))
				ck_abort_msg("byte %zu differs", used + i);
		used += got;
	}
	status = in.status;
	ck_assert_uint_eq(input_read(&in, buf, piece), 0);
	ck_assert_int_eq(in.status, status);
	ck_assert_uint_le(input_consumed(&in), nbytes);
	input_fini(&in);
	close(fd);
	*got_ret = used;
	return status;
}

START_TEST(data_survives_compression)
{
	const size_t pieces[] = { 1, 7, 50, 4096 };

	for (size_t m = 0; makers[m] != NULL; m++) {
		struct hand h = { .used = 0 };
		size_t ends[100], got;

		for (unsigned frames = 0; frames < 3; frames++)
			makers[m](&h, 100, ends);
		for (size_t i = 0; i < 4; i++) {
			ck_assert_int_eq(read_file(h.bytes, h.used, pieces[i],
						   100 * BLOCK_NBYTES, true,
						   &got),
					 HATF_END);
			ck_assert_uint_eq(got, 300 * BLOCK_NBYTES);
		}
		free(h.bytes);
	}
}
END_TEST

START_TEST(truncation_gives_all_blocks_before_it)
{
	for (size_t m = 0; makers[m] != NULL; m++) {
		struct hand h = { .used = 0 };
		size_t ends[10], got;

		makers[m](&h, 10, ends);
		/* Shorter files are not recognized as compressed. */
		for (size_t cut = 6; cut < h.used; cut++) {
			size_t whole = 0;

			while (whole < 10 && ends[whole] <= cut)
				whole++;
			ck_assert_int_eq(read_file(h.bytes, cut, 4096,
						   10 * BLOCK_NBYTES, true,
						   &got),
					 HATF_TRUNCATED);
			ck_assert_uint_ge(got, whole * BLOCK_NBYTES);
		}
		free(h.bytes);
	}
}
END_TEST

START_TEST(a_second_frame_may_be_truncated_too)
{
	for (size_t m = 0; makers[m] != NULL; m++) {
		struct hand h = { .used = 0 };
		size_t ends[10], got, first;

		makers[m](&h, 10, ends);
		first = h.used;
		makers[m](&h, 10, ends);
		for (size_t cut = first; cut <= h.used; cut++) {
			const bool is_whole = cut == first || cut == h.used;

			ck_assert_int_eq(read_file(h.bytes, cut, 4096,
						   10 * BLOCK_NBYTES, true,
						   &got),
					 is_whole ? HATF_END : HATF_TRUNCATED);
			ck_assert_uint_ge(got, 10 * BLOCK_NBYTES);
		}
		free(h.bytes);
	}
}
END_TEST

/* Both frames have checksums, so altered data is always detected. */
START_TEST(damage_is_reported)
{
	for (size_t m = 0; makers[m] != NULL; m++) {
		struct hand h = { .used = 0 };
		size_t ends[10], got;

		makers[m](&h, 10, ends);
		for (size_t i = 6; i < h.used; i++) {
			enum hatf_status status;

			h.bytes[i] ^= 0x10;
			status = read_file(h.bytes, h.used, 4096,
					   10 * BLOCK_NBYTES, false, &got);
			h.bytes[i] ^= 0x10;
			ck_assert_msg(status == HATF_BAD_COMPRESSION ||
					      status == HATF_TRUNCATED ||
					      status == HATF_LIMIT,
				      "byte %zu: status %d", i, (int)status);
		}
		free(h.bytes);
	}
}
END_TEST

START_TEST(other_data_after_a_frame_is_damage)
{
	for (size_t m = 0; makers[m] != NULL; m++) {
		struct hand h = { .used = 0 };
		size_t ends[10], got;

		makers[m](&h, 10, ends);
		for (unsigned i = 0; i < 8; i++)
			hand_put(&h, 0, 1);
		ck_assert_int_eq(read_file(h.bytes, h.used, 4096,
					   10 * BLOCK_NBYTES, true, &got),
				 HATF_BAD_COMPRESSION);
		ck_assert_uint_eq(got, 10 * BLOCK_NBYTES);
		free(h.bytes);
	}
}
END_TEST

#ifdef HAVE_ZSTD
/* Make an empty frame whose header asks for a window of so many bits. */
static enum hatf_status
read_window(unsigned bits)
{
	const uint8_t frame[] = { 0x28, 0xb5, 0x2f,
				  0xfd, 0x00, (uint8_t)((bits - 10) << 3),
				  0x01, 0x00, 0x00 };
	size_t got;

	return read_file(frame, sizeof(frame), 4096, 1, true, &got);
}

START_TEST(a_window_that_is_too_large_is_refused)
{
	ck_assert_int_eq(read_window(10), HATF_END);
	ck_assert_int_eq(read_window(FRAME_WINDOW_LOG_MAX), HATF_END);
	ck_assert_int_eq(read_window(FRAME_WINDOW_LOG_MAX + 1), HATF_LIMIT);
	ck_assert_int_eq(read_window(41), HATF_LIMIT);
}
END_TEST

#endif

/* Of any length, and several of them. */
START_TEST(skippable_frames_may_come_first)
{
	static const size_t lengths[] = { 0, 3, 300000 };

	for (size_t m = 0; makers[m] != NULL; m++) {
		struct hand h = { .used = 0 };
		size_t ends[10], got;

		for (size_t i = 0; i < 3; i++) {
			const size_t n = lengths[i];

			hand_put(&h, 0x50 + i * 7, 1);
			hand_put(&h, 0x2a4d18, 3);
			for (unsigned shift = 0; shift < 32; shift += 8)
				hand_put(&h, n >> shift & 0xff, 1);
			for (size_t j = 0; j < n; j++)
				hand_put(&h, 0x61, 1);
		}
		makers[m](&h, 10, ends);
		ck_assert_int_eq(read_file(h.bytes, h.used, 4096,
					   10 * BLOCK_NBYTES, true, &got),
				 HATF_END);
		ck_assert_uint_eq(got, 10 * BLOCK_NBYTES);
		/* Truncated, the kind stays known. */
		for (size_t cut = h.used - 1; cut > 300000; cut -= 100) {
			const enum hatf_status status =
				read_file(h.bytes, cut, 4096, 10 * BLOCK_NBYTES,
					  true, &got);

			ck_assert_int_eq(status, HATF_TRUNCATED);
		}
		free(h.bytes);
	}
}
END_TEST

#ifdef HAVE_ZSTD
/* Compress 300 MiB of a repeated text, and read them. */
static enum hatf_status
read_repeated(const char *text, size_t text_nbytes, int level, size_t *got_ret)
{
	const size_t nbytes = (size_t)300 << 20;
	uint8_t *const data = malloc(nbytes);
	const size_t cap = ZSTD_compressBound(nbytes);
	uint8_t *const frame = malloc(cap);
	enum hatf_status status;
	size_t used;

	for (size_t i = 0; i < nbytes; i += text_nbytes)
		memcpy(data + i, text, text_nbytes);
	used = ZSTD_compress(frame, cap, data, nbytes, level);
	ck_assert(!ZSTD_isError(used));
	free(data);
	status = read_file(frame, used, 4096, 1, false, got_ret);
	free(frame);
	return status;
}

START_TEST(compression_bombs_are_refused)
{
	size_t got;

	ck_assert_int_eq(read_repeated("", 1, 1, &got), HATF_LIMIT);
	ck_assert_uint_le(got, ((size_t)256 << 20) + 4096);
}
END_TEST

/* heaptrack's file of a program in a tight loop. */
START_TEST(a_tight_loop_is_read)
{
	static const char text[] = "+ 0\n- 0\n";
	size_t got;

	for (int level = 1; level <= 19; level += 9) {
		ck_assert_int_eq(read_repeated(text, 8, level, &got), HATF_END);
		ck_assert_uint_eq(got, (size_t)300 << 20);
	}
}
END_TEST
#endif

START_TEST(no_trace_is_taken_for_a_frame)
{
	/* reallocAlloc whose size is lz4's magic, with the lowest addresses. */
	const uint8_t trace[] = { 0x04, 0x22, 0x4d, 0x18, 0x40, 0, 0, 0, 0 };

	ck_assert_int_eq(frame_kind_recognize(trace, sizeof(trace)),
			 FRAME_NONE);
	ck_assert_int_eq(frame_kind_recognize(trace, 3), FRAME_NONE);
}
END_TEST

START_TEST(a_missing_library_is_reported)
{
	static const uint8_t zstd[] = { 0x28, 0xb5, 0x2f, 0xfd, 0, 0 };
	static const uint8_t lz4[] = { 0x04, 0x22, 0x4d, 0x18, 0x64, 0x40 };
	const uint8_t *const prefix[] = { zstd, lz4 };
	bool has[] = { false, false };

#ifdef HAVE_ZSTD
	has[0] = true;
#endif
#ifdef HAVE_LZ4
	has[1] = true;
#endif
	for (unsigned i = 0; i < 2; i++) {
		const int fd = hand_file(prefix[i], 6);
		struct hatf_reader *reader;
		struct hatf_error err;
		const enum hatf_status status =
			reader_of_fd(fd, 0, &reader, &err);

		if (has[i]) {
			ck_assert_int_ne(status, HATF_NO_LIBRARY);
		} else {
			ck_assert_int_eq(status, HATF_NO_LIBRARY);
			ck_assert_str_eq(err.field, i == 0 ? "zstd" : "lz4");
		}
		if (status == HATF_OK)
			hatf_reader_close(reader);
		close(fd);
	}
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("frames");
	TCase *const tc = tcase_create("frames");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, data_survives_compression);
	tcase_add_test(tc, truncation_gives_all_blocks_before_it);
	tcase_add_test(tc, a_second_frame_may_be_truncated_too);
	tcase_add_test(tc, damage_is_reported);
	tcase_add_test(tc, other_data_after_a_frame_is_damage);
	tcase_add_test(tc, skippable_frames_may_come_first);
#ifdef HAVE_ZSTD
	tcase_add_test(tc, a_window_that_is_too_large_is_refused);
	tcase_add_test(tc, compression_bombs_are_refused);
	tcase_add_test(tc, a_tight_loop_is_read);
#endif
	tcase_add_test(tc, no_trace_is_taken_for_a_frame);
	tcase_add_test(tc, a_missing_library_is_reported);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
