/* SPDX-License-Identifier: MIT */
/*
 * arena.h - memory that is freed all at once
 *
 * Used by one thread at a time.
 */
#ifndef HATF_ARENA_H
#define HATF_ARENA_H

#include <stddef.h>

struct arena_chunk;

/* The caller sets an arena to all zeros before the first use. */
struct arena {
	struct arena_chunk *chunks;
	size_t left; /* number of unused bytes at the end of the newest chunk */
};

/*
 * Allocate 'nbytes' bytes of zeros, aligned for every type.  Return NULL if
 * there is no memory.
 */
void *arena_get(struct arena *a, size_t nbytes);

/*
 * Copy 'nbytes' bytes of 'text' and append a NUL.  Return NULL if there is no
 * memory.
 */
char *arena_text(struct arena *a, const char *text, size_t nbytes);

/* Free all memory.  The arena is empty afterwards. */
void arena_fini(struct arena *a);

#endif /* HATF_ARENA_H */
