/* SPDX-License-Identifier: MIT */
/*
 * test_encodings.c
 *
 * Simple Binary, Split Stream and SplitAddr: what goes in comes out, whatever the
 * records are, plain and compressed; a record takes the bytes that the paper
 * gives it; a file that is cut off anywhere gives a part of its records and then
 * HATF_TRUNCATED; one that is damaged anywhere gives records or an error.
 */
#include "mini.h"
#include "open.h"

#define MANY 150000

static const char *const formats[] = { "binary" };
#define FORMAT_COUNT ((int)(sizeof(formats) / sizeof(formats[0])))

/* What one test writes; attributes are in 'bytes'. */
static struct hatf_record *records; /* MANY */
static size_t record_count;
static uint8_t bytes[65535];

static void
setup(void)
{
	records = calloc(MANY, sizeof(*records));
	record_count = 0;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 31 >> 3);
}

static void
teardown(void)
{
	free(records);
}

static struct hatf_record *
add(unsigned tag, uint64_t size, uint64_t old_address, uint64_t address)
{
	struct hatf_record *const r = &records[record_count++];

	*r = (struct hatf_record){ .tag = (uint8_t)tag,
				   .size = size,
				   .old_address = old_address,
				   .address = address };
	return r;
}

/* Only fields that the tag has. */
static void
add_random(uint64_t *seed, uint64_t (*number)(uint64_t *), uint32_t nbytes_max)
{
	const unsigned tag = (unsigned)(mini_random(seed) % 11);
	struct hatf_record *const r = add(tag, 0, 0, 0);
	const bool is_realloc =
		tag >= HATF_REALLOC_NO_ALLOC && tag <= HATF_REALLOC_FREE;

	r->attributes = bytes;
	r->attributes_nbytes = (uint32_t)(mini_random(seed) % (nbytes_max + 1));
	if (tag == HATF_COMMENT)
		return;
	if (tag == HATF_ALLOC || is_realloc)
		r->size = number(seed);
	if (tag <= HATF_REALLOC_FREE)
		r->address = number(seed);
	if (is_realloc)
		r->old_address = number(seed);
	if (tag <= HATF_DESTROY_HEAP)
		r->heap = number(seed);
	r->thread = number(seed);
	r->time = number(seed);
}

static uint64_t
any_number(uint64_t *seed)
{
	static const uint64_t extremes[] = {
		0,
		1,
		UINT64_C(0x7fffffff),
		UINT64_C(0x80000000),
		UINT32_MAX,
		UINT64_C(0x100000000),
		INT64_MAX,
		UINT64_C(0x8000000000000000),
		UINT64_MAX - UINT32_MAX,
		UINT64_MAX,
	};
	const uint64_t n = mini_random(seed);

	return n % 3 == 0 ? extremes[n / 3 % 10] : n >> (n / 3 % 64);
}

static uint64_t
small_number(uint64_t *seed)
{
	return mini_random(seed) % 1000;
}

static void
write_file(int fd, const char *format, bool plain)
{
	const struct hatf_writer_options options = { .plain = plain,
						     .bare = true,
						     .format = format };
	struct hatf_writer *w;
	struct hatf_error err;

	ck_assert_int_eq(hatf_writer_open_fd(fd, &options, &w, &err), HATF_OK);
	/* In pieces of all lengths. */
	for (size_t i = 0, n = 1; i < record_count; i += n, n = n % 700 + 1) {
		if (n > record_count - i)
			n = record_count - i;
		ck_assert_int_eq(hatf_writer_write(w, records + i, n), HATF_OK);
	}
	ck_assert_int_eq(hatf_writer_close(w, &err), HATF_OK);
}

/* The bytes of a file with the records. */
static void
encode(struct hand *h, const char *format, bool plain)
{
	const int fd = hand_file(NULL, 0);
	uint8_t buf[4096];
	ssize_t n;

	write_file(fd, format, plain);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	memset(h, 0, sizeof(*h));
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		hand_bytes(h, buf, (size_t)n);
	close(fd);
}

/* Read to the end, comparing; returns the final status. */
static enum hatf_status
read_and_compare(struct hatf_reader *reader, size_t *n_ret)
{
	struct hatf_record batch[300];
	enum hatf_status status;
	uint64_t offset = 0;
	size_t got, max = 1;

	*n_ret = 0;
	while ((status = hatf_reader_read(reader, batch, max, &got)) ==
	       HATF_OK) {
		mini_check(*n_ret + got <= record_count);
		for (size_t i = 0; i < got; i++) {
			mini_assert_same(&batch[i], &records[*n_ret + i]);
			mini_check(batch[i].offset >= offset);
			offset = batch[i].offset;
		}
		*n_ret += got;
		max = max % 300 + 1;
	}
	return status;
}

