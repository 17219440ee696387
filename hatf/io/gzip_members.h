/* SPDX-License-Identifier: MIT */
/*
 * gzip_members.h - compress bytes into gzip members, at any level of zlib
 *
 * This module is for formats that compress parts of a trace separately.  A
 * member has the form that deflate.h gives it.  Unlike deflate.h, this module
 * allocates memory.  It always uses zlib, so that a comparison of encodings
 * uses the same compressor for all of them.  Used by one thread at a time.
 */
#ifndef HATF_GZIP_MEMBERS_H
#define HATF_GZIP_MEMBERS_H

#include <stddef.h>
#include <stdint.h>

struct gzip_members {
	uint8_t *bytes; /* the member that the most recent call has made */
	size_t cap;
};

/*
 * Compress bytes[0, nbytes), at most 2^31 bytes, at 'level' (1 to 9) into
 * 'pack->bytes', which stays valid until the next call.  Return the member's
 * length, or 0 if there is no memory.  The caller sets '*pack' to all zeros
 * before the first call, and frees it with gzip_members_fini().
 */
size_t gzip_members_pack(struct gzip_members *pack, int level,
			 const uint8_t *bytes, size_t nbytes);

/* Free the buffer. */
void gzip_members_fini(struct gzip_members *pack);

#endif /* HATF_GZIP_MEMBERS_H */
