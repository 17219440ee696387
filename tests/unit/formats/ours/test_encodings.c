/* SPDX-License-Identifier: MIT */
/*
 * test_encodings.c - the paper's three encodings keep all records
 *
 * Simple Binary, Split Stream and SplitAddr: reading returns the records that
 * were written, whatever they are, plain and compressed.  A record takes the
 * number of bytes that the paper gives.  A file truncated anywhere yields some
 * of its records and then HATF_TRUNCATED.  One damaged anywhere yields records
 * or an error.
 */
#include "hatf/codec/bytes.h"
#include "hatf/io/gzip_members.h"
#include "tests/unit/support/mini.h"
#include "tests/unit/support/open.h"
#include "tests/unit/support/sample.h"
#include "tests/unit/support/streams.h"

#define MANY 150000

static const char *const formats[] = { "binary", "split", "splitaddr" };
#define FORMAT_COUNT ((int)(sizeof(formats) / sizeof(formats[0])))

/* The records that one test writes; 'bytes' has their attributes. */
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

/* Add a record with only the fields that its tag has. */
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

	ck_assert_int_eq(writer_of_fd(fd, &options, &w, &err), HATF_OK);
	/* In pieces of many lengths. */
	for (size_t i = 0, n = 1; i < record_count; i += n, n = n % 700 + 1) {
		if (n > record_count - i)
			n = record_count - i;
		ck_assert_int_eq(hatf_writer_write(w, records + i, n), HATF_OK);
	}
	ck_assert_int_eq(hatf_writer_close(w, &err), HATF_OK);
}

/* Write the records to a file and return its bytes in '*h'. */
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

/* Read to the end and compare.  Returns the final status. */
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
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	size_t n;
	int fd = hand_file(NULL, 0);

	write_file(fd, format, plain);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(reader_of_fd(fd, 0, &reader, NULL), HATF_OK);
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

/* Addresses that recur, as in a real trace. */
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
	/* The first record is delivered alone, because it may be a header. */
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
 * Read these bytes: the result must be a good end or an error.  Rows mistaken
 * for half their width are twice as many.
 */
static enum hatf_status
read_any(const uint8_t *p, size_t nbytes)
{
	const int fd = hand_file(p, nbytes);
	struct hatf_reader *reader;
	enum hatf_status status;
	size_t n = 0;

	status = reader_of_fd(fd, 0, &reader, NULL);
	if (status == HATF_OK) {
		status = drain(reader, &n);
		hatf_reader_close(reader);
	}
	mini_check(n <= 2 * record_count);
	close(fd);
	return status;
}

