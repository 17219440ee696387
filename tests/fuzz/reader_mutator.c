/* SPDX-License-Identifier: MIT */
/*
 * reader_mutator.c - see reader_mutator.h
 */
#include "reader_mutator.h"

#include "hatf/deflate/deflate.h"

#define ZLIB_CONST /* next_in points to const */
#include <string.h>
#include <zlib.h>

#define INNER_MAX (64 * 1024)

/* libFuzzer defines it; other engines never call the hook. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t nbytes, size_t cap)
	__attribute__((weak));

static uint8_t inner[INNER_MAX];
static uint8_t work[512 * 1024] __attribute__((aligned(64)));

bool
is_gzip(const uint8_t *bytes, size_t nbytes)
{
	return nbytes >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

size_t
mutator_inflate(const uint8_t *data, size_t nbytes, uint8_t *out, size_t cap)
{
	z_stream z = { .next_in = data, .avail_in = (uInt)nbytes };
	size_t used;

	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		return 0;
	z.next_out = out;
	z.avail_out = (uInt)cap;
	while (z.avail_in > 0 && z.avail_out > 0 &&
	       inflate(&z, Z_SYNC_FLUSH) == Z_STREAM_END &&
	       is_gzip(z.next_in, z.avail_in))
		if (inflateReset(&z) != Z_OK)
			break;
	used = cap - z.avail_out;
	inflateEnd(&z);
	return used;
}

/* Make one to four members of about the same size; 0 if they do not fit. */
static size_t
deflate_all(size_t nbytes, uint8_t *data, size_t cap, unsigned seed)
{
	static uint8_t member[2 * INNER_MAX];
	const size_t piece = nbytes / (1 + seed % 4) + 1;
	const int level = seed & 4 ? DEFLATE_LEVEL_STORED : 1;
	size_t used = 0;

	for (size_t from = 0; from < nbytes; from += piece) {
		const size_t n = nbytes - from < piece ? nbytes - from : piece;
		const size_t got = deflate_member(level, work, inner + from, n,
						  member, sizeof(member));

		if (got > cap - used)
			return 0;
		memcpy(data + used, member, got);
		used += got;
	}
	return used;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t nbytes, size_t cap, unsigned seed)
{
	size_t used = 0;

	if (is_gzip(data, nbytes) && seed % 8 != 0)
		used = mutator_inflate(data, nbytes, inner, INNER_MAX);
	if (used > 0) {
		used = LLVMFuzzerMutate(inner, used, INNER_MAX);
		used = deflate_all(used, data, cap, seed >> 3);
	}
	return used > 0 ? used : LLVMFuzzerMutate(data, nbytes, cap);
}
