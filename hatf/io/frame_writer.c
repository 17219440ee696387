/* SPDX-License-Identifier: MIT */
/* frame_writer.c - see frame_writer.h */
#include "hatf/io/frame_writer.h"

#include <stdlib.h>

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef HAVE_LZ4
#include <lz4frame.h>
#endif

/*
 * Maximum input of one call of lz4.  The call's output, which may include data
 * that lz4 has buffered in earlier calls, then fits into
 * FRAME_WRITER_ROOM_NBYTES.
 */
#define LZ4_CHUNK_NBYTES ((size_t)32 * 1024)

struct frame_writer {
	enum frame_kind kind;
	bool begun; /* lz4: the header of the frame has been written */
	int level;
#ifdef HAVE_ZSTD
	ZSTD_CCtx *zstd;
#endif
#ifdef HAVE_LZ4
	LZ4F_cctx *lz4;
#endif
};

/* --------------------------------------------------------------------- zstd */

#ifdef HAVE_ZSTD
static enum hatf_status
open_zstd(struct frame_writer *w)
{
	w->zstd = ZSTD_createCCtx();
	if (w->zstd == NULL)
		return HATF_NO_MEMORY;
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, w->level);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
	return HATF_OK;
}

static size_t
put_zstd(struct frame_writer *w, const uint8_t **next, const uint8_t *end,
	 uint8_t *to, ZSTD_EndDirective directive, bool *more_ret,
	 enum hatf_status *status_ret)
{
	ZSTD_inBuffer in = { *next, (size_t)(end - *next), 0 };
	ZSTD_outBuffer out = { to, FRAME_WRITER_ROOM_NBYTES, 0 };
	const size_t left = ZSTD_compressStream2(w->zstd, &out, &in, directive);

	*more_ret = false;
	if (ZSTD_isError(left)) {
		*status_ret = HATF_NO_MEMORY;
		*next = end;
		return 0;
	}
	*next += in.pos;
	*more_ret = left != 0;
	return out.pos;
}
#endif

/* ---------------------------------------------------------------------- lz4 */

#ifdef HAVE_LZ4
static enum hatf_status
open_lz4(struct frame_writer *w)
{
	return LZ4F_isError(
		       LZ4F_createCompressionContext(&w->lz4, LZ4F_VERSION))
		       ? HATF_NO_MEMORY
		       : HATF_OK;
}

/*
 * If the header of the frame is not yet written, write it.  Return the number
 * of bytes written, or an error code of lz4.
 */
static size_t
begin_lz4(struct frame_writer *w, uint8_t *to)
{
	const LZ4F_preferences_t preferences = {
		.frameInfo = { .blockSizeID = LZ4F_max64KB,
			       .contentChecksumFlag =
				       LZ4F_contentChecksumEnabled },
		.compressionLevel = w->level,
	};

	if (w->begun)
		return 0;
	w->begun = true;
	return LZ4F_compressBegin(w->lz4, to, FRAME_WRITER_ROOM_NBYTES,
				  &preferences);
}

static size_t
put_lz4(struct frame_writer *w, const uint8_t **next, const uint8_t *end,
	uint8_t *to, bool ends, enum hatf_status *status_ret)
{
	const size_t left = (size_t)(end - *next);
	const size_t n = left < LZ4_CHUNK_NBYTES ? left : LZ4_CHUNK_NBYTES;
	const size_t head = begin_lz4(w, to);
	size_t body = 0;

	if (!LZ4F_isError(head) && ends)
		body = LZ4F_compressEnd(w->lz4, to + head,
					FRAME_WRITER_ROOM_NBYTES - head, NULL);
	else if (!LZ4F_isError(head))
		body = LZ4F_compressUpdate(w->lz4, to + head,
					   FRAME_WRITER_ROOM_NBYTES - head,
					   *next, n, NULL);
	if (LZ4F_isError(head) || LZ4F_isError(body)) {
		*status_ret = HATF_NO_MEMORY;
		*next = end;
		return 0;
	}
	*next += n;
	return head + body;
}
#endif

/* --------------------------------------------------------------------- both */

static enum hatf_status
open_library(struct frame_writer *w)
{
	switch (w->kind) {
#ifdef HAVE_ZSTD
	case FRAME_ZSTD:
		return open_zstd(w);
#endif
#ifdef HAVE_LZ4
	case FRAME_LZ4:
		return open_lz4(w);
#endif
	default:
		return HATF_NO_LIBRARY;
	}
}

enum hatf_status
frame_writer_open(enum frame_kind kind, int level,
		  struct frame_writer **writer_ret)
{
	struct frame_writer *const w = calloc(1, sizeof(*w));
	enum hatf_status status;

	if (w == NULL)
		return HATF_NO_MEMORY;
	w->kind = kind;
	w->level = level;
	status = open_library(w);
	if (status == HATF_OK)
		*writer_ret = w;
	else
		frame_writer_close(w);
	return status;
}

void
frame_writer_close(struct frame_writer *w)
{
	if (w == NULL)
		return;
#ifdef HAVE_ZSTD
	ZSTD_freeCCtx(w->zstd);
#endif
#ifdef HAVE_LZ4
	LZ4F_freeCompressionContext(w->lz4);
#endif
	free(w);
}

size_t
frame_writer_put(struct frame_writer *w, const uint8_t **next,
		 const uint8_t *end, uint8_t *to, enum hatf_status *status_ret)
{
	bool more = false;

	(void)more;
	switch (w->kind) {
#ifdef HAVE_ZSTD
	case FRAME_ZSTD:
		return put_zstd(w, next, end, to, ZSTD_e_continue, &more,
				status_ret);
#endif
#ifdef HAVE_LZ4
	case FRAME_LZ4:
		return put_lz4(w, next, end, to, false, status_ret);
#endif
	default:
		(void)to;
		*next = end;
		*status_ret = HATF_NO_LIBRARY;
		return 0;
	}
}

size_t
frame_writer_end(struct frame_writer *w, uint8_t *to, bool *more_ret,
		 enum hatf_status *status_ret)
{
	const uint8_t *nothing = to;

	*more_ret = false;
	switch (w->kind) {
#ifdef HAVE_ZSTD
	case FRAME_ZSTD:
		return put_zstd(w, &nothing, nothing, to, ZSTD_e_end, more_ret,
				status_ret);
#endif
#ifdef HAVE_LZ4
	case FRAME_LZ4:
		return put_lz4(w, &nothing, nothing, to, true, status_ret);
#endif
	default:
		(void)nothing;
		*status_ret = HATF_NO_LIBRARY;
		return 0;
	}
}
