/* SPDX-License-Identifier: MIT */
/*
 * heap_calls.h - record the calls of an allocator that has several heaps
 *
 * The wrappers of such an allocator's functions call this module, which finds
 * the heap of each block in heap_table.h.  NULL instead of a heap means
 * malloc's heap, number 0.
 *
 * Such an allocator may also provide malloc() and the other functions of C.  If
 * it does, malloc() may allocate from any heap of the allocator, and free() and
 * operator delete may free a block of any heap.  Once the allocator has its
 * first heap, the calls of the C functions therefore pass through this module,
 * too.
 *
 * Any thread may call these functions.
 */
#ifndef HEAP_CALLS_H
#define HEAP_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/heaps/heap_table.h"
#include "preload/heaps/known_objects.h"

/*
 * Return the heap of 'p', the result of malloc() or of another function that
 * has no argument for a heap.  'p' is NULL if that call failed.
 */
typedef struct pool *heap_calls_of_fn(const void *p);

/*
 * Call this when an allocator has its first heap, or is about to make it.  If
 * the program's malloc() belongs to this allocator, the calls of the C
 * functions pass through this module from now on.  'companion' is a function of
 * the allocator.  The caller must be able to take the loader's lock.  Keeps
 * errno.
 */
void heap_calls_begin(heap_calls_of_fn *of, const void *companion);

/*
 * Is this the name of an allocation function of C that the recorder exports?
 */
bool heap_calls_has(const char *name);

/*
 * Apply the patches of heap_calls_begin() to the loaded objects that are not in
 * 'known'.
 */
void heap_calls_patch_again(const struct known_objects *known);

/*
 * Return the heap of 'p', or NULL for malloc's heap.  The function that was
 * given to heap_calls_begin() finds the heap.
 */
struct pool *heap_calls_of(const void *p);

/* Allocations ------------------------------------------------------------- */

/*
 * Record that 'p' was allocated from the heap 'pool'.  If heap_table.h has no
 * memory for the block, record the block in malloc's heap.  'p' is NULL if the
 * allocation failed.
 * 'alignment' is 0 if the caller requested none; 'flags' is EVENT_FLAG_ZEROED
 * or 0.  Return 'p'.
 */
void *heap_calls_took(struct pool *pool, void *p, size_t size, size_t alignment,
		      unsigned flags);

/* Return n * size, the bytes of an array; SIZE_MAX if the product overflows. */
size_t heap_calls_product(size_t n, size_t size);

/* Frees ------------------------------------------------------------------- */

/*
 * Record that 'p' is about to be freed.  Return false and record nothing if 'p'
 * is NULL or a block of malloc's heap.
 */
bool heap_calls_drop_other(const void *p);

/* Record that 'p', which may be NULL, is about to be freed. */
void heap_calls_drop(const void *p);

/* Reallocs ---------------------------------------------------------------- */

/*
 * A realloc in progress.  It may move the block to another heap, which HATF's
 * realloc record cannot express.  Such a move is recorded as a realloc that
 * frees the block, and an alloc.
 */
struct heap_calls_change {
	struct pool *from, *to;
	/*
	 * thread whose ring has the begin event; NULL: no begin event was
	 * recorded
	 */
	struct thread *thread;
	void *old, *p;
	size_t old_size, size;
	bool is_dormant;
	bool frees; /* if 'p' is NULL, the call has freed the old block */
};

/* Begin a realloc of 'old', which may be NULL, to 'size' bytes. */
struct heap_calls_change heap_calls_change_begin(void *old, size_t size);

/*
 * End the realloc.  The caller has set 'c->p' to the result and 'c->to' to the
 * heap of the result.  A call that an exception ends counts as failed.
 */
void heap_calls_change_end(struct heap_calls_change *c);

#endif /* HEAP_CALLS_H */
