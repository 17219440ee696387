/* SPDX-License-Identifier: MIT */
/*
 * deflate_isal.c - Intel's isa-l behind deflate_backend.h
 *
 * isa-l allocates nothing by itself.  Its stream and its level buffer stand one
 * behind the other in the work area.
 */
#ifdef HAVE_ISAL
#include "deflate_backend.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

static const uint32_t level_buf_nbytes[] = {
	ISAL_DEF_LVL1_LARGE,
	ISAL_DEF_LVL2_LARGE,
	ISAL_DEF_LVL3_LARGE,
};

/* Keeps the level buffer as aligned as the work area. */
#define STREAM_NBYTES ((sizeof(struct isal_zstream) + 63) / 64 * 64)

static size_t
work_nbytes(int level)
{
	return STREAM_NBYTES + level_buf_nbytes[level - DEFLATE_LEVEL_MIN];
}

static size_t
compress_isal(int level, void *work, const uint8_t *in, size_t in_nbytes,
	      uint8_t *out, size_t out_cap)
{
	struct isal_zstream *const z = work;

	isal_deflate_stateless_init(z);
	z->level = (uint32_t)level;
	z->level_buf = (uint8_t *)work + STREAM_NBYTES;
	z->level_buf_size = level_buf_nbytes[level - DEFLATE_LEVEL_MIN];
	/* isa-l does not write to its input; only its type lacks the const. */
	z->next_in = (uint8_t *)(uintptr_t)in;
	z->avail_in = (uint32_t)in_nbytes;
	z->next_out = out;
	z->avail_out = (uint32_t)out_cap;
	z->end_of_stream = 1;
	z->flush = NO_FLUSH;
	if (isal_deflate_stateless(z) != COMP_OK || z->avail_in != 0)
		return 0;
	return z->total_out;
}

static uint32_t
crc32_isal(const uint8_t *in, size_t in_nbytes)
{
	return crc32_gzip_refl(0, in, in_nbytes);
}

const struct deflate_backend deflate_isal = {
	.name = "isa-l",
	.work_nbytes = work_nbytes,
	.compress = compress_isal,
	.crc32 = crc32_isal,
};
#else
/* ISO C wants a translation unit to declare something. */
typedef int deflate_isal_is_not_built;
#endif
