/* SPDX-License-Identifier: MIT */
/*
 * deflate_zlib.c - the backend for zlib
 *
 * zlib allocates through 'zalloc', which hands out consecutive pieces of the
 * work area; 'zfree' frees nothing.
 */
#include "hatf/deflate/deflate_backend.h"

#define ZLIB_CONST
#include <zlib.h>

enum {
	WINDOW_BITS = 15,
	/*
	 * zlib allows 1 to 9; with this level, zlib's hash tables fit into the
	 * second-level cache
	 */
	MEM_LEVEL = 8,
	PIECE_ALIGNMENT = 64,
};

/*
 * According to zconf.h, zlib needs
 * (1 << (WINDOW_BITS + 2)) + (1 << (MEM_LEVEL + 9)) bytes.  Add 16 KiB for the
 * state of zlib and for alignment.
 */
#define WORK_NBYTES                                                          \
	(((size_t)1 << (WINDOW_BITS + 2)) + ((size_t)1 << (MEM_LEVEL + 9)) + \
	 16384)

struct arena {
	uint8_t *next;
	size_t left; /* number of unused bytes in the work area */
};

static size_t
work_nbytes(int level)
{
	(void)level;
	return WORK_NBYTES;
}

static voidpf
arena_alloc(voidpf opaque, uInt items, uInt size)
{
	struct arena *const arena = opaque;
	const size_t nbytes = ((size_t)items * size + PIECE_ALIGNMENT - 1) /
			      PIECE_ALIGNMENT * PIECE_ALIGNMENT;
	uint8_t *const piece = arena->next;

	if (nbytes > arena->left)
		return Z_NULL;
	arena->next += nbytes;
	arena->left -= nbytes;
	return piece;
}

static void
arena_free(voidpf opaque, voidpf piece)
{
	(void)opaque;
	(void)piece;
}

static size_t
compress_zlib(int level, void *work, const uint8_t *in, size_t in_nbytes,
	      uint8_t *out, size_t out_cap)
{
	/*
	 * The levels of zlib that are used for levels 1, 2 and 3 of deflate.h:
	 * the fastest, a medium one, and zlib's default.
	 */
	static const int levels[] = { 1, 3, 6 };
	const int own = level > DEFLATE_LEVEL_MAX
				? level
				: levels[level - DEFLATE_LEVEL_MIN];
	struct arena arena = { .next = work, .left = WORK_NBYTES };
	z_stream z = {
		.zalloc = arena_alloc,
		.zfree = arena_free,
		.opaque = &arena,
		.next_in = in,
		.avail_in = (uInt)in_nbytes,
		.next_out = out,
		.avail_out = (uInt)out_cap,
	};

	if (deflateInit2(&z, own, Z_DEFLATED, -WINDOW_BITS, MEM_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return 0;
	/* Do not call deflateEnd(), because it would only free memory. */
	return deflate(&z, Z_FINISH) == Z_STREAM_END ? out_cap - z.avail_out
						     : 0;
}

static uint32_t
crc32_zlib(const uint8_t *in, size_t in_nbytes)
{
	return (uint32_t)crc32_z(0, in, in_nbytes);
}

const struct deflate_backend deflate_zlib = {
	.name = "zlib",
	.work_nbytes = work_nbytes,
	.compress = compress_zlib,
	.crc32 = crc32_zlib,
};
