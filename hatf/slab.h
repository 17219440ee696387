/* SPDX-License-Identifier: MIT */
/*
 * slab.h - memory for many small arrays whose lengths are powers of two
 *
 * It comes in chunks, each as large as all before it together, so that few blocks
 * need little and many lie in huge pages.  What is given back is taken for arrays
 * of its length or shorter ones; the chunks stay until the end, so memory is in
 * proportion to the most that was in use of each length.  Used by one thread at a
 * time.
 */
#ifndef HATF_SLAB_H
#define HATF_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The shortest array is a cache line, the longest a quarter of a MiB. */
#define SLAB_MIN_SHIFT 6
#define SLAB_MAX_SHIFT 18

struct slab {
	struct slab_chunk *chunks; /* the last one first */
	uint8_t *next;		   /* what is left of it */
	size_t left;
	size_t nbytes; /* of all chunks */
	/* By the length's logarithm; each begins with the next one's address. */
	void *unused[SLAB_MAX_SHIFT + 1];
};

/* 'slab' is all 0 at first. */
void slab_fini(struct slab *slab);

/*
 * An array of 2^shift bytes, aligned to a cache line, with anything in it; NULL if
 * there is no memory.  SLAB_MIN_SHIFT <= shift <= SLAB_MAX_SHIFT.
 */
void *slab_get(struct slab *slab, unsigned shift);

/* Give it back. */
void slab_put(struct slab *slab, void *array, unsigned shift);

#endif /* HATF_SLAB_H */