static void
check_round_trip(const char *format, bool plain)
{
	struct hatf_reader *reader;
	struct hatf_reader_stats stats;
	size_t n;
	int fd = hand_file(NULL, 0);

	write_file(fd, format, plain);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(hatf_reader_open_fd(fd, 0, &reader, NULL), HATF_OK);
	ck_assert_str_eq(hatf_reader_format(reader), format);
	ck_assert_int_eq(read_and_compare(reader, &n), HATF_END);
	ck_assert_uint_eq(n, record_count);
	hatf_reader_get_stats(reader, &stats);
	ck_assert(stats.complete);
	hatf_reader_close(reader);
	close(fd);
}

static void
check_round_trips(const char *format)
{
	check_round_trip(format, true);
	check_round_trip(format, false);
}

START_TEST(no_records_round_trip)
{
	check_round_trips(formats[_i]);
}
END_TEST

START_TEST(records_of_all_kinds_round_trip)
{
	uint64_t seed = 1;

	for (size_t i = 0; i < MANY / 10; i++)
		add_random(&seed, any_number, 20);
	check_round_trips(formats[_i]);
}
END_TEST

START_TEST(many_small_records_round_trip)
{
	uint64_t seed = 2;

	for (size_t i = 0; i < MANY; i++)
		add_random(&seed, small_number, i % 100 == 0);
	check_round_trips(formats[_i]);
}
END_TEST

START_TEST(the_longest_attributes_and_comments_round_trip)
{
	uint64_t seed = 3;

	for (size_t i = 0; i < 300; i++) {
		add_random(&seed, any_number, 0);
		records[i].attributes_nbytes = 65535;
	}
	check_round_trips(formats[_i]);
}
END_TEST

/* Addresses that come again and again, as in a real trace. */
static void
add_program(size_t count)
{
	uint64_t seed = 4;

	while (record_count < count) {
		const uint64_t n = mini_random(&seed);
		const uint64_t address = 0x555555559000 + (n >> 50) * 16;
		const unsigned kind = n & 63;

		if (kind == 0)
			add(HATF_REALLOC_NO_ALLOC, n >> 52, address, address);
		else if (kind == 1 && (n >> 6 & 127) == 0)
			add(HATF_ALLOC, 200000, 0, 0x7ffff7c00010);
		else if (kind & 1)
			add(HATF_ALLOC, n >> 55, 0, address);
		else
			add(HATF_FREE, 0, 0, address);
	}
}

START_TEST(a_program_round_trips)
{
	add_program(MANY);
	check_round_trips(formats[_i]);
}
END_TEST

START_TEST(a_record_has_the_fields_of_its_tag_only)
{
	struct hatf_record got[11];
	struct hatf_reader *reader;
	struct hand h;
	size_t n;
	int fd;

	for (unsigned tag = 0; tag <= HATF_COMMENT; tag++) {
		struct hatf_record *const r = add(tag, 1, 2, 3);

		r->thread = r->heap = r->time = 4;
	}
	encode(&h, formats[_i], true);
	reader = open_bytes(&h, 0, &fd);
	/* The first record comes alone, as it may be a header. */
	ck_assert_int_eq(hatf_reader_read(reader, got, 1, &n), HATF_OK);
	ck_assert_int_eq(hatf_reader_read(reader, got + 1, 10, &n), HATF_OK);
	ck_assert_uint_eq(n, 10);
	ck_assert_uint_eq(got[HATF_FREE].size, 0);
	ck_assert_uint_eq(got[HATF_FREE].old_address, 0);
	ck_assert_uint_eq(got[HATF_FREE].address, 3);
	ck_assert_uint_eq(got[HATF_ALLOC].old_address, 0);
	ck_assert_uint_eq(got[HATF_ALLOC].size, 1);
	ck_assert_uint_eq(got[HATF_REALLOC_FREE].old_address, 2);
	ck_assert_uint_eq(got[HATF_CREATE_HEAP].address, 0);
	ck_assert_uint_eq(got[HATF_CREATE_HEAP].heap, 4);
	ck_assert_uint_eq(got[HATF_CREATE_THREAD].heap, 0);
	ck_assert_uint_eq(got[HATF_CREATE_THREAD].thread, 4);
	ck_assert_uint_eq(got[HATF_COMMENT].time, 0);
	ck_assert_uint_eq(got[HATF_COMMENT].size, 0);
	hatf_reader_close(reader);
	close(fd);
	hand_fini(&h);
}
END_TEST

/*
 * Reading these bytes is to end well or with an error.  Rows that are taken for
 * half as wide are twice as many.
 */
static enum hatf_status
read_any(const uint8_t *p, size_t nbytes)
{
	const int fd = hand_file(p, nbytes);
	struct hatf_reader *reader;
	enum hatf_status status;
	size_t n = 0;

	status = hatf_reader_open_fd(fd, 0, &reader, NULL);
	if (status == HATF_OK) {
		status = drain(reader, &n);
		hatf_reader_close(reader);
	}
	mini_check(n <= 2 * record_count);
	close(fd);
	return status;
}

/* Some of everything. */
static void
add_some(void)
{
	uint64_t seed = 5;

	add_program(40);
	for (size_t i = 0; i < 20; i++)
		add_random(&seed, small_number, 3);
}

