/* SPDX-License-Identifier: MIT */
/*
 * heap_calls.h - record what is taken from an allocator that has several heaps
 *
 * Between the functions that stand in front of such an allocator's own and
 * heap_table.h, which knows the heap of each block.  A NULL for a heap is
 * malloc's, heap 0.
 *
 * Where that allocator is malloc() too, a block of a heap may be freed by
 * free() or operator delete, and malloc() may take from one: from the first
 * heap on the calls of C's functions come by here as well.
 */
#ifndef HEAP_CALLS_H
#define HEAP_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/heaps/heap_table.h"

/*
 * The heap that 'p' is of, which has been taken from malloc() or another
 * function that is not told a heap.  'p' may be NULL, of a call that failed.
 */
typedef struct pool *heap_calls_of_fn(const void *p);

/*
 * The allocator which has the function 'companion' has its first heap, or will
 * have it now.  To be called where the loader's lock may be taken.  Keeps
 * errno.
 */
void heap_calls_begin(heap_calls_of_fn *of, const void *companion);

/* Have the objects that were loaded since call by here too. */
void heap_calls_patch_again(void);

/* As it is for a function that is not told a heap. */
struct pool *heap_calls_of(const void *p);

/* Allocations ------------------------------------------------------------- */

/*
 * 'p' has been taken from the heap, or if it is NULL, it has failed.
 * 'alignment' is 0 where none was asked for; 'flags' are EVENT_FLAG_ZEROED or
 * 0.  Returns 'p'.
 */
void *heap_calls_took(struct pool *pool, void *p, size_t size, size_t alignment,
		      unsigned flags);

/* Size of an array; the most is what one asked for that overflows. */
size_t heap_calls_product(size_t n, size_t size);

/* Frees ------------------------------------------------------------------- */

/*
 * 'p' will be freed.  False: it is malloc's, or NULL, and nothing is recorded.
 */
bool heap_calls_drop_other(const void *p);

/* 'p' will be freed; it may be NULL. */
void heap_calls_drop(const void *p);

/* Reallocs ---------------------------------------------------------------- */

/*
 * One under way.  It may go from one heap to another, which HATF's realloc
 * cannot say: that is a realloc that frees, and an alloc.
 */
struct heap_calls_change {
	struct pool *from, *to;
	struct thread *thread; /* between the begin and the end */
	void *old, *p;
	size_t old_size, size;
	bool is_dormant;
	bool frees; /* where it fails */
};

/* A realloc of 'old', which may be NULL, to 'size' bytes will be called. */
struct heap_calls_change heap_calls_change_begin(void *old, size_t size);

/*
 * It has returned c->p, taken from c->to.  If an exception ends the real call,
 * it has failed.
 */
void heap_calls_change_end(struct heap_calls_change *c);

#endif /* HEAP_CALLS_H */
