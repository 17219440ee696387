/* SPDX-License-Identifier: MIT */
/*
 * deflate_backend.h - what deflate.c wants of a compression library
 *
 * One row for each library.  deflate_load() picks one for deflate_member(); the
 * tests go through both with deflate_member_by().  The rules of deflate.h hold.
 */
#ifndef HATF_DEFLATE_BACKEND_H
#define HATF_DEFLATE_BACKEND_H

#include "hatf/deflate/deflate.h"

#include <stdbool.h>

struct deflate_backend {
	const char *name;
	size_t (*work_nbytes)(int level);
	/*
	 * Compress 'in' as one raw deflate stream; returns its length, or 0 if
	 * it does not fit into 'out_cap' bytes.
	 */
	size_t (*compress)(int level, void *work, const uint8_t *in,
			   size_t in_nbytes, uint8_t *out, size_t out_cap);
	uint32_t (*crc32)(const uint8_t *in, size_t in_nbytes);
};

extern const struct deflate_backend deflate_zlib;
#ifdef HAVE_ISAL
extern const struct deflate_backend deflate_isal;
/* Find the library on this machine; nothing of the row may be used before. */
bool deflate_isal_load(void);
#endif

size_t deflate_member_by(const struct deflate_backend *backend, int level,
			 void *work, const uint8_t *in, size_t in_nbytes,
			 uint8_t *out, size_t out_cap);

#endif /* HATF_DEFLATE_BACKEND_H */