static void
check_cut_at(const struct hand *h, size_t nbytes)
{
	const int fd = hand_file(h->bytes, nbytes);
	struct hatf_reader *reader;
	enum hatf_status status;
	size_t n;

	status = hatf_reader_open_fd(fd, 0, &reader, NULL);
	if (status == HATF_OK) {
		status = read_and_compare(reader, &n);
		mini_check(status ==
			   (nbytes == h->used ? HATF_END : HATF_TRUNCATED));
		hatf_reader_close(reader);
	} else {
		/* There is not all of the magic number. */
		mini_check(nbytes < 8 || h->bytes[0] == 0x1f);
		mini_check(status == HATF_NOT_HATF);
	}
	close(fd);
}

START_TEST(a_file_may_end_at_any_byte)
{
	struct hand h;

	add_some();
	for (int plain = 0; plain < 2; plain++) {
		encode(&h, formats[_i], plain);
		for (size_t nbytes = 0; nbytes <= h.used; nbytes++)
			check_cut_at(&h, nbytes);
		hand_fini(&h);
	}
}
END_TEST

START_TEST(any_byte_may_be_wrong)
{
	static const uint8_t masks[] = { 0x01, 0x04, 0x80, 0xff };
	struct hand h;

	add_some();
	for (int plain = 0; plain < 2; plain++) {
		encode(&h, formats[_i], plain);
		for (size_t i = 0; i < h.used; i++)
			for (size_t j = 0; j < sizeof(masks); j++) {
				h.bytes[i] ^= masks[j];
				read_any(h.bytes, h.used);
				h.bytes[i] ^= masks[j];
			}
		hand_fini(&h);
	}
}
END_TEST

START_TEST(nothing_may_follow_the_end)
{
	struct hand h;

	add_some();
	encode(&h, formats[_i], true);
	hand_put(&h, 0, 1);
	ck_assert_int_eq(read_any(h.bytes, h.used), HATF_BAD_FIELD);
	hand_fini(&h);
}
END_TEST

START_TEST(a_trace_of_ours_keeps_header_and_trailer)
{
	const struct hatf_writer_options options = { .format = formats[_i],
						     .header = "pid=7\n" };
	struct hatf_reader_stats stats;
	struct hatf_reader *reader;
	struct hatf_writer *w;
	size_t n;
	const int fd = hand_file(NULL, 0);

	add_program(1000);
	ck_assert_int_eq(hatf_writer_open_fd(fd, &options, &w, NULL), HATF_OK);
	ck_assert_int_eq(hatf_writer_write(w, records, record_count), HATF_OK);
	ck_assert_int_eq(hatf_writer_close(w, NULL), HATF_OK);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(hatf_reader_open_fd(fd, 0, &reader, NULL), HATF_OK);
	ck_assert_str_eq(hatf_reader_header(reader, "pid"), "7");
	ck_assert_int_eq(drain(reader, &n), HATF_END);
	ck_assert_uint_eq(n, record_count + 2);
	ck_assert_str_eq(hatf_reader_trailer(reader, "records"), "1001");
	hatf_reader_get_stats(reader, &stats);
	ck_assert(stats.ours && stats.complete);
	hatf_reader_close(reader);
	close(fd);
}
END_TEST

/* The bytes that 'n' more of the paper's records take. */
static size_t
cost(const char *format, size_t n, uint64_t size, uint64_t address)
{
	struct hand h;
	size_t nbytes;

	record_count = 0;
	add(HATF_ALLOC, size, 0, address);
	encode(&h, format, true);
	nbytes = h.used;
	hand_fini(&h);
	for (size_t i = 0; i < n; i++)
		add(i % 2, i % 2 ? 0 : size, 0, address);
	encode(&h, format, true);
	nbytes = h.used - nbytes;
	hand_fini(&h);
	return nbytes;
}

START_TEST(a_record_takes_what_the_paper_says)
{
	/* Fewer than a section or group may hold: its header counts once. */
	const size_t n = 4000;
	const uint64_t big = UINT64_C(1) << 40;

	ck_assert_uint_eq(cost("binary", n, 24, 0x5555555592a0), 16 * n);
	ck_assert_uint_eq(cost("binary", n, big, 0x5555555592a0), 32 * n);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("encodings");
	TCase *const tc = tcase_create("encodings");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
#define EACH(test) tcase_add_loop_test(tc, test, 0, FORMAT_COUNT)
	EACH(no_records_round_trip);
	EACH(records_of_all_kinds_round_trip);
	EACH(many_small_records_round_trip);
	EACH(the_longest_attributes_and_comments_round_trip);
	EACH(a_program_round_trips);
	EACH(a_record_has_the_fields_of_its_tag_only);
	EACH(a_file_may_end_at_any_byte);
	EACH(any_byte_may_be_wrong);
	EACH(nothing_may_follow_the_end);
	EACH(a_trace_of_ours_keeps_header_and_trailer);
	tcase_add_test(tc, a_record_takes_what_the_paper_says);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
