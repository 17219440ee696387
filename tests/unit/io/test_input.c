/* SPDX-License-Identifier: MIT */
/*
 * test_input.c - files and pipes, plain or gzip, yield all their bytes
 *
 * A file or pipe, plain or in gzip members, yields the bytes that were put in.
 * A compressed file truncated at any byte yields every byte that inflate() can
 * determine, and then reports the truncation.  Any other fault is reported, and
 * again at every later call.
 *
 * runs early: it takes half a minute under a sanitizer
 */
#include "hatf/io/input.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Bytes that compress a little, as traces do. */
static void
make_bytes(struct hand *h, size_t nbytes)
{
	uint64_t seed = 88172645463325252;

	for (size_t i = 0; i < nbytes; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		hand_put(h, i == 0 ? 0 : seed % 11, 1);
	}
}

/*
 * Read 'fd' to its end in pieces of 'piece' bytes.  The result must be the
 * first '*nbytes_ret' bytes of 'want'.  Return the final status.
 */
static enum hatf_status
read_all(int fd, unsigned jobs, size_t piece, const struct hand *want,
	 size_t *nbytes_ret)
{
	struct input in;
	uint8_t *const buf = malloc(piece);
	size_t used = 0, got;
	enum hatf_status status = input_init(&in, fd, jobs);

	ck_assert_ptr_nonnull(buf);
	while (status == HATF_OK && (got = input_read(&in, buf, piece)) > 0) {
		/* Check's own assertions would take most of the time. */
		if (got > piece || used + got > want->used ||
		    memcmp(buf, want->bytes + used, got) != 0)
			ck_abort_msg("%zu bytes at %zu differ", got, used);
		used += got;
	}
	if (status == HATF_OK) {
		status = in.status;
		for (int i = 0; i < 3; i++) {
			ck_assert_uint_eq(input_read(&in, buf, piece), 0);
			ck_assert_int_eq(in.status, status);
		}
	}
	input_fini(&in);
	free(buf);
	*nbytes_ret = used;
	return status;
}

/* Read with and without threads; the results must be equal. */
static enum hatf_status
read_bytes(const struct hand *file, size_t piece, const struct hand *want,
	   size_t *nbytes_ret)
{
	const int fd = hand_file(file->bytes, file->used);
	const enum hatf_status status =
		read_all(fd, 0, piece, want, nbytes_ret);
	size_t nbytes;

	for (unsigned jobs = 1; jobs <= 2; jobs++) {
		ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
		ck_assert_int_eq(read_all(fd, jobs, piece, want, &nbytes),
				 status);
		ck_assert_uint_eq(nbytes, *nbytes_ret);
	}
	close(fd);
	return status;
}

static void
expect_whole(const struct hand *file, const struct hand *want)
{
	static const size_t pieces[] = { 1, 7, 4096, 1 << 20 };
	size_t nbytes;

	for (size_t i = 0; i < COUNT(pieces); i++) {
		ck_assert_int_eq(read_bytes(file, pieces[i], want, &nbytes),
				 HATF_END);
		ck_assert_uint_eq(nbytes, want->used);
	}
}

START_TEST(a_plain_file_is_returned_unchanged)
{
	static const size_t sizes[] = {
		0, 1, 2, 3, INPUT_BUF_NBYTES, INPUT_BUF_NBYTES + 1, 300000
	};

	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct hand want = { 0 };

		make_bytes(&want, sizes[i]);
		expect_whole(&want, &want);
		hand_fini(&want);
	}
}
END_TEST

START_TEST(gzip_members_are_one_stream)
{
	struct hand want = { 0 }, file = { 0 };

	make_bytes(&want, 300000);
	hand_gzip(&file, want.bytes, 100000);
	hand_gzip(&file, NULL, 0); /* an empty one in between */
	hand_gzip(&file, want.bytes + 100000, 1);
	hand_gzip(&file, want.bytes + 100001, want.used - 100001);
	expect_whole(&file, &want);
	hand_fini(&want);
	hand_fini(&file);
}
END_TEST

START_TEST(a_header_with_every_optional_part_is_skipped)
{
	/* Without FHCRC, whose value depends on the rest. */
	static const char header[] = "\x1f\x8b\x08\x1c\0\0\0\0\0\xff"
				     "\4\0HATFname\0comment";
	struct hand want = { 0 }, plain = { 0 }, file = { 0 };

	make_bytes(&want, 1000);
	hand_gzip(&plain, want.bytes, want.used);
	hand_bytes(&file, header, sizeof(header));
	hand_bytes(&file, plain.bytes + 10, plain.used - 10);
	expect_whole(&file, &want);
	hand_fini(&want);
	hand_fini(&plain);
	hand_fini(&file);
}
END_TEST

