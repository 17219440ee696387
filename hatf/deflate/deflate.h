/* SPDX-License-Identifier: MIT */
/*
 * deflate.h - compress one block as one gzip member
 *
 * The common interface to the compression libraries.  A member follows RFC 1952
 * and has an extra field with the length of the member, so that a reader finds
 * the next block without inflating this one (FORMAT "Compression").
 *
 * These functions may run inside traced programs, like those of encoder.h.  The
 * memory for compression is the caller's 'work' area; no function allocates
 * memory from libc, or takes a lock.  Only deflate_load() makes system calls or
 * touches errno.  Threads may call the functions at the same time with
 * different work areas.
 */
#ifndef HATF_DEFLATE_H
#define HATF_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Levels of compression in the recorder: 1 is the fastest, 3 gives the fewest
 * bytes.  Levels 2 and 3 save only 1 to 3 % of the bytes that a recorder writes
 * (tests/bench/codec.sh), so 1 is the default.
 */
#define DEFLATE_LEVEL_MIN 1
#define DEFLATE_LEVEL_MAX 3
/*
 * The highest level of deflate_member().  Levels 4 to 9 are for rewriting a
 * trace.  They always use zlib, with zlib's level of the same number.
 */
#define DEFLATE_LEVEL_ZLIB_MAX 9
#define DEFLATE_LEVEL_DEFAULT  1
/*
 * Level of a member without compression, which needs no work area and little
 * stack.
 */
#define DEFLATE_LEVEL_STORED (-1)

/*
 * Search for the fast library, isa-l.  If isa-l is found, use it for levels 1
 * to 3 from now on; otherwise go on using zlib.  The first call may map memory
 * and change errno; later calls do nothing.  Other threads may compress at the
 * same time.
 */
void deflate_load(void);

/*
 * Return how many bytes of work area suffice for deflate_member() at 'level',
 * whichever library it uses.
 */
size_t deflate_work_nbytes(int level);

/* Return the maximum length of a member for 'nbytes' of input. */
size_t deflate_bound(size_t nbytes);

/*
 * Compress in[0, in_nbytes) as one gzip member into 'out', and return the
 * length of the member.  'out' has 'out_cap' bytes, at least
 * deflate_bound(in_nbytes).  This bound must be below 4 GiB.  'work' is scratch
 * memory of deflate_work_nbytes(level) bytes, aligned to 64; NULL for
 * DEFLATE_LEVEL_STORED.
 */
size_t deflate_member(int level, void *work, const uint8_t *in,
		      size_t in_nbytes, uint8_t *out, size_t out_cap);

/*
 * Return the name of the library that is now in use for levels 1 to 3: "isa-l"
 * or "zlib" (static).
 */
const char *deflate_name(void);

#endif /* HATF_DEFLATE_H */
