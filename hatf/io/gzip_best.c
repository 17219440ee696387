/* SPDX-License-Identifier: MIT */
/*
 * gzip_best.c - see gzip_best.h
 *
 * A level of gzip_best.h selects a backend (deflate_backend.h) and one of the
 * backend's levels.  The backend for libdeflate is here, not in hatf/deflate,
 * because libdeflate calls malloc().  The recorder uses hatf/deflate, and must
 * not call malloc().  For this backend, 'work' is libdeflate's compressor.
 */
#include "hatf/io/gzip_best.h"

#include "hatf/deflate/deflate_backend.h"

#include <stdlib.h>

#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

/*
 * The first level that uses libdeflate.  Lower levels are those of deflate.h.
 */
#define LIBDEFLATE_FIRST 10

struct gzip_best {
	int level;
	/* backend of this level; NULL: deflate.h selects it */
	const struct deflate_backend *backend;
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

static const struct deflate_backend libdeflate_backend = {
	.name = "libdeflate",
	.compress = compress_libdeflate,
	.crc32 = crc32_libdeflate,
};

static bool
open_libdeflate(struct gzip_best *g)
{
	static const int levels[] = { 6, 10, 12 };

	g->backend = &libdeflate_backend;
	g->work = libdeflate_alloc_compressor(
		levels[g->level - LIBDEFLATE_FIRST]);
	return g->work != NULL;
}
#endif

static bool
open_level(struct gzip_best *g)
{
#ifdef HAVE_LIBDEFLATE
	if (g->level >= LIBDEFLATE_FIRST)
		return open_libdeflate(g);
#endif
	if (g->level > DEFLATE_LEVEL_ZLIB_MAX)
		g->level = DEFLATE_LEVEL_ZLIB_MAX;
	deflate_load();
	g->work = aligned_alloc(64,
				(deflate_work_nbytes(g->level) + 63) / 64 * 64);
	return g->work != NULL;
}

struct gzip_best *
gzip_best_open(int level)
{
	struct gzip_best *const g = calloc(1, sizeof(*g));

	if (g == NULL)
		return NULL;
	g->level = level;
	if (open_level(g))
		return g;
	free(g);
	return NULL;
}

size_t
gzip_best_member(struct gzip_best *g, const uint8_t *in, size_t in_nbytes,
		 uint8_t *out, size_t out_cap)
{
	if (g->backend == NULL)
		return deflate_member(g->level, g->work, in, in_nbytes, out,
				      out_cap);
	return deflate_member_by(g->backend, g->level, g->work, in, in_nbytes,
				 out, out_cap);
}

void
gzip_best_close(struct gzip_best *g)
{
	if (g == NULL)
		return;
#ifdef HAVE_LIBDEFLATE
	if (g->backend == &libdeflate_backend)
		libdeflate_free_compressor(g->work);
	else
#endif
		free(g->work);
	free(g);
}