/* Add some records of each kind. */
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

	status = reader_of_fd(fd, 0, &reader, NULL);
	if (status == HATF_OK) {
		status = read_and_compare(reader, &n);
		mini_check(status ==
			   (nbytes == h->used ? HATF_END : HATF_TRUNCATED));
		hatf_reader_close(reader);
	} else {
		/* The magic number is incomplete. */
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
		for (size_t nbytes = SAMPLE_FIRST; nbytes <= h.used;
		     nbytes += SAMPLE_STEP)
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
		for (size_t i = SAMPLE_FIRST; i < h.used; i += SAMPLE_STEP)
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
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	struct hatf_writer *w;
	size_t n;
	const int fd = hand_file(NULL, 0);

	add_program(1000);
	ck_assert_int_eq(writer_of_fd(fd, &options, &w, NULL), HATF_OK);
	ck_assert_int_eq(hatf_writer_write(w, records, record_count), HATF_OK);
	ck_assert_int_eq(hatf_writer_close(w, NULL), HATF_OK);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(reader_of_fd(fd, 0, &reader, NULL), HATF_OK);
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

/* Put a piece of a group, as it is or as a gzip member. */
static void
put_piece(struct hand *h, unsigned stream, unsigned form, const uint8_t *p,
	  uint32_t nbytes, bool packed)
{
	struct gzip_members pack = { 0 };
	uint32_t stored = nbytes;

	if (packed) {
		stored = (uint32_t)gzip_members_pack(&pack, 9, p, nbytes);
		p = pack.bytes;
	}
	hand_put(h, stream << 24 | form << 16 | (unsigned)packed << 8, 4);
	hand_put(h, nbytes, 4);
	hand_put(h, stored, 4);
	hand_put(h, 0, 8);
	hand_bytes(h, p, stored);
	gzip_members_fini(&pack);
}

START_TEST(a_member_that_is_longer_than_its_piece_says_is_refused)
{
	uint8_t *const zeros = calloc(1, 4u << 20);
	const uint8_t tag = HATF_ALLOC;
	struct hand h = { 0 };

	/* The trailer may state the truth, or what the piece claims. */
	for (unsigned forged = 0; forged < 2; forged++) {
		h.used = 0;
		hand_bytes(&h, "\xfeHATFspl", 8);
		hand_put(&h, 1, 4);
		hand_put(&h, UINT64_C(2) << 24, 4);
		put_piece(&h, 0, 1, &tag, 1, false);
		put_piece(&h, 1, 4, zeros, 4u << 20, true);
		put_be32(h.bytes + 16 + 21 + 4, 4);
		if (forged)
			put_le32(h.bytes + h.used - 4, 4);
		hand_put(&h, 0, 8);
		record_count = 1;
		/*
		 * Here the length also exceeds what 4 compressed bytes can
		 * become.
		 */
		ck_assert_int_eq(read_any(h.bytes, h.used), HATF_BAD_FIELD);
		put_be32(h.bytes + 16 + 21 + 4, 5000);
		if (forged)
			put_le32(h.bytes + h.used - 8 - 4, 5000);
		ck_assert_int_eq(read_any(h.bytes, h.used),
				 HATF_BAD_COMPRESSION);
	}
	free(zeros);
	hand_fini(&h);
}
END_TEST

/* Read a valid group except for one byte, which must be rejected. */
static enum hatf_status
read_group_with(size_t off, uint8_t byte)
{
	const uint8_t tags[4] = { 0 };
	struct hand h = { 0 };
	enum hatf_status status;

	hand_bytes(&h, "\xfeHATFspl", 8);
	hand_put(&h, 4, 4);
	hand_put(&h, UINT64_C(2) << 24, 4);
	put_piece(&h, 0, 1, tags, 4, false);
	put_piece(&h, 4, 4, (const uint8_t[16]){ 0 }, 16, false);
	hand_put(&h, 0, 8);
	record_count = 4;
	h.bytes[off] = byte;
	status = read_any(h.bytes, h.used);
	hand_fini(&h);
	return status;
}

START_TEST(what_is_illegal_in_a_group_is_refused)
{
	static const struct {
		size_t off;
		uint8_t byte;
		enum hatf_status status;
	} cases[] = {
		{ 8, 0, HATF_END },
		{ 8, 1, HATF_BAD_FIELD }, /* too many records */
		/* the maximum, but they are missing */
		{ 9, 4, HATF_BAD_FIELD },
		{ 11, 3, HATF_BAD_FIELD }, /* unused tags */
		{ 12, 0, HATF_BAD_FIELD }, /* no pieces */
		{ 12, 1, HATF_BAD_FIELD }, /* what follows is not a group */
		{ 12, 3, HATF_TRUNCATED }, /* what follows is not a piece */
		{ 13, 1, HATF_BAD_FIELD }, /* reserved */
		{ 15, 1, HATF_BAD_FIELD }, /* reserved */
		{ 16, 1, HATF_BAD_FIELD }, /* no tags */
		{ 16, 9, HATF_BAD_FIELD }, /* no such stream */
		{ 17, 2, HATF_BAD_FIELD }, /* no such form */
		{ 18, 1, HATF_BAD_COMPRESSION }, /* not a member */
		{ 18, 2, HATF_BAD_FIELD },	 /* no such packing */
		{ 19, 1, HATF_BAD_FIELD },	 /* reserved */
		{ 20, 0x80, HATF_BAD_FIELD },	 /* length: 2 GiB */
		{ 20, 0xff, HATF_BAD_FIELD },
		{ 23, 3, HATF_BAD_FIELD },    /* unequal to the stored length */
		{ 24, 0xff, HATF_BAD_FIELD }, /* stored length: 4 GiB */
		{ 27, 5, HATF_BAD_FIELD },
		{ 28, 1, HATF_BAD_FIELD }, /* tags have no base */
		{ 36, 11, HATF_BAD_TAG },
		{ 36, 8, HATF_END },
		{ 40, 0, HATF_BAD_FIELD }, /* a stream twice */
		{ 41, 0, HATF_BAD_FIELD }, /* no such form */
		{ 41, 8, HATF_BAD_FIELD }, /* longer than its piece */
		{ 52, 1, HATF_BAD_FIELD }, /* threads have no base */
		{ 60, 1, HATF_END },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(read_group_with(cases[i].off, cases[i].byte) ==
				      cases[i].status,
			      "case %zu: %d", i,
			      read_group_with(cases[i].off, cases[i].byte));
}
END_TEST

/* Read SplitAddr with these pieces of 'record_count' records. */
static enum hatf_status
read_splitaddr(const char *hatf, size_t hatf_nbytes, unsigned form,
	       const char *addresses, size_t nbytes)
{
	struct hand h = { 0 };
	enum hatf_status status;

	hand_bytes(&h, "\xfeHATFadr", 8);
	hand_put(&h, record_count, 4);
	hand_put(&h, UINT64_C(2) << 24, 4);
	put_piece(&h, 0, 1, (const uint8_t *)hatf, (uint32_t)hatf_nbytes,
		  false);
	put_piece(&h, 1, form, (const uint8_t *)addresses, (uint32_t)nbytes,
		  false);
	hand_put(&h, 0, 8);
	status = read_any(h.bytes, h.used);
	hand_fini(&h);
	return status;
}

START_TEST(what_is_illegal_in_splitaddr_is_refused)
{
	/* Two frees whose addresses take no bytes. */
	static const char frees[] = "\x0b\x01\x01\x00\x01\x01";
	static const char far[] = "\x01\x00\x00\x10\x10\x01\x00\x00\x00\x00";
	static const char comments[] = "\x0a\x00\x00\x0a\x00\x00";
	static const char two[] = "\0\0\0\2ABCDEFGHIJKLMNOP\0\1";

	record_count = 2;
	ck_assert_int_eq(read_splitaddr(frees, 6, 1, two, 22), HATF_END);
	ck_assert_int_eq(read_splitaddr(frees, 6, 2, two, 22), HATF_END);
	/*
	 * An unknown form; fewer addresses than records use; more than they
	 * use.
	 */
	ck_assert_int_eq(read_splitaddr(frees, 6, 3, two, 22), HATF_BAD_FIELD);
	ck_assert_int_eq(read_splitaddr(frees, 6, 1, two, 21), HATF_BAD_FIELD);
	ck_assert_int_eq(read_splitaddr(frees, 6, 1, two, 23), HATF_BAD_FIELD);
	ck_assert_int_eq(
		read_splitaddr(frees, 6, 5, "\0\0\0\2ABCDEFGH\0\1", 14),
		HATF_END);
	/* Other unknown forms; in the last case no record uses an address. */
	ck_assert_int_eq(read_splitaddr(frees, 6, 4, two, 22), HATF_BAD_FIELD);
	ck_assert_int_eq(read_splitaddr(frees, 6, 9, two, 22), HATF_BAD_FIELD);
	ck_assert_int_eq(read_splitaddr(comments, 6, 0, two, 22),
			 HATF_BAD_FIELD);
	/* A missing table; a number beyond the table. */
	ck_assert_int_eq(read_splitaddr(frees, 6, 1, two, 3), HATF_BAD_FIELD);
	ck_assert_int_eq(read_splitaddr(frees, 6, 1, two, 19), HATF_BAD_FIELD);
	ck_assert_int_eq(
		read_splitaddr(frees, 6, 1, "\0\0\0\2ABCDEFGHIJKLMNOP\0\2", 22),
		HATF_BAD_FIELD);
	ck_assert_int_eq(read_splitaddr(frees, 6, 1, "\xff\xff\xff\xff", 4),
			 HATF_BAD_FIELD);
	ck_assert_int_eq(read_splitaddr(frees, 6, 1, "\0\0\0\0\0\0", 6),
			 HATF_BAD_FIELD);
	/* HATF with an address; truncated HATF; no HATF at all. */
	ck_assert_int_eq(read_splitaddr(far, 10, 1, two, 22), HATF_BAD_FIELD);
	ck_assert_int_eq(read_splitaddr(far, 9, 1, two, 22), HATF_BAD_FIELD);
	ck_assert_int_eq(read_splitaddr("\x0c", 1, 1, two, 22), HATF_BAD_TAG);
	/* Fewer records than the group claims; more than it claims. */
	ck_assert_int_eq(read_splitaddr(frees, 5, 1, two, 22), HATF_BAD_FIELD);
	record_count = 1;
	ck_assert_int_eq(read_splitaddr(frees, 6, 1, two, 22), HATF_BAD_FIELD);
}
END_TEST

/* Return the bytes that 'n' more of the paper's records take. */
static size_t
cost(const char *format, size_t n, uint64_t size, uint64_t address,
     uint64_t other)
{
	struct hand h;
	size_t nbytes;

	record_count = 0;
	add(HATF_ALLOC, size, 0, address);
	add(HATF_FREE, 0, 0, other);
	encode(&h, format, true);
	nbytes = h.used;
	hand_fini(&h);
	for (size_t i = 0; i < n; i++)
		add(i % 2, i % 2 ? 0 : size, 0, i % 2 ? other : address);
	encode(&h, format, true);
	nbytes = h.used - nbytes;
	hand_fini(&h);
	return nbytes;
}

START_TEST(a_record_takes_what_the_paper_says)
{
	/* Fewer than a section or group can hold: count its header once. */
	const size_t n = 4000;
	const uint64_t big = UINT64_C(1) << 40;
	const uint64_t heap = 0x5555555592a0;

	ck_assert_uint_eq(cost("binary", n, 24, heap, heap + 16), 16 * n);
	ck_assert_uint_eq(cost("binary", n, big, heap, heap + 16), 32 * n);
	ck_assert_uint_eq(cost("split", n, 24, heap, heap + 16), 13 * n);
	/* Only the streams that need it become wider. */
	ck_assert_uint_eq(cost("split", n, big, heap, heap + 16), 17 * n);
	ck_assert_uint_eq(cost("split", n, big, heap, 16), 21 * n);
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
	tcase_add_test(tc,
		       a_member_that_is_longer_than_its_piece_says_is_refused);
	tcase_add_test(tc, what_is_illegal_in_a_group_is_refused);
	tcase_add_test(tc, what_is_illegal_in_splitaddr_is_refused);
	tcase_add_test(tc, a_record_takes_what_the_paper_says);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
