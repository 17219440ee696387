/* SPDX-License-Identifier: MIT */
/*
 * frame_reader.c - see frame_reader.h
 *
 * Each library has a function that takes some input and some room for output.
 * This function returns how much input it needs next, or 0 at the end of a
 * frame.  If the function fails, it does not say how much output it stored
 * before the error, and this output is lost.  So this file never passes more
 * input than the function needs next, which is at most one block.
 */
#include "hatf/io/frame_reader.h"

#include "hatf/codec/bytes.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif
#ifdef HAVE_LZ4
#include <lz4frame.h>
#endif

/* The first four bytes of a frame, in the order of the file. */
#define ZSTD_MAGIC 0x28b52ffdu
#define LZ4_MAGIC  0x04224d18u

/*
 * RFC 8878: a skippable frame starts with a byte from 0x50 to 0x5f, these three
 * bytes, and its length.
 */
#define SKIP_MAGIC_TAIL	   0x2a4d18u
#define SKIP_HEADER_NBYTES 8

/*
 * The library first gets this many bytes of a frame, and then says how many
 * more bytes the header has.
 */
#define FIRST_NBYTES 5

struct frame_reader {
	enum frame_kind kind;
	bool inside;	      /* a frame has begun and has not ended */
	size_t needed_nbytes; /* input that the library needs next, in bytes */
#ifdef HAVE_ZSTD
	ZSTD_DStream *zstd;
#endif
#ifdef HAVE_LZ4
	LZ4F_dctx *lz4;
#endif
};

/*
 * No HATF stream begins like a frame of zstd.  But a HATF stream may begin with
 * a reallocAlloc (tag 4) whose tag and size have the bytes of lz4's magic
 * number.  In this case, bytes[5] shows whether the data is a HATF stream or a
 * frame of lz4: in a reallocAlloc, this byte belongs to the old address, which
 * is 0; in a frame of lz4, it has the block size, which is not 0.
 */
static bool
is_lz4(const uint8_t *bytes, size_t nbytes)
{
	return nbytes >= 6 && get_be32(bytes) == LZ4_MAGIC &&
	       bytes[4] >> 6 == 1 && (bytes[5] & 0x8f) == 0 && bytes[5] >= 0x40;
}

static bool
is_skipped(const uint8_t *bytes, size_t nbytes)
{
	return nbytes >= 4 && bytes[0] >> 4 == 5 &&
	       (get_be32(bytes) & 0xffffff) == SKIP_MAGIC_TAIL;
}

enum frame_kind
frame_kind_recognize(const uint8_t *bytes, size_t nbytes)
{
	if (is_skipped(bytes, nbytes) ||
	    (nbytes >= 4 && get_be32(bytes) == ZSTD_MAGIC))
		return FRAME_ZSTD;
	return is_lz4(bytes, nbytes) ? FRAME_LZ4 : FRAME_NONE;
}

uint64_t
frame_skip_nbytes(const uint8_t *bytes, size_t nbytes)
{
	if (nbytes < SKIP_HEADER_NBYTES || !is_skipped(bytes, nbytes))
		return 0;
	return (uint64_t)SKIP_HEADER_NBYTES + get_le32(bytes + 4);
}

const char *
frame_kind_name(enum frame_kind kind)
{
	static const char *const names[] = { NULL, "zstd", "lz4" };

	return names[kind];
}

/* --------------------------------------------------------------------- zstd */

#ifdef HAVE_ZSTD
static enum hatf_status
open_zstd(struct frame_reader *f)
{
	f->zstd = ZSTD_createDStream();
	if (f->zstd == NULL)
		return HATF_NO_MEMORY;
	ZSTD_DCtx_setParameter(f->zstd, ZSTD_d_windowLogMax,
			       FRAME_WINDOW_LOG_MAX);
	return HATF_OK;
}

static enum hatf_status
zstd_status(size_t code)
{
	switch (ZSTD_getErrorCode(code)) {
	case ZSTD_error_frameParameter_windowTooLarge:
		return HATF_LIMIT;
	case ZSTD_error_memory_allocation:
		return HATF_NO_MEMORY;
	default:
		return HATF_BAD_COMPRESSION;
	}
}

/*
 * Call the library once.  Store the number of consumed bytes in '*in_nbytes',
 * and the number of produced bytes in '*room'.
 */
