/* SPDX-License-Identifier: MIT */
/*
 * heap_table.h - the heaps of an allocator that has several heaps, and the heap
 * of each block
 *
 * The program frees a block without naming its heap, but the trace must name
 * the heap.  The allocator identifies a heap by a handle, which is the address
 * of one of the allocator's own objects.  The trace identifies the heap by a
 * number, which is never reused.
 *
 * Any thread may call any of these functions, and all of them keep errno.  Call
 * heap_table_put() before another thread can see the block's address, and
 * heap_table_take() before the real free.
 */
#ifndef HEAP_TABLE_H
#define HEAP_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool;

/* Set when the first heap is added, and never cleared. */
extern _Atomic bool heap_table_used __attribute__((visibility("hidden")));

/*
 * Has a heap ever been added?  relaxed: a thread that has a block of a heap has
 * synchronized with the thread that made the heap.
 */
static inline bool
heap_table_is_used(void)
{
	return __builtin_expect(
		atomic_load_explicit(&heap_table_used, memory_order_relaxed),
		0);
}

/*
 * Add a heap with this handle and number.  Return NULL if there is no memory.
 */
struct pool *heap_table_add(const void *handle, uint64_t number);

/* Return the heap with this handle, or NULL. */
struct pool *heap_table_find(const void *handle);

/* Return the heap's number in the trace. */
uint64_t heap_table_number(const struct pool *pool);

/*
 * Add a block of 'size' bytes to the heap.  Return false if there is no memory.
 */
bool heap_table_put(struct pool *pool, const void *p, size_t size);

/*
 * Remove the block at 'p' and store its size.  Return its heap, or NULL if the
 * block is unknown.  If the result is not NULL, pass it to heap_table_settle()
 * after recording the free.
 */
struct pool *heap_table_take(const void *p, size_t *size_ret);

/*
 * Call this after the free of a block that heap_table_take() has removed from
 * the heap 'pool'.  If the heap is deleted and has no blocks left, remove the
 * heap.  Return the number of the removed heap, or 0 if the heap stays or the
 * trace already has the heap's end.
 */
uint64_t heap_table_settle(struct pool *pool);

/*
 * The program deletes the heap with this handle, and the blocks of the heap
 * stay live.  Release the handle, so that another heap can get it.  If the heap
 * has no blocks, remove the heap and return its number.  Return 0 if the heap
 * still has blocks, or if no heap has this handle.
 */
uint64_t heap_table_delete(const void *handle);

/*
 * Remove the heap with all its blocks.  Return its number, or 0 if there is no
 * heap with this handle.
 */
uint64_t heap_table_destroy(const void *handle);

/* Is 'p' a block of a heap? */
bool heap_table_knows(const void *p);

/*
 * Move the heap's blocks from the table to a list, and return the list; NULL if
 * the heap has no blocks.  Use this when the program calls a function that
 * destroys the heap or frees all its blocks.  The recorder must record such a
 * call before it calls the real function.  If the allocator refuses the call,
 * heap_table_show() restores the blocks from the list.
 */
struct heap_table_block;
struct heap_table_block *heap_table_hide(struct pool *pool);

/* Store address and size of the block 'at'.  Return the next block, or NULL. */
const struct heap_table_block *
heap_table_next(const struct heap_table_block *at, const void **p_ret,
		size_t *size_ret);

/*
 * Call one of these after heap_table_hide() and the real call.  If the
 * allocator has carried out the call, heap_table_forget() drops the list.  If
 * the allocator has refused the call, heap_table_show() puts the blocks back
 * into the table.
 */
void heap_table_forget(struct pool *pool, struct heap_table_block *hidden);
void heap_table_show(struct pool *pool, struct heap_table_block *hidden);

/*
 * Release the handle, so that another heap can get it.  Return the heap that
 * had the handle, or NULL if no heap had it.
 */
struct pool *heap_table_hide_handle(const void *handle);

/*
 * Call one of these after heap_table_hide_handle() and the real call.  If the
 * allocator has destroyed the heap, heap_table_bury() removes the heap and its
 * hidden blocks.  If the allocator has refused the call, heap_table_revive()
 * restores the handle and the hidden blocks of the heap, and gives the heap the
 * number 'number'.
 */
void heap_table_bury(struct pool *pool, struct heap_table_block *hidden);
void heap_table_revive(struct pool *pool, uint64_t number,
		       struct heap_table_block *hidden);

/*
 * Take the table's lock before a fork, and release it afterwards.  Between the
 * two calls, any other thread that uses the table waits.
 */
void heap_table_before_fork(void);
void heap_table_after_fork(void);

#endif /* HEAP_TABLE_H */
