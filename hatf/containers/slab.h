/* SPDX-License-Identifier: MIT */
/*
 * slab.h - an allocator for many small arrays of 80 sizes
 *
 * From 512 bytes on, there are eight sizes from one power of two to the next,
 * so an array is only a little longer than its content.  Memory comes in
 * chunks.  A new chunk is at least as large as all earlier ones together, but
 * never larger than a huge page.  So a slab with few arrays needs little
 * memory, and most of a large slab is in huge pages.  Freed arrays are reused
 * for arrays of the same size or smaller ones.  Chunks are kept until
 * slab_fini(), so memory is proportional to the sum of the peak uses of all
 * sizes.
 *
 * Used by one thread at a time.
 */
#ifndef HATF_SLAB_H
#define HATF_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Array sizes are multiples of a cache line. */
#define SLAB_LINE_NBYTES ((size_t)64)

/*
 * Size classes in cache lines: 1 to 8, 9 to 16, 18 to 32 in steps of 2, ...
 * 2304 to 4096 in steps of 256.
 */
#define SLAB_CLASS_COUNT 80

/* Return the array size of a class in bytes. */
static inline size_t
slab_nbytes(unsigned size_class)
{
	return size_class < 8 ? (size_class + 1) * SLAB_LINE_NBYTES
			      : (size_class % 8 + 9) * SLAB_LINE_NBYTES
					<< (size_class / 8 - 1);
}

struct slab {
	struct slab_chunk *chunks; /* all chunks, the newest first */
	/* start of the unused end of the newest chunk */
	uint8_t *next;
	size_t left;
	size_t nbytes; /* total size of all chunks, in bytes */
	/*
	 * The free list of each class.  Each free array starts with a pointer
	 * to the next.
	 */
	void *unused[SLAB_CLASS_COUNT];
};

/*
 * Free all memory, and set the slab to all zeros.  A slab must also be all
 * zeros before its first use.
 */
void slab_fini(struct slab *slab);

/*
 * Allocate an array of slab_nbytes(size_class) bytes, aligned to a cache line,
 * with undefined content.  Return NULL if there is no memory.
 */
void *slab_get(struct slab *slab, unsigned size_class);

/* Free an array that slab_get() returned for the same 'size_class'. */
void slab_put(struct slab *slab, void *array, unsigned size_class);

#endif /* HATF_SLAB_H */
