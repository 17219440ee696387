/* SPDX-License-Identifier: MIT */
/*
 * hand.h - hand-made traces, and places to put them
 *
 * A builder that writes exactly the given bytes, so that tests of the reader do
 * not depend on the library's encoder; gzip members; copies that end at an
 * unmapped page, where reading one byte too many crashes; files and pipes with
 * given bytes.
 */
#ifndef TESTS_HAND_H
#define TESTS_HAND_H

#include "tests/unit/support/checks.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define ZLIB_CONST /* next_in points to const */
#include <zlib.h>

struct hand {
	uint8_t *bytes;
	size_t used, cap;
};

static inline void
hand_bytes(struct hand *h, const void *bytes, size_t nbytes)
{
	if (nbytes > h->cap - h->used) {
		h->cap = 2 * (h->used + nbytes);
		h->bytes = realloc(h->bytes, h->cap);
		ck_assert_ptr_nonnull(h->bytes);
	}
	if (nbytes != 0)
		memcpy(h->bytes + h->used, bytes, nbytes);
	h->used += nbytes;
}

/* Append a big-endian number. */
static inline void
hand_put(struct hand *h, uint64_t n, unsigned nbytes)
{
	while (nbytes-- > 0) {
		const uint8_t byte = (uint8_t)(n >> (8 * nbytes));

		hand_bytes(h, &byte, 1);
	}
}

static inline void
hand_comment(struct hand *h, const char *text)
{
	hand_put(h, 10, 1);
	hand_put(h, strlen(text), 2);
	hand_bytes(h, text, strlen(text));
}

static inline void
hand_width(struct hand *h, unsigned field, unsigned width)
{
	hand_put(h, 0x0b01, 2);
	hand_put(h, field, 1);
	hand_put(h, width, 1);
}

/* 'count' values of 8 bytes follow the interpretation. */
static inline void
hand_interpretation(struct hand *h, unsigned field, unsigned interpretation,
		    unsigned count, uint64_t value, uint64_t stride)
{
	hand_put(h, 0x0b02, 2);
	hand_put(h, field, 1);
	hand_put(h, interpretation, 1);
	if (count > 0)
		hand_put(h, value, 8);
	if (count > 1)
		hand_put(h, stride, 8);
}

/* Append an alloc or free in the standard configuration. */
static inline void
hand_alloc(struct hand *h, uint64_t size, uint64_t address)
{
	hand_put(h, 0, 1);
	hand_put(h, size, 4);
	hand_put(h, address, 4);
}

static inline void
hand_free(struct hand *h, uint64_t address)
{
	hand_put(h, 1, 1);
	hand_put(h, address, 4);
}

static inline void
hand_realloc(struct hand *h, unsigned tag, uint64_t size, uint64_t old_address,
	     uint64_t address)
{
	hand_put(h, tag, 1);
	hand_put(h, size, 4);
	hand_put(h, old_address, 4);
	hand_put(h, address, 4);
}

static inline void
hand_fini(struct hand *h)
{
	free(h->bytes);
	memset(h, 0, sizeof(*h));
}

/* Append 'nbytes' at 'bytes' as one gzip member. */
static inline void
hand_gzip(struct hand *h, const uint8_t *bytes, size_t nbytes)
{
	z_stream z = { 0 };
	uint8_t *const out = malloc(nbytes + 1000);
	uint8_t *in = malloc(nbytes + 1);

	ck_assert(out != NULL && in != NULL);
	if (nbytes != 0)
		memcpy(in, bytes, nbytes);
	ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8,
				      Z_DEFAULT_STRATEGY),
			 Z_OK);
	z.next_in = in;
	z.avail_in = (uInt)nbytes;
	z.next_out = out;
	z.avail_out = (uInt)(nbytes + 1000);
	ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	hand_bytes(h, out, z.total_out);
	deflateEnd(&z);
	free(in);
	free(out);
}

/*
 * Append 'nbytes' at 'bytes' as one member in the form of FORMAT "Compression",
 * but with 'lie' added to its stated length.
 */
static inline void
hand_member(struct hand *h, const uint8_t *bytes, size_t nbytes, int lie)
{
	static const uint8_t header[] = { 0x1f, 0x8b, 8, 4, 0,	 0,   0, 0,
					  0,	0xff, 8, 0, 'H', 'T', 4, 0 };
	const size_t start = h->used;
	struct hand gzip = { 0 };

	hand_gzip(&gzip, bytes, nbytes);
	hand_bytes(h, header, sizeof(header));
	hand_put(h, 0, 4);
	hand_bytes(h, gzip.bytes + 10, gzip.used - 10);

	const size_t length = h->used - start + (size_t)lie;

	for (unsigned i = 0; i < 4; i++)
		h->bytes[start + 16 + i] = (uint8_t)(length >> 8 * i);
	free(gzip.bytes);
}

/* A copy of bytes; the page after it is unmapped. */
struct guarded {
	uint8_t *map, *bytes;
	size_t map_nbytes;
};

static inline void
guard(struct guarded *g, const uint8_t *bytes, size_t nbytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t used = (nbytes + page - 1) / page * page;

	g->map_nbytes = used + page;
	g->map = mmap(NULL, g->map_nbytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(g->map, MAP_FAILED);
	ck_assert_int_eq(mprotect(g->map + used, page, PROT_NONE), 0);
	g->bytes = g->map + used - nbytes;
	if (nbytes != 0)
		memcpy(g->bytes, bytes, nbytes);
}

static inline void
unguard(struct guarded *g)
{
	munmap(g->map, g->map_nbytes);
}

/* Return a descriptor of a nameless file with these bytes, at its beginning. */
static inline int
hand_file(const uint8_t *bytes, size_t nbytes)
{
	const int fd = memfd_create("hand", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	while (nbytes > 0) {
		const ssize_t n = write(fd, bytes, nbytes);

		ck_assert_int_gt(n, 0);
		bytes += n;
		nbytes -= (size_t)n;
	}
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* Run the tests of one case. */
static inline int
hand_run(const char *name, const TTest *const *tests, size_t count)
{
	Suite *const suite = suite_create(name);
	TCase *const tcase = tcase_create(name);
	SRunner *runner;
	int failed;

	/* Sanitizers are slow. */
	tcase_set_timeout(tcase, 120);
	for (size_t i = 0; i < count; i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif /* TESTS_HAND_H */
