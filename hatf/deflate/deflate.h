/* SPDX-License-Identifier: MIT */
/*
 * deflate.h - one block into one gzip member
 *
 * The one interface in front of the compression libraries.  A member is what
 * RFC 1952 says, with an extra field that gives the member's length, so that a
 * reader finds the next block without inflating this one (FORMAT
 * "Compression").
 *
 * Runs where encoder.h runs: all memory is in the caller's 'work' area, no call
 * allocates, locks or touches errno.
 */
#ifndef HATF_DEFLATE_H
#define HATF_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

/* Levels: 1 is fast, 3 is small; 2 and 3 gain 1 to 3 % on what a recorder
 * writes (tests/bench/codec.sh), so 1 is the default. */
#define DEFLATE_LEVEL_MIN 1
#define DEFLATE_LEVEL_MAX 3
/* For traces that are written again: 4 to 9 are zlib's, whatever there is. */
#define DEFLATE_LEVEL_ZLIB_MAX 9
#define DEFLATE_LEVEL_DEFAULT  1
/* As it is, in the form of a member; takes no work area and little stack. */
#define DEFLATE_LEVEL_STORED (-1)

/*
 * Look for the fast library, once, before compressing; without this, or where
 * there is none, zlib does it.  Cheap when that has been done; the first time
 * it maps memory and changes errno.  Another thread may be compressing
 * meanwhile.
 */
void deflate_load(void);

/* Bytes of work area that deflate_member() wants at 'level'. */
size_t deflate_work_nbytes(int level);

/* The most that a member for 'nbytes' of input can take. */
size_t deflate_bound(size_t nbytes);

/*
 * Compress in[0, in_nbytes) as one gzip member into 'out' of 'out_cap' bytes,
 * at least deflate_bound(in_nbytes).  'work' is deflate_work_nbytes(level)
 * bytes, aligned to 64; its contents mean nothing between calls.  Returns the
 * member's length.
 */
size_t deflate_member(int level, void *work, const uint8_t *in,
		      size_t in_nbytes, uint8_t *out, size_t out_cap);

/* "isa-l" or "zlib", whichever compresses now; static. */
const char *deflate_name(void);

#endif /* HATF_DEFLATE_H */
