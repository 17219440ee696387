/* SPDX-License-Identifier: MIT */
/*
 * spans.h - pieces of memory in the order of their addresses
 *
 * A B+ tree.  Each piece has the number of its heap, which comes first in the order:
 * heaps do not lie in each other here.  Memory is O(most pieces at a time): a leaf
 * that loses pieces stays as it is until it has none.
 */
#ifndef SPANS_H
#define SPANS_H

#include <stdbool.h>
#include <stdint.h>

/* The most that a piece can have. */
#define SPAN_NBYTES_MAX (UINT64_MAX >> 2)

struct span {
	uint64_t heap, start;
	uint64_t nbytes : 62; /* not 0 */
	/* What they mean is up to the user. */
	uint64_t is_doubtful : 1;
	uint64_t is_suspect : 1;
};

/* With 32 children in each node, that is more than there are addresses. */
#define SPANS_HEIGHT_MAX 12

struct spans {
	void *root; /* NULL: it is empty */
	unsigned height;
	/* The way to the leaf that was looked for last: the root comes first. */
	void *path[SPANS_HEIGHT_MAX];
	uint8_t path_at[SPANS_HEIGHT_MAX];
};

/* All 0 is an empty set, without memory; this makes one such. */
void spans_fini(struct spans *s);

/*
 * The piece that begins at 'start' in 'heap', or NULL.  With it, or else, '*before_ret'
 * is the last one before that place, and '*after_ret' the first behind it, each of any
 * heap, or NULL.  All are valid until the next put or remove.
 */
struct span *spans_find(struct spans *s, uint64_t heap, uint64_t start,
			struct span **before_ret, struct span **after_ret);

/* Add a piece, where none begins; false if there is no memory. */
bool spans_put(struct spans *s, const struct span *span);

/* Remove the piece that begins there; false if there is none. */
bool spans_remove(struct spans *s, uint64_t heap, uint64_t start);

#endif /* SPANS_H */
