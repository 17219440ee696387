/* SPDX-License-Identifier: MIT */
/*
 * test_input.c
 *
 * What comes out of a file, a pipe, or gzip members in either must be the bytes
 * that went in.  A compressed file that is cut off at any byte must still give
 * every byte that inflate() can know, and then say that it is cut off; anything
 * else that is wrong with it must show, and show again when asked again.
 */
#include "hand.h"
#include "input.h"

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
 * Read 'fd' to its end in pieces of 'piece' bytes; the result must be the first
 * '*nbytes_ret' of 'want'.  Returns the final status.
 */
static enum hatf_status
read_all(int fd, size_t piece, const struct hand *want, size_t *nbytes_ret)
{
	struct input in;
	uint8_t *const buf = malloc(piece);
	size_t used = 0, got;
	enum hatf_status status = input_init(&in, fd);

	ck_assert_ptr_nonnull(buf);
	while (status == HATF_OK && (got = input_read(&in, buf, piece)) > 0) {
		ck_assert_uint_le(got, piece);
		ck_assert_uint_le(used + got, want->used);
		ck_assert_mem_eq(buf, want->bytes + used, got);
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

static enum hatf_status
read_bytes(const struct hand *file, size_t piece, const struct hand *want,
	   size_t *nbytes_ret)
{
	const int fd = hand_file(file->bytes, file->used);
	const enum hatf_status status = read_all(fd, piece, want, nbytes_ret);

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

START_TEST(a_plain_file_is_handed_through)
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

START_TEST(a_header_with_every_optional_part_is_stepped_over)
{
	/* FHCRC is left out: its value depends on the rest. */
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

/* How many bytes come out of inflate() when it is fed 'nbytes' one by one. */
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

START_TEST(a_cut_gives_every_byte_before_it)
{
	struct hand want = { 0 }, file = { 0 };
	size_t member, nbytes;

	make_bytes(&want, 3000);
	hand_gzip(&file, want.bytes, 1000);
	member = file.used;
	hand_gzip(&file, want.bytes + 1000, 2000);
	for (size_t cut = 2; cut < file.used; cut++) {
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
END_TEST

/* One match of deflate is up to 258 bytes: they may have to wait for room. */
START_TEST(a_cut_gives_output_that_has_to_wait_for_room)
{
	struct hand want = { 0 }, file = { 0 };
	size_t nbytes;

	for (int i = 0; i < 20000; i++)
		hand_put(&want, 0, 1);
	hand_gzip(&file, want.bytes, want.used);
	for (size_t cut = 2; cut < file.used; cut++) {
		const struct hand part = { file.bytes, cut, cut };

		ck_assert_int_eq(read_bytes(&part, 10, &want, &nbytes),
				 HATF_TRUNCATED);
		ck_assert_uint_eq(nbytes, knowable(file.bytes, cut));
	}
	hand_fini(&want);
	hand_fini(&file);
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

/* Write byte by byte, so that the reader finds the pipe empty again and again. */
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
try_pipe(const struct hand *file, const struct hand *want, int flags)
{
	pthread_t thread;
	size_t nbytes;
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(fcntl(fds[0], F_SETFL, flags), 0);

	struct feeder f = { fds[1], file };

	ck_assert_int_eq(pthread_create(&thread, NULL, feed, &f), 0);
	ck_assert_int_eq(read_all(fds[0], 4096, want, &nbytes), HATF_END);
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
	try_pipe(&want, &want, 0);
	try_pipe(&file, &want, 0);
	try_pipe(&want, &want, O_NONBLOCK);
	try_pipe(&file, &want, O_NONBLOCK);
	hand_fini(&want);
	hand_fini(&file);
}
END_TEST

START_TEST(a_directory_cannot_be_read)
{
	struct input in;
	const int fd = open("/", O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(input_init(&in, fd), HATF_IO);
	ck_assert_int_eq(in.sys_errno, EISDIR);
	input_fini(&in);
	close(fd);
}
END_TEST

START_TEST(it_knows_how_much_of_the_file_it_has_used)
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
	ck_assert_int_eq(input_init(&in, fd), HATF_OK);
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
		a_plain_file_is_handed_through,
		gzip_members_are_one_stream,
		a_header_with_every_optional_part_is_stepped_over,
		a_cut_gives_every_byte_before_it,
		a_cut_gives_output_that_has_to_wait_for_room,
		damage_is_found_after_the_bytes_before_it,
		what_follows_a_member_must_be_a_member,
		a_pipe_is_waited_for,
		a_directory_cannot_be_read,
		it_knows_how_much_of_the_file_it_has_used,
	};

	return hand_run("input", tests, COUNT(tests));
}
