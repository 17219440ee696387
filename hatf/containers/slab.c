/* SPDX-License-Identifier: MIT */
/*
 * slab.c - see slab.h
 *
 * The first cache line of a chunk points to the chunk before it.  All sizes are
 * multiples of a cache line, so what is left of a chunk or an array can always
 * be cut into smaller arrays.
 */
#include "hatf/containers/slab.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK_MIN ((size_t)1024)
#define CHUNK_MAX ((size_t)2 << 20) /* the size of a huge page */

struct slab_chunk {
	struct slab_chunk *before;
};

void
slab_fini(struct slab *slab)
{
	while (slab->chunks != NULL) {
		struct slab_chunk *const chunk = slab->chunks;

		slab->chunks = chunk->before;
		free(chunk);
	}
	*slab = (struct slab){ 0 };
}

void
slab_put(struct slab *slab, void *array, unsigned size_class)
{
	memcpy(array, &slab->unused[size_class], sizeof(void *));
	slab->unused[size_class] = array;
}

static void *
take(struct slab *slab, unsigned size_class)
{
	void *const array = slab->unused[size_class];

	memcpy(&slab->unused[size_class], array, sizeof(void *));
	return array;
}

/*
 * Cut 'nbytes' bytes of memory, a multiple of a cache line, into free arrays.
 */
static void
cut_up(struct slab *slab, uint8_t *bytes, size_t nbytes)
{
	unsigned size_class = SLAB_CLASS_COUNT;

	while (size_class-- > 0) {
		const size_t array_nbytes = slab_nbytes(size_class);

		for (; nbytes >= array_nbytes; nbytes -= array_nbytes) {
			slab_put(slab, bytes, size_class);
			bytes += array_nbytes;
		}
	}
}

static bool
add_chunk(struct slab *slab, size_t array_nbytes)
{
	size_t nbytes = slab->nbytes < CHUNK_MIN ? CHUNK_MIN : slab->nbytes;
	struct slab_chunk *chunk;

	/*
	 * Make the chunk as large as all earlier chunks together, or larger if
	 * the array needs more.  But make no chunk larger than CHUNK_MAX.
	 */
	while (nbytes < array_nbytes + SLAB_LINE_NBYTES)
		nbytes *= 2;
	if (nbytes > CHUNK_MAX)
		nbytes = CHUNK_MAX;
	chunk = aligned_alloc(
		nbytes == CHUNK_MAX ? CHUNK_MAX : SLAB_LINE_NBYTES, nbytes);
	if (chunk == NULL)
		return false;
	if (nbytes == CHUNK_MAX)
		madvise(chunk, nbytes, MADV_HUGEPAGE);
	cut_up(slab, slab->next, slab->left);
	chunk->before = slab->chunks;
	slab->chunks = chunk;
	slab->next = (uint8_t *)chunk + SLAB_LINE_NBYTES;
	slab->left = nbytes - SLAB_LINE_NBYTES;
	slab->nbytes += nbytes;
	return true;
}

/*
 * Take a free array of the larger class 'longer'; return its first 'nbytes'
 * bytes, and make the rest free arrays.
 */
static void *
cut_longer(struct slab *slab, size_t nbytes, unsigned longer)
{
	uint8_t *const array = take(slab, longer);

	cut_up(slab, array + nbytes, slab_nbytes(longer) - nbytes);
	return array;
}

void *
slab_get(struct slab *slab, unsigned size_class)
{
	const size_t nbytes = slab_nbytes(size_class);
	void *array;

	if (slab->unused[size_class] != NULL)
		return take(slab, size_class);
	if (slab->left < nbytes) {
		for (unsigned i = size_class + 1; i < SLAB_CLASS_COUNT; i++)
			if (slab->unused[i] != NULL)
				return cut_longer(slab, nbytes, i);
		if (!add_chunk(slab, nbytes))
			return NULL;
	}
	array = slab->next;
	slab->next += nbytes;
	slab->left -= nbytes;
	return array;
}
