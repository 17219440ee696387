/* SPDX-License-Identifier: MIT */
/*
 * gzip_best.h - compress bytes into one gzip member, also at slow levels
 *
 * The levels are those of hatf_writer.  Levels 1 to 9 are those of deflate.h; 4
 * to 9 are zlib's levels, as in gzip.  Levels 10 to 12 are libdeflate's 6, 10
 * and 12, or zlib's 9 in a build without libdeflate.
 *
 * Measured with tests/bench/codec.sh: six recorded programs, 2 cores of an AMD
 * EPYC.  Sizes are relative to level 1 of isa-l, which runs at 400 MB/s or
 * more.
 *
 * 	level   size    speed
 * 	    6   0.78    13 to 200 MB/s
 * 	    9   0.76    a third of level 6
 * 	   10   0.76    55 to 480 MB/s, hence the default
 * 	   11   0.70    10 MB/s
 * 	   12   0.68    6 MB/s
 *
 * Used by one thread at a time.
 */
#ifndef HATF_GZIP_BEST_H
#define HATF_GZIP_BEST_H

#include <stddef.h>
#include <stdint.h>

#define GZIP_BEST_LEVEL_MIN	1
#define GZIP_BEST_LEVEL_MAX	12
#define GZIP_BEST_LEVEL_DEFAULT 10

struct gzip_best;

/*
 * Make a compressor for a level from GZIP_BEST_LEVEL_MIN to
 * GZIP_BEST_LEVEL_MAX; return NULL if there is no memory.
 */
struct gzip_best *gzip_best_open(int level);

/*
 * Compress in[0, in_nbytes) into one member at 'out', as deflate_member() does.
 * 'out_cap' must be at least deflate_bound(in_nbytes).  Return the member's
 * length.
 */
size_t gzip_best_member(struct gzip_best *g, const uint8_t *in,
			size_t in_nbytes, uint8_t *out, size_t out_cap);

/* Free the compressor.  'g' may be NULL. */
void gzip_best_close(struct gzip_best *g);

#endif /* HATF_GZIP_BEST_H */
