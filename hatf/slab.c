/* SPDX-License-Identifier: MIT */
/*
 * slab.c - see slab.h
 *
 * A chunk begins with a line that leads to the one before.  All lengths are
 * multiples of a line, so whatever is left of a chunk or an array can be cut into
 * arrays.
 */
#include "slab.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LINE_NBYTES ((size_t)1 << SLAB_MIN_SHIFT)
#define CHUNK_MIN   ((size_t)1024)
#define CHUNK_MAX   ((size_t)2 << 20) /* a huge page */

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
slab_put(struct slab *slab, void *array, unsigned shift)
{
	memcpy(array, &slab->unused[shift], sizeof(void *));
	slab->unused[shift] = array;
}

static void *
take(struct slab *slab, unsigned shift)
{
	void *const array = slab->unused[shift];

	memcpy(&slab->unused[shift], array, sizeof(void *));
	return array;
}

/* Make arrays of what is left of the chunk. */
static void
cut_rest(struct slab *slab)
{
	for (unsigned shift = SLAB_MAX_SHIFT; shift >= SLAB_MIN_SHIFT;
	     shift--) {
		const size_t nbytes = (size_t)1 << shift;

		while (slab->left >= nbytes) {
			slab_put(slab, slab->next, shift);
			slab->next += nbytes;
			slab->left -= nbytes;
		}
	}
}

static bool
add_chunk(struct slab *slab, size_t array_nbytes)
{
	size_t nbytes = slab->nbytes < CHUNK_MIN ? CHUNK_MIN : slab->nbytes;
	struct slab_chunk *chunk;

	/* Powers of two: so are all sums but the last. */
	while (nbytes < array_nbytes + LINE_NBYTES)
		nbytes *= 2;
	if (nbytes > CHUNK_MAX)
		nbytes = CHUNK_MAX;
	chunk = aligned_alloc(nbytes == CHUNK_MAX ? CHUNK_MAX : LINE_NBYTES,
			      nbytes);
	if (chunk == NULL)
		return false;
	if (nbytes == CHUNK_MAX)
		madvise(chunk, nbytes, MADV_HUGEPAGE);
	cut_rest(slab);
	chunk->before = slab->chunks;
	slab->chunks = chunk;
	slab->next = (uint8_t *)chunk + LINE_NBYTES;
	slab->left = nbytes - LINE_NBYTES;
	slab->nbytes += nbytes;
	return true;
}

/* The halves of a longer one that are not wanted are arrays, too. */
static void *
cut_longer(struct slab *slab, unsigned shift, unsigned longer)
{
	uint8_t *const array = take(slab, longer);

	while (longer > shift) {
		longer--;
		slab_put(slab, array + ((size_t)1 << longer), longer);
	}
	return array;
}

void *
slab_get(struct slab *slab, unsigned shift)
{
	const size_t nbytes = (size_t)1 << shift;
	void *array;

	if (slab->unused[shift] != NULL)
		return take(slab, shift);
	if (slab->left < nbytes) {
		for (unsigned i = shift + 1; i <= SLAB_MAX_SHIFT; i++)
			if (slab->unused[i] != NULL)
				return cut_longer(slab, shift, i);
		if (!add_chunk(slab, nbytes))
			return NULL;
	}
	array = slab->next;
	slab->next += nbytes;
	slab->left -= nbytes;
	return array;
}