static enum hatf_status
step_zstd(struct frame_reader *f, const uint8_t *in, size_t *in_nbytes,
	  uint8_t *to, size_t *room)
{
	ZSTD_inBuffer input = { in, *in_nbytes, 0 };
	ZSTD_outBuffer output = { to, *room, 0 };
	const size_t needed = ZSTD_decompressStream(f->zstd, &output, &input);

	if (ZSTD_isError(needed))
		return zstd_status(needed);
	*in_nbytes = input.pos;
	*room = output.pos;
	f->needed_nbytes = needed;
	return HATF_OK;
}
#endif

/* ---------------------------------------------------------------------- lz4 */

#ifdef HAVE_LZ4
static enum hatf_status
open_lz4(struct frame_reader *f)
{
	return LZ4F_isError(
		       LZ4F_createDecompressionContext(&f->lz4, LZ4F_VERSION))
		       ? HATF_NO_MEMORY
		       : HATF_OK;
}

static enum hatf_status
step_lz4(struct frame_reader *f, const uint8_t *in, size_t *in_nbytes,
	 uint8_t *to, size_t *room)
{
	const size_t needed =
		LZ4F_decompress(f->lz4, to, room, in, in_nbytes, NULL);

	if (LZ4F_isError(needed))
		return strstr(LZ4F_getErrorName(needed), "allocation") != NULL
			       ? HATF_NO_MEMORY
			       : HATF_BAD_COMPRESSION;
	f->needed_nbytes = needed;
	return HATF_OK;
}
#endif

/* --------------------------------------------------------------------- both */

static enum hatf_status
open_library(struct frame_reader *f)
{
	switch (f->kind) {
#ifdef HAVE_ZSTD
	case FRAME_ZSTD:
		return open_zstd(f);
#endif
#ifdef HAVE_LZ4
	case FRAME_LZ4:
		return open_lz4(f);
#endif
	default:
		return HATF_NO_LIBRARY;
	}
}

enum hatf_status
frame_reader_open(enum frame_kind kind, struct frame_reader **reader_ret)
{
	struct frame_reader *const f = calloc(1, sizeof(*f));
	enum hatf_status status;

	if (f == NULL)
		return HATF_NO_MEMORY;
	f->kind = kind;
	f->needed_nbytes = FIRST_NBYTES;
	status = open_library(f);
	if (status == HATF_OK)
		*reader_ret = f;
	else
		frame_reader_close(f);
	return status;
}

void
frame_reader_close(struct frame_reader *f)
{
	if (f == NULL)
		return;
#ifdef HAVE_ZSTD
	ZSTD_freeDStream(f->zstd);
#endif
#ifdef HAVE_LZ4
	LZ4F_freeDecompressionContext(f->lz4);
#endif
	free(f);
}

static enum hatf_status
step(struct frame_reader *f, const uint8_t *in, size_t *in_nbytes, uint8_t *to,
     size_t *room)
{
	switch (f->kind) {
#ifdef HAVE_ZSTD
	case FRAME_ZSTD:
		return step_zstd(f, in, in_nbytes, to, room);
#endif
#ifdef HAVE_LZ4
	case FRAME_LZ4:
		return step_lz4(f, in, in_nbytes, to, room);
#endif
	default:
		(void)in;
		(void)to;
		*in_nbytes = *room = 0;
		return HATF_NO_LIBRARY;
	}
}

size_t
frame_reader_read(struct frame_reader *f, const uint8_t **next,
		  const uint8_t *end, uint8_t *to, size_t room,
		  enum hatf_status *status_ret)
{
	*status_ret = HATF_OK;
	for (;;) {
		const size_t left = (size_t)(end - *next);
		size_t in_nbytes =
			left < f->needed_nbytes ? left : f->needed_nbytes;
		size_t got = room;

		/*
		 * Between frames, the library holds no data that it has not
		 * returned.  So without input there is nothing to return.
		 */
		if (left == 0 && !f->inside)
			return 0;
		*status_ret = step(f, *next, &in_nbytes, to, &got);
		if (*status_ret != HATF_OK)
			return 0;
		*next += in_nbytes;
		f->inside = f->needed_nbytes != 0;
		if (!f->inside)
			f->needed_nbytes = FIRST_NBYTES;
		if (got != 0 || left == 0)
			return got;
		/*
		 * There was no progress, although the library had input and
		 * room for output.  So the input is damaged.
		 */
		if (in_nbytes == 0) {
			*status_ret = HATF_BAD_COMPRESSION;
			return 0;
		}
	}
}

bool
frame_reader_is_inside(const struct frame_reader *f)
{
	return f->inside;
}