/* Return how many bytes inflate() yields when it gets 'nbytes' one by one. */
static size_t
knowable(const uint8_t *bytes, size_t nbytes)
{
	static uint8_t out[1 << 16];
	z_stream z = { 0 };
	size_t used = 0;

	ck_assert_int_eq(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
	for (size_t i = 0; i < nbytes; i++) {
		z.next_in = bytes + i;
		z.avail_in = 1;
		z.next_out = out;
		z.avail_out = sizeof(out);
		if (inflate(&z, Z_SYNC_FLUSH) == Z_STREAM_END)
			inflateReset(&z);
		used += sizeof(out) - z.avail_out;
	}
	inflateEnd(&z);
	return used;
}

static void
truncate_everywhere(void (*put)(struct hand *, const uint8_t *, size_t))
{
	struct hand want = { 0 }, file = { 0 };
	size_t member, nbytes;

	make_bytes(&want, 3000);
	put(&file, want.bytes, 1000);
	member = file.used;
	put(&file, want.bytes + 1000, 2000);
	for (size_t cut = 2 + SAMPLE_FIRST; cut < file.used;
	     cut += SAMPLE_STEP) {
		const struct hand part = { file.bytes, cut, cut };
		const enum hatf_status status = read_bytes(
			&part, cut % 2 ? 1 << 16 : 10, &want, &nbytes);

		ck_assert_int_eq(status,
				 cut == member ? HATF_END : HATF_TRUNCATED);
		ck_assert_uint_eq(nbytes, knowable(file.bytes, cut));
	}
	hand_fini(&want);
	hand_fini(&file);
}

static void
put_ours(struct hand *h, const uint8_t *bytes, size_t nbytes)
{
	hand_member(h, bytes, nbytes, 0);
}

START_TEST(truncation_gives_every_byte_before_it)
{
	truncate_everywhere(hand_gzip);
	truncate_everywhere(put_ours);
}
END_TEST

/* A match of deflate has up to 258 bytes, which may exceed the room left. */
START_TEST(truncation_gives_output_that_exceeds_the_room)
{
	struct hand want = { 0 }, file = { 0 };
	size_t nbytes;

	for (int i = 0; i < 20000; i++)
		hand_put(&want, 0, 1);
	hand_gzip(&file, want.bytes, want.used);
	for (size_t cut = 2 + SAMPLE_FIRST; cut < file.used;
	     cut += SAMPLE_STEP) {
		const struct hand part = { file.bytes, cut, cut };

		ck_assert_int_eq(read_bytes(&part, 10, &want, &nbytes),
				 HATF_TRUNCATED);
		ck_assert_uint_eq(nbytes, knowable(file.bytes, cut));
	}
	hand_fini(&want);
	hand_fini(&file);
}
END_TEST

/* ------------------------------------------------ members of known length */

START_TEST(our_members_are_one_stream_with_any_others)
{
	struct hand want = { 0 }, file = { 0 };
	uint64_t seed = 1;
	size_t used = 0;

	make_bytes(&want, 2000000);
	while (used < want.used) {
		const size_t left = want.used - used;
		size_t n;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		n = seed >> 33 & (seed >> 60 < 8 ? 0xff : 0x3ffff);
		n = n < left ? n : left;
		if (seed >> 56 & 3)
			hand_member(&file, want.bytes + used, n, 0);
		else
			hand_gzip(&file, want.bytes + used, n);
		used += n;
	}
	hand_member(&file, NULL, 0, 0);
	expect_whole(&file, &want);
	hand_fini(&want);
	hand_fini(&file);
}
END_TEST

/* Members, and data, that are longer than any buffer. */
START_TEST(a_member_of_any_size_is_read)
{
	struct hand want = { 0 }, file = { 0 };

	make_bytes(&want, 3 * INPUT_BUF_NBYTES);
	hand_member(&file, want.bytes, 1000, 0);
	hand_member(&file, want.bytes + 1000, want.used - 2000, 0);
	hand_member(&file, want.bytes + want.used - 1000, 1000, 0);
	expect_whole(&file, &want);
	hand_fini(&file);
	memset(want.bytes, 0, want.used);
	hand_member(&file, want.bytes, want.used, 0);
	expect_whole(&file, &want);
	hand_fini(&want);
	hand_fini(&file);
}
END_TEST

/* The length is a hint: wrong ones do not make members bad. */
START_TEST(a_wrong_length_in_a_member_is_ignored)
{
	static const int lies[] = { -2000000, -100000, -9, -8,	-1,
				    1,	      8,       20, 100, 1000000 };

	for (size_t i = 0; i < COUNT(lies); i++) {
		struct hand want = { 0 }, file = { 0 };

		make_bytes(&want, 60000);
		for (size_t from = 0; from < want.used; from += 6000)
			hand_member(&file, want.bytes + from, 6000,
				    from == 12000 ? lies[i] : 0);
		expect_whole(&file, &want);
		hand_fini(&want);
		hand_fini(&file);
	}
}
END_TEST

/*
 * Inflate members up to the first fault with zlib alone.  Return whether there
 * is no fault.
 */
static bool
inflate_by_zlib(const struct hand *file, struct hand *out)
{
	static uint8_t buf[1 << 16];
	z_stream z = { .next_in = file->bytes, .avail_in = (uInt)file->used };
	int result;

	ck_assert_int_eq(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
	do {
		z.next_out = buf;
		z.avail_out = sizeof(buf);
		result = inflate(&z, Z_SYNC_FLUSH);
		hand_bytes(out, buf, sizeof(buf) - z.avail_out);
		if (result == Z_STREAM_END && z.avail_in > 0)
			result = inflateReset(&z);
	} while (result == Z_OK);
	inflateEnd(&z);
	return result == Z_STREAM_END;
}

START_TEST(damaged_members_give_what_zlib_gives)
{
	struct hand all = { 0 }, file = { 0 };

	make_bytes(&all, 900);
	for (size_t from = 0; from < 900; from += 300)
		hand_member(&file, all.bytes + from, 300, 0);
	for (size_t i = 0; i < file.used; i++) {
		struct hand want = { 0 };
		size_t nbytes;

		file.bytes[i] ^= 0x40;
		/* The first two bytes identify the compression. */
		if (i >= 2) {
			const bool good = inflate_by_zlib(&file, &want);
			const enum hatf_status status =
				read_bytes(&file, 100, &want, &nbytes);

			ck_assert_int_eq(good, status == HATF_END);
			ck_assert_uint_eq(nbytes, want.used);
		}
		file.bytes[i] ^= 0x40;
		hand_fini(&want);
	}
	hand_fini(&all);
	hand_fini(&file);
}
END_TEST

#define ZEROS_NBYTES  ((size_t)32 << 20)
#define ZEROS_ALLOWED ((size_t)256 << 20)

/*
 * Return how many bytes 'count' copies of a file of zeros yield; 'ours': in
 * blocks.
 */
static uint64_t
read_zeros(int count, bool ours, unsigned jobs, enum hatf_status *status_ret)
{
	const size_t piece = ours ? 256 * 1024 : ZEROS_NBYTES;
	uint8_t *const zeros = calloc(1, ZEROS_NBYTES);
	struct hand member = { 0 }, file = { 0 };
	struct input in;
	uint64_t used = 0;
	size_t got;
	int fd;

	(ours ? put_ours : hand_gzip)(&member, zeros, piece);
	for (size_t i = 0; i < (size_t)count * (ZEROS_NBYTES / piece); i++)
		hand_bytes(&file, member.bytes, member.used);
	fd = hand_file(file.bytes, file.used);
	ck_assert_int_eq(input_init(&in, fd, jobs), HATF_OK);
	while ((got = input_read(&in, zeros, ZEROS_NBYTES)) > 0)
		used += got;
	*status_ret = in.status;
	input_fini(&in);
	close(fd);
	hand_fini(&member);
	hand_fini(&file);
	free(zeros);
	return used;
}

/* FORMAT "Limits". */
START_TEST(compression_bombs_are_refused)
{
	enum hatf_status status;
	uint64_t nbytes = read_zeros(8, false, 0, &status);

	ck_assert_int_eq(status, HATF_END);
	ck_assert_uint_eq(nbytes, ZEROS_ALLOWED);
	nbytes = read_zeros(20, false, 0, &status);
	ck_assert_int_eq(status, HATF_LIMIT);
	ck_assert_uint_gt(nbytes, ZEROS_ALLOWED);
	ck_assert_uint_le(nbytes, ZEROS_ALLOWED + 2 * ZEROS_NBYTES);
	/* In our blocks even zeros stay below the limit. */
	for (unsigned jobs = 0; jobs <= 2; jobs += 2) {
		nbytes = read_zeros(20, true, jobs, &status);
		ck_assert_int_eq(status, HATF_END);
		ck_assert_uint_eq(nbytes, 20 * ZEROS_NBYTES);
	}
}
END_TEST

/*
 * Close the input with members read, being decompressed and waiting; nothing
 * may leak.
 */
START_TEST(closing_early_leaks_nothing)
{
	struct hand want = { 0 }, file = { 0 };
	uint8_t buf[7000];

	make_bytes(&want, 400000);
	for (size_t from = 0; from < want.used; from += 10000)
		hand_member(&file, want.bytes + from, 10000, 0);
	for (unsigned calls = 0; calls < 30; calls++) {
		const int fd = hand_file(file.bytes, file.used);
		struct input in;

		ck_assert_int_eq(input_init(&in, fd, 3), HATF_OK);
		for (unsigned i = 0; i < calls; i++)
			ck_assert_uint_gt(input_read(&in, buf, sizeof(buf)), 0);
		input_fini(&in);
		close(fd);
	}
	hand_fini(&want);
	hand_fini(&file);
}
END_TEST

/* The writer waits until its last data has been read before it writes more. */
START_TEST(available_data_is_returned_at_once)
{
	for (unsigned jobs = 0; jobs <= 2; jobs++) {
		struct hand want = { 0 };
		uint8_t buf[2000];
		struct input in;
		int fds[2];

		make_bytes(&want, 20000);
		ck_assert_int_eq(pipe(fds), 0);
		for (size_t from = 0; from < want.used; from += 1000) {
			struct hand member = { 0 };
			size_t got = 0;

			hand_member(&member, want.bytes + from, 1000, 0);
			ck_assert_int_eq(
				write(fds[1], member.bytes, member.used),
				(ssize_t)member.used);
			if (from == 0)
				ck_assert_int_eq(input_init(&in, fds[0], jobs),
						 HATF_OK);
			while (got < 1000)
				got += input_read(&in, buf + got, 2000 - got);
			ck_assert_uint_eq(got, 1000);
			ck_assert_mem_eq(buf, want.bytes + from, 1000);
			hand_fini(&member);
		}
		close(fds[1]);
		ck_assert_uint_eq(input_read(&in, buf, 2000), 0);
		ck_assert_int_eq(in.status, HATF_END);
		input_fini(&in);
		close(fds[0]);
		hand_fini(&want);
	}
}
END_TEST

START_TEST(damage_is_found_after_the_bytes_before_it)
{
	struct hand want = { 0 }, file = { 0 };
	size_t nbytes;

	make_bytes(&want, 1000);
	hand_gzip(&file, want.bytes, want.used);
	/* CRC and length are the last 8 bytes. */
	for (size_t i = file.used - 8; i < file.used; i++) {
		file.bytes[i] ^= 1;
		ck_assert_int_eq(read_bytes(&file, 100, &want, &nbytes),
				 HATF_BAD_COMPRESSION);
		ck_assert_uint_eq(nbytes, want.used);
		file.bytes[i] ^= 1;
	}
	file.bytes[2] = 9; /* a method that does not exist */
	ck_assert_int_eq(read_bytes(&file, 100, &want, &nbytes),
			 HATF_BAD_COMPRESSION);
	ck_assert_uint_eq(nbytes, 0);
	hand_fini(&want);
	hand_fini(&file);
}
END_TEST

START_TEST(what_follows_a_member_must_be_a_member)
{
	static const char *const tails[] = { "x", "\0", "\x1e\x8b\x08",
					     "\x1f\x8c\x08" };
	struct hand want = { 0 }, member = { 0 };
	size_t nbytes;

	make_bytes(&want, 1000);
	hand_gzip(&member, want.bytes, want.used);
	for (size_t i = 0; i < COUNT(tails); i++) {
		struct hand file = { 0 };

		hand_bytes(&file, member.bytes, member.used);
		hand_bytes(&file, tails[i],
			   tails[i][0] == '\0' ? 1 : strlen(tails[i]));
		ck_assert_int_eq(read_bytes(&file, 4096, &want, &nbytes),
				 HATF_BAD_COMPRESSION);
		ck_assert_uint_eq(nbytes, want.used);
		hand_fini(&file);
	}
	hand_fini(&want);
	hand_fini(&member);
}
END_TEST

struct feeder {
	int fd;
	const struct hand *file;
};

/* Write byte by byte, so that the reader often finds the pipe empty. */
static void *
feed(void *arg)
{
	const struct feeder *const f = arg;

	for (size_t i = 0; i < f->file->used; i++) {
		ck_assert_int_eq(write(f->fd, f->file->bytes + i, 1), 1);
		if (i % 64 == 0)
			usleep(100);
	}
	close(f->fd);
	return NULL;
}

static void
try_pipe(const struct hand *file, const struct hand *want, int flags,
	 unsigned jobs)
{
	pthread_t thread;
	size_t nbytes;
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(fcntl(fds[0], F_SETFL, flags), 0);

	struct feeder f = { fds[1], file };

	ck_assert_int_eq(pthread_create(&thread, NULL, feed, &f), 0);
	ck_assert_int_eq(read_all(fds[0], jobs, 4096, want, &nbytes), HATF_END);
	ck_assert_uint_eq(nbytes, want->used);
	pthread_join(thread, NULL);
	close(fds[0]);
}

START_TEST(a_pipe_is_waited_for)
{
	struct hand want = { 0 }, file = { 0 };

	make_bytes(&want, 3000);
	hand_gzip(&file, want.bytes, 1000);
	hand_gzip(&file, want.bytes + 1000, 2000);
	for (unsigned jobs = 0; jobs <= 2; jobs++) {
		try_pipe(&want, &want, 0, jobs);
		try_pipe(&file, &want, 0, jobs);
		try_pipe(&want, &want, O_NONBLOCK, jobs);
		try_pipe(&file, &want, O_NONBLOCK, jobs);
	}
	hand_fini(&want);
	hand_fini(&file);
}
END_TEST

START_TEST(a_directory_cannot_be_read)
{
	struct input in;
	const int fd = open("/", O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(input_init(&in, fd, 0), HATF_IO);
	ck_assert_int_eq(in.sys_errno, EISDIR);
	input_fini(&in);
	close(fd);
}
END_TEST

/*
 * The count covers the data returned, not what has been read or decompressed
 * ahead.
 */
START_TEST(consumed_bytes_are_exact_with_threads)
{
	struct hand want = { 0 }, file = { 0 };
	size_t ends[21] = { 0 };
	uint8_t buf[1000];
	struct input in;
	int fd;

	make_bytes(&want, 20000);
	for (size_t i = 0; i < 20; i++) {
		hand_member(&file, want.bytes + 1000 * i, 1000, 0);
		ends[i + 1] = file.used;
	}
	file.bytes[ends[15] + 100] ^= 0xff;
	fd = hand_file(file.bytes, file.used);
	ck_assert_int_eq(input_init(&in, fd, 2), HATF_OK);
	for (size_t i = 0; i < 15; i++) {
		size_t got = 0;

		while (got < 1000)
			got += input_read(&in, buf, 1000 - got);
		ck_assert_uint_eq(input_consumed(&in), ends[i + 1]);
	}
	while (input_read(&in, buf, 1) > 0)
		ck_assert_uint_le(input_consumed(&in), ends[16]);
	ck_assert_int_eq(in.status, HATF_BAD_COMPRESSION);
	ck_assert_uint_ge(input_consumed(&in), ends[15]);
	ck_assert_uint_le(input_consumed(&in), ends[16]);
	input_fini(&in);
	close(fd);
	hand_fini(&want);
	hand_fini(&file);
}
END_TEST

START_TEST(consumed_bytes_are_exact)
{
	struct hand want = { 0 }, file = { 0 };
	uint8_t buf[1000];
	struct input in;
	int fd;

	make_bytes(&want, 2000);
	hand_gzip(&file, want.bytes, 1000);
	const size_t member = file.used;
	hand_gzip(&file, want.bytes + 1000, 1000);
	fd = hand_file(file.bytes, file.used);
	ck_assert_int_eq(input_init(&in, fd, 0), HATF_OK);
	ck_assert_uint_eq(input_consumed(&in), 0);
	for (size_t got = 0; got < 1000;)
		got += input_read(&in, buf, 1000 - got);
	ck_assert_uint_le(input_consumed(&in), member);
	ck_assert_uint_ge(input_consumed(&in), member - 8);
	while (input_read(&in, buf, sizeof(buf)) > 0)
		continue;
	ck_assert_uint_eq(input_consumed(&in), file.used);
	input_fini(&in);
	close(fd);
	hand_fini(&want);
	hand_fini(&file);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_plain_file_is_returned_unchanged,
		gzip_members_are_one_stream,
		a_header_with_every_optional_part_is_skipped,
		truncation_gives_every_byte_before_it,
		truncation_gives_output_that_exceeds_the_room,
		our_members_are_one_stream_with_any_others,
		a_member_of_any_size_is_read,
		a_wrong_length_in_a_member_is_ignored,
		damaged_members_give_what_zlib_gives,
		compression_bombs_are_refused,
		closing_early_leaks_nothing,
		available_data_is_returned_at_once,
		damage_is_found_after_the_bytes_before_it,
		what_follows_a_member_must_be_a_member,
		a_pipe_is_waited_for,
		a_directory_cannot_be_read,
		consumed_bytes_are_exact,
		consumed_bytes_are_exact_with_threads,
	};

	return hand_run("input", tests, COUNT(tests));
}
