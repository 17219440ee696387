/* SPDX-License-Identifier: MIT */
/*
 * gzip_best.c - see gzip_best.h
 *
 * A level is a level of a row of deflate_backend.h.  libdeflate allocates on its
 * own, so its row is here and not among those that the recorder may use; its
 * work area is its compressor.
 */
#include "hatf/io/gzip_best.h"

#include "hatf/deflate/deflate_backend.h"

#include <stdlib.h>

#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

/* The levels before it are those of deflate.h. */
#define LIBDEFLATE_FIRST 10

struct gzip_best {
	int level;
	const struct deflate_backend *by; /* NULL: deflate.h's choice */
	void *work;
};

#ifdef HAVE_LIBDEFLATE
static size_t
compress_libdeflate(int level, void *work, const uint8_t *in, size_t in_nbytes,
		    uint8_t *out, size_t out_cap)
{
	(void)level;
	return libdeflate_deflate_compress(work, in, in_nbytes, out, out_cap);
}

static uint32_t
crc32_libdeflate(const uint8_t *in, size_t in_nbytes)
{
	return libdeflate_crc32(0, in, in_nbytes);
}

static const struct deflate_backend squeeze_libdeflate = {
	.name = "libdeflate",
	.compress = compress_libdeflate,
	.crc32 = crc32_libdeflate,
};

static bool
open_libdeflate(struct gzip_best *s)
{
	static const int levels[] = { 6, 10, 12 };

	s->by = &squeeze_libdeflate;
	s->work = libdeflate_alloc_compressor(
		levels[s->level - LIBDEFLATE_FIRST]);
	return s->work != NULL;
}
#endif

static bool
open_level(struct gzip_best *s)
{
#ifdef HAVE_LIBDEFLATE
	if (s->level >= LIBDEFLATE_FIRST)
		return open_libdeflate(s);
#endif
	if (s->level > DEFLATE_LEVEL_ZLIB_MAX)
		s->level = DEFLATE_LEVEL_ZLIB_MAX;
	deflate_load();
	s->work = aligned_alloc(64,
				(deflate_work_nbytes(s->level) + 63) / 64 * 64);
	return s->work != NULL;
}

struct gzip_best *
gzip_best_open(int level)
{
	struct gzip_best *const s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->level = level;
	if (open_level(s))
		return s;
	free(s);
	return NULL;
}

size_t
gzip_best_member(struct gzip_best *s, const uint8_t *in, size_t in_nbytes,
		 uint8_t *out, size_t out_cap)
{
	if (s->by == NULL)
		return deflate_member(s->level, s->work, in, in_nbytes, out,
				      out_cap);
	return deflate_member_by(s->by, s->level, s->work, in, in_nbytes, out,
				 out_cap);
}

void
gzip_best_close(struct gzip_best *s)
{
	if (s == NULL)
		return;
#ifdef HAVE_LIBDEFLATE
	if (s->by == &squeeze_libdeflate)
		libdeflate_free_compressor(s->work);
	else
#endif
		free(s->work);
	free(s);
}
