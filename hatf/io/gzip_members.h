/* SPDX-License-Identifier: MIT */
/*
 * gzip_members.h - bytes into one gzip member, at any of zlib's levels
 *
 * For formats that compress pieces of a trace by themselves.  A member is what
 * deflate.h makes; unlike there, memory is allocated, and the compression is
 * always zlib's, since the paper's encodings are to be compared by the same one.
 */
#ifndef HATF_GZIP_MEMBERS_H
#define HATF_GZIP_MEMBERS_H

#include <stddef.h>
#include <stdint.h>

struct gzip_members {
	uint8_t *bytes; /* of the last member */
	size_t cap;
};

/*
 * Compress bytes[0, nbytes), at most 2^31, at 'level' (1 to 9) into 'pack->bytes',
 * which stays valid until the next call.  Returns the member's length, or 0 if
 * there is no memory.  '*pack' is all 0 at first, and needs gzip_members_fini().
 */
size_t gzip_members_pack(struct gzip_members *pack, int level,
			 const uint8_t *bytes, size_t nbytes);

void gzip_members_fini(struct gzip_members *pack);

#endif /* HATF_GZIP_MEMBERS_H */
