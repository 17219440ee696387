/* SPDX-License-Identifier: MIT */
/*
 * test_sums.c - CRC-32C is right; blocks with a wrong sum are refused
 *
 * crc32c.h must give the standard's sums, with and without the processor's
 * instruction.  An uncompressed trace of the writer must have a sum in each
 * block, and a reader must refuse a block with a wrong sum.  A reader must
 * still accept traces without sums and compressed ones.
 */
#include "hatf/codec/crc32c.h"
#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/open.h"
#include "tests/unit/support/streams.h"

#include <fcntl.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Enough records for two full blocks and a part of a third. */
#define RECORD_COUNT 120000

START_TEST(the_sum_is_that_of_the_standard)
{
	/* RFC 3720, appendix B.4, and the usual test string, nine digits. */
	uint8_t bytes[32];

	ck_assert_uint_eq(crc32c_add(0, (const uint8_t *)"123456789", 9),
			  0xe3069283);
	memset(bytes, 0, sizeof(bytes));
	ck_assert_uint_eq(crc32c_add(0, bytes, 32), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	ck_assert_uint_eq(crc32c_add(0, bytes, 32), 0x62a8ab43);
	ck_assert_uint_eq(crc32c_add(0, bytes, 0), 0);
}
END_TEST

START_TEST(every_way_to_sum_gives_the_same)
{
	static uint8_t bytes[100000];
	uint32_t seed = 1;

	for (size_t i = 0; i < sizeof(bytes); i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = (uint8_t)(seed >> 24);
	}
	for (size_t n = 0; n + 3 < sizeof(bytes); n += n < 64 ? 1 : 997) {
		const uint8_t *const p = bytes + n % 3;
		const uint32_t sum = crc32c_add_by_table(seed, p, n);

		ck_assert_uint_eq(crc32c_add(seed, p, n), sum);
		ck_assert_uint_eq(crc32c_add(crc32c_add(seed, p, n / 3),
					     p + n / 3, n - n / 3),
				  sum);
	}
}
END_TEST

/* ------------------------------------------------------------ in a trace */

/* Write a trace of 'count' allocations and return its bytes. */
static void
write_trace(struct hand *h, size_t count, bool plain)
{
	const struct hatf_writer_options options = { .plain = plain };
	struct hatf_writer *w;
	struct hatf_error err;
	uint8_t buf[4096];
	ssize_t n;
	const int fd = memfd_create("trace", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(writer_of_fd(fd, &options, &w, &err), HATF_OK);
	for (size_t i = 0; i < count; i++) {
		const struct hatf_record r = {
			.tag = HATF_ALLOC,
			.size = 1 + i * 7919 % 1000,
			.address = 0x10000 + i * 1024,
			.time = i,
		};

		ck_assert_int_eq(hatf_writer_write(w, &r, 1), HATF_OK);
	}
	ck_assert_int_eq(hatf_writer_close(w, &err), HATF_OK);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		hand_bytes(h, buf, (size_t)n);
	close(fd);
}

static enum hatf_status
read_trace(const struct hand *h, size_t *n_ret, struct hatf_error *err_ret)
{
	struct hatf_reader *reader;
	enum hatf_status status;
	const int fd = hand_file(h->bytes, h->used);

	*n_ret = 0;
	status = reader_of_fd(fd, 0, &reader, err_ret);
	if (status == HATF_OK) {
		status = drain(reader, n_ret);
		*err_ret = *hatf_reader_error(reader);
		hatf_reader_close(reader);
	}
	close(fd);
	return status;
}

/* Return the position after the next "crc32c=" from 'from' on, or NULL. */
static uint8_t *
find_sum(const struct hand *h, const uint8_t *from)
{
	uint8_t *const found = memmem(from, h->used - (size_t)(from - h->bytes),
				      "\ncrc32c=", 8);

	return found == NULL ? NULL : found + 8;
}

START_TEST(a_plain_trace_has_a_sum_for_each_block_and_others_have_none)
{
	struct hand h = { 0 };
	struct hatf_error err;
	uint8_t *sum, *start;
	size_t n, count = 0;

	write_trace(&h, RECORD_COUNT, true);
	ck_assert_int_eq(read_trace(&h, &n, &err), HATF_END);
	start = h.bytes;
	for (sum = find_sum(&h, start); sum != NULL; sum = find_sum(&h, sum)) {
		char digits[9];

		snprintf(digits, sizeof(digits), "%08x",
			 crc32c_add_by_table(0, start, (size_t)(sum - start)));
		ck_assert_mem_eq(sum, digits, 8);
		start = sum + 9;
		count++;
	}
	/* The last sum is in the trailer, which is the last record. */
	ck_assert_ptr_eq(start, h.bytes + h.used);
	ck_assert_uint_ge(count, 3);
	hand_fini(&h);
	write_trace(&h, 100, false);
	ck_assert_int_eq(read_trace(&h, &n, &err), HATF_END);
	hand_fini(&h);
}
END_TEST

START_TEST(no_flipped_bit_of_an_event_passes)
{
	struct hatf_error err;
	struct hand h = { 0 };
	size_t whole, n;
	uint64_t passed = 0;

	write_trace(&h, 40, true);
	ck_assert_int_eq(read_trace(&h, &whole, &err), HATF_END);
	for (size_t i = 0; i < 8 * h.used; i++) {
		h.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
		passed += read_trace(&h, &n, &err) == HATF_END;
		h.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	/* Without "crc32c=" a block has no sum; its events are unchanged. */
	ck_assert_uint_eq(passed, 8 * 7);
	hand_fini(&h);
}
END_TEST

START_TEST(an_error_tells_the_place_of_the_sum)
{
	struct hatf_error err;
	struct hand h = { 0 };
	uint8_t *sum;
	size_t n;

	write_trace(&h, RECORD_COUNT, true);
	sum = find_sum(&h, find_sum(&h, h.bytes));
	/* The sum of the second block; a comment of 25 bytes follows it. */
	sum[-1000] ^= 1;
	ck_assert_int_eq(read_trace(&h, &n, &err), HATF_BAD_COMMENT);
	ck_assert_str_eq(err.field, "crc32c");
	ck_assert_uint_eq(err.offset, (size_t)(sum - h.bytes) - 19);
	ck_assert_uint_eq(err.record, n);
	hand_fini(&h);
}
END_TEST

START_TEST(a_trace_without_sums_is_read)
{
	struct hatf_error err;
	struct hand h = { 0 };
	char text[200];
	size_t n;

	hand_comment(&h, "HATF 1.0\nproducer=old\n");
	hand_alloc(&h, 1, 16);
	snprintf(text, sizeof(text),
		 "HATF end\ncomplete=1\nevents=1\nrecords=2\nlost=0\n"
		 "hatf_bytes=%zu\n",
		 h.used);
	hand_comment(&h, text);
	ck_assert_int_eq(read_trace(&h, &n, &err), HATF_END);
	ck_assert_uint_eq(n, 3);
	hand_fini(&h);
}
END_TEST

START_TEST(a_sum_without_digits_is_an_error)
{
	static const char *const texts[] = {
		"HATF sum\n",
		"HATF sum\ncrc32c=0000000\n",
		"HATF sum\ncrc32c=E3069283\n",
		"HATF sum\ncrc32c=00000000\nmore=1\n",
	};

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct hatf_error err;
		struct hand h = { 0 };
		size_t n;

		hand_comment(&h, "HATF 1.0\n");
		hand_comment(&h, texts[i]);
		ck_assert_int_eq(read_trace(&h, &n, &err), HATF_BAD_COMMENT);
		ck_assert_str_eq(err.field, "crc32c");
		ck_assert_uint_eq(n, 1);
		hand_fini(&h);
	}
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		the_sum_is_that_of_the_standard,
		every_way_to_sum_gives_the_same,
		a_plain_trace_has_a_sum_for_each_block_and_others_have_none,
		no_flipped_bit_of_an_event_passes,
		an_error_tells_the_place_of_the_sum,
		a_trace_without_sums_is_read,
		a_sum_without_digits_is_an_error,
	};

	return hand_run("sums", tests, COUNT(tests));
}
