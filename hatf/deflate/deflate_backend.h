/* SPDX-License-Identifier: MIT */
/*
 * deflate_backend.h - the functions of a compression library for deflate.c
 *
 * The recorder may use 'deflate_zlib' and 'deflate_isal'; deflate_load()
 * chooses one of them for deflate_member().  The rules of deflate.h apply to
 * these two backends.  hatf/io has two other backends for deflate_member_by().
 * Those backends allocate memory, so the rules of deflate.h do not apply to
 * them.
 */
#ifndef HATF_DEFLATE_BACKEND_H
#define HATF_DEFLATE_BACKEND_H

#include "hatf/deflate/deflate.h"

#include <stdbool.h>

struct deflate_backend {
	const char *name;
	size_t (*work_nbytes)(int level);
	/*
	 * Compress 'in' as one raw deflate stream.  Return the length of the
	 * stream.  On failure, for example if the stream needs more than
	 * 'out_cap' bytes, return 0; the caller then stores the data
	 * uncompressed.
	 */
	size_t (*compress)(int level, void *work, const uint8_t *in,
			   size_t in_nbytes, uint8_t *out, size_t out_cap);
	uint32_t (*crc32)(const uint8_t *in, size_t in_nbytes);
};

extern const struct deflate_backend deflate_zlib;
#ifdef HAVE_ISAL
extern const struct deflate_backend deflate_isal;
/*
 * Map isa-l; return false if isa-l is not found or cannot be used.  This call
 * may change errno.  Until this call has returned true, only work_nbytes() of
 * 'deflate_isal' may be called.
 */
bool deflate_isal_load(void);
#endif

/* Like deflate_member(), but with the library of 'backend'. */
size_t deflate_member_by(const struct deflate_backend *backend, int level,
			 void *work, const uint8_t *in, size_t in_nbytes,
			 uint8_t *out, size_t out_cap);

#endif /* HATF_DEFLATE_BACKEND_H */
