/* SPDX-License-Identifier: MIT */
/*
 * deflate_isal.c - the backend for Intel's isa-l
 *
 * deflate_load() maps the library privately (mapped_library.h).  If the
 * recorder were linked to isa-l instead, isa-l and the traced program would see
 * each other's symbols, and every process would spend the time to load isa-l.
 * isa-l allocates no memory.  The work area contains isa-l's stream, followed
 * by its level buffer.
 */
#ifdef HAVE_ISAL
#include "hatf/deflate/deflate_backend.h"
#include "hatf/deflate/mapped_library.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <string.h>

/*
 * Pointers to the functions of isa-l, set by deflate_isal_load() and constant
 * afterwards.
 */
static __typeof__(&isal_deflate_stateless_init) stream_init;
static __typeof__(&isal_deflate_stateless) stream_deflate;
static __typeof__(&crc32_gzip_refl) crc32_reflected;

/*
 * The level buffer holds the matches of a part of the input.  At level 1, the
 * recorder's default, the smallest buffer makes traces no larger than other
 * buffers do, and a process touches up to 48 pages fewer.
 */
static const uint32_t level_buf_nbytes[] = {
	ISAL_DEF_LVL1_SMALL,
	ISAL_DEF_LVL2_LARGE,
	ISAL_DEF_LVL3_LARGE,
};

/*
 * Size of isa-l's stream, rounded up so that the level buffer after the stream
 * has the alignment of the work area.
 */
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

	stream_init(z);
	z->level = (uint32_t)level;
	z->level_buf = (uint8_t *)work + STREAM_NBYTES;
	z->level_buf_size = level_buf_nbytes[level - DEFLATE_LEVEL_MIN];
	/*
	 * Cast the const away, because 'next_in' is not a pointer to const,
	 * although isa-l does not write to its input.
	 */
	z->next_in = (uint8_t *)(uintptr_t)in;
	z->avail_in = (uint32_t)in_nbytes;
	z->next_out = out;
	z->avail_out = (uint32_t)out_cap;
	z->end_of_stream = 1;
	z->flush = NO_FLUSH;
	if (stream_deflate(z) != COMP_OK || z->avail_in != 0)
		return 0;
	return z->total_out;
}

static uint32_t
crc32_isal(const uint8_t *in, size_t in_nbytes)
{
	return crc32_reflected(0, in, in_nbytes);
}

/*
 * Copy the bytes of an address, because ISO C has no cast from a data pointer
 * to a function pointer.
 */
static void
take(void *function_ret, void *const *address)
{
	memcpy(function_ret, address, sizeof(*address));
}

bool
deflate_isal_load(void)
{
	struct mapped_library_function functions[] = {
		{ "isal_deflate_stateless_init", NULL },
		{ "isal_deflate_stateless", NULL },
		{ "crc32_gzip_refl", NULL },
	};

	if (!mapped_library_open("libisal.so.2", functions, 3))
		return false;
	take(&stream_init, &functions[0].address);
	take(&stream_deflate, &functions[1].address);
	take(&crc32_reflected, &functions[2].address);
	return true;
}

const struct deflate_backend deflate_isal = {
	.name = "isa-l",
	.work_nbytes = work_nbytes,
	.compress = compress_isal,
	.crc32 = crc32_isal,
};
#else
/* ISO C requires a declaration in each translation unit. */
typedef int deflate_isal_is_not_built;
#endif
