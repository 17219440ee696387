/* SPDX-License-Identifier: MIT */
/*
 * slab.h - memory for many small arrays of some lengths
 *
 * There are eight lengths from one power of two to the next, so that an array
 * need be little longer than what is in it.  Memory comes in chunks, each as
 * large as all before it together, so that few blocks need little and many lie
 * in huge pages.  What is given back is taken for arrays of its length or
 * shorter ones; the chunks stay until the end, so memory is in proportion to
 * the most that was in use of each length.  Used by one thread at a time.
 */
#ifndef HATF_SLAB_H
#define HATF_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Arrays are made of cache lines. */
#define SLAB_LINE_NBYTES ((size_t)64)

/* Classes of lengths: 1 to 8 lines, 9 to 16, 18 to 32 by 2, ... 2304 to 4096 by
 * 256. */
#define SLAB_CLASS_COUNT 80

static inline size_t
slab_nbytes(unsigned size_class)
{
	return size_class < 8 ? (size_class + 1) * SLAB_LINE_NBYTES
			      : (size_class % 8 + 9) * SLAB_LINE_NBYTES
					<< (size_class / 8 - 1);
}

struct slab {
	struct slab_chunk *chunks; /* the last one first */
	uint8_t *next;		   /* what is left of it */
	size_t left;
	size_t nbytes; /* of all chunks */
	/* Of each class; each array begins with the next one's address. */
	void *unused[SLAB_CLASS_COUNT];
};

/* 'slab' is all 0 at first. */
void slab_fini(struct slab *slab);

/*
 * An array of slab_nbytes(size_class) bytes, aligned to a cache line, with
 * anything in it; NULL if there is no memory.
 */
void *slab_get(struct slab *slab, unsigned size_class);

/* Give it back. */
void slab_put(struct slab *slab, void *array, unsigned size_class);

#endif /* HATF_SLAB_H */
