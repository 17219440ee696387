/* SPDX-License-Identifier: MIT */
/*
 * gzip_best.h - one block into one gzip member, for those who have time
 *
 * The levels of hatf_writer.  1 to 9 are those of deflate.h, of which 4 to 9 are
 * zlib's, as gzip has them; 10 to 12 are libdeflate's 6, 10 and 12, or zlib's 9
 * in a build without it.
 *
 * Six recorded programs, 2 cores of an AMD EPYC, to the length that level 1 of
 * isa-l gives at 400 MB/s and more (tests/bench/codec.sh): level 6 0.78 at 13 to
 * 200 MB/s, level 9 0.76 at a third of that; level 10 0.76 at 55 to 480 MB/s, so
 * it is the default; level 11 0.70 at 10 MB/s, 12 0.68 at 6.
 */
#ifndef HATF_GZIP_BEST_H
#define HATF_GZIP_BEST_H

#include <stddef.h>
#include <stdint.h>

#define GZIP_BEST_LEVEL_MIN	1
#define GZIP_BEST_LEVEL_MAX	12
#define GZIP_BEST_LEVEL_DEFAULT 10

struct gzip_best;

/* NULL: there is no memory.  'level' is one of the above. */
struct gzip_best *gzip_best_open(int level);

/*
 * As deflate_member() does: in[0, in_nbytes) as one member into 'out' of 'out_cap'
 * bytes, at least deflate_bound(in_nbytes).  Returns the member's length.
 */
size_t gzip_best_member(struct gzip_best *s, const uint8_t *in,
			size_t in_nbytes, uint8_t *out, size_t out_cap);

/* NULL is allowed. */
void gzip_best_close(struct gzip_best *s);

#endif /* HATF_GZIP_BEST_H */
