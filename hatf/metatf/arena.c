/* SPDX-License-Identifier: MIT */
/* arena.c - see arena.h */
#include "hatf/metatf/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT    alignof(max_align_t)
#define CHUNK_NBYTES ((size_t)16 << 10)

struct arena_chunk {
	alignas(max_align_t) struct arena_chunk *next;
	size_t nbytes;
	alignas(max_align_t) unsigned char bytes[];
};

static struct arena_chunk *
add_chunk(struct arena *a, size_t nbytes)
{
	struct arena_chunk *const chunk = calloc(1, sizeof(*chunk) + nbytes);

	if (chunk == NULL)
		return NULL;
	chunk->nbytes = nbytes;
	chunk->next = a->chunks;
	a->chunks = chunk;
	a->left = nbytes;
	return chunk;
}

void *
arena_get(struct arena *a, size_t nbytes)
{
	const size_t rounded = (nbytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	unsigned char *p;

	if (rounded > a->left &&
	    !add_chunk(a, rounded > CHUNK_NBYTES ? rounded : CHUNK_NBYTES))
		return NULL;
	p = a->chunks->bytes + (a->chunks->nbytes - a->left);
	a->left -= rounded;
	return p;
}

char *
arena_text(struct arena *a, const char *text, size_t nbytes)
{
	char *const copy = arena_get(a, nbytes + 1);

	if (copy != NULL)
		memcpy(copy, text, nbytes);
	return copy;
}

void
arena_fini(struct arena *a)
{
	struct arena_chunk *next;

	for (struct arena_chunk *c = a->chunks; c != NULL; c = next) {
		next = c->next;
		free(c);
	}
	*a = (struct arena){ 0 };
}
