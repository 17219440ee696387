/* SPDX-License-Identifier: MIT */
/*
 * inflate.c - see inflate.h; FORMAT "Compression" defines the form of a member
 */
#include "hatf/io/inflate.h"

#include "hatf/codec/bytes.h"

#include <stdlib.h>

enum {
	LENGTH_OFF = 16,
	TRAILER_NBYTES = 8,
};

size_t
inflate_member_nbytes(const uint8_t *p)
{
	static const uint8_t start[] = { 0x1f, 0x8b, 8, 4 };
	static const uint8_t extra[] = { 8, 0, 'H', 'T', 4, 0 };
	const size_t nbytes = get_le32(p + LENGTH_OFF);

	/*
	 * The bytes between the two compared parts are the time, the hint about
	 * the compression and the system (MTIME, XFL and OS), which may have
	 * any value.
	 */
	if (memcmp(p, start, sizeof(start)) != 0 ||
	    memcmp(p + LENGTH_OFF - sizeof(extra), extra, sizeof(extra)) != 0 ||
	    nbytes < INFLATE_HEADER_NBYTES + TRAILER_NBYTES)
		return 0;
	return nbytes;
}

size_t
inflate_data_nbytes(const uint8_t *in, size_t in_nbytes)
{
	return get_le32(in + in_nbytes - 4);
}

#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>

/*
 * The type 'struct inflate' is never defined: a pointer to it is a pointer to
 * libdeflate's own state.
 */
static struct libdeflate_decompressor *
decompressor(struct inflate *state)
{
	return (struct libdeflate_decompressor *)state;
}

struct inflate *
inflate_open(void)
{
	return (struct inflate *)libdeflate_alloc_decompressor();
}

void
inflate_close(struct inflate *state)
{
	libdeflate_free_decompressor(decompressor(state));
}

/*
 * Decompress raw deflate data.  Return true if the data ends exactly at the end
 * of 'in' and fills exactly 'out'.
 */
static bool
inflate_raw(struct inflate *state, const uint8_t *in, size_t in_nbytes,
	    uint8_t *out, size_t out_nbytes)
{
	size_t in_used;

	/*
	 * The last argument could receive the length of the output.  Because it
	 * is NULL, libdeflate fails unless the output has exactly 'out_nbytes'
	 * bytes.
	 */
	return libdeflate_deflate_decompress_ex(
		       decompressor(state), in, in_nbytes, out, out_nbytes,
		       &in_used, NULL) == LIBDEFLATE_SUCCESS &&
	       in_used == in_nbytes;
}

static uint32_t
crc32_of(const uint8_t *bytes, size_t nbytes)
{
	return libdeflate_crc32(0, bytes, nbytes);
}

const char *
inflate_name(void)
{
	return "libdeflate";
}
#else
#define ZLIB_CONST /* make zlib's next_in a pointer to const */
#include <zlib.h>

struct inflate {
	z_stream z;
};

struct inflate *
inflate_open(void)
{
	struct inflate *const state = calloc(1, sizeof(*state));

	if (state == NULL || inflateInit2(&state->z, -MAX_WBITS) == Z_OK)
		return state;
	free(state);
	return NULL;
}

void
inflate_close(struct inflate *state)
{
	if (state == NULL)
		return;
	inflateEnd(&state->z);
	free(state);
}

/*
 * Decompress raw deflate data.  Return true if the data ends exactly at the end
 * of 'in' and fills exactly 'out'.
 */
static bool
inflate_raw(struct inflate *state, const uint8_t *in, size_t in_nbytes,
	    uint8_t *out, size_t out_nbytes)
{
	z_stream *const z = &state->z;

	inflateReset(z);
	z->next_in = in;
	z->avail_in = (uInt)in_nbytes;
	z->next_out = out;
	z->avail_out = (uInt)out_nbytes;
	return inflate(z, Z_FINISH) == Z_STREAM_END && z->avail_in == 0 &&
	       z->avail_out == 0;
}

static uint32_t
crc32_of(const uint8_t *bytes, size_t nbytes)
{
	return (uint32_t)crc32_z(0, bytes, nbytes);
}

const char *
inflate_name(void)
{
	return "zlib";
}
#endif

bool
inflate_member(struct inflate *state, const uint8_t *in, size_t in_nbytes,
	       uint8_t *out, size_t out_nbytes)
{
	const uint8_t *const trailer = in + in_nbytes - TRAILER_NBYTES;

	return inflate_raw(state, in + INFLATE_HEADER_NBYTES,
			   (size_t)(trailer - in) - INFLATE_HEADER_NBYTES, out,
			   out_nbytes) &&
	       crc32_of(out, out_nbytes) == get_le32(trailer);
}
