/* SPDX-License-Identifier: MIT */
/*
 * heap_table.h - the heaps of an allocator that has several, and which block is
 * of which
 *
 * Such an allocator frees a block without being told its heap, and the trace
 * must say it.  The allocator knows a heap by a handle, the address of
 * something of its own; the trace by a number, which is not used again.
 *
 * All may be called by any thread.  A block is put before anybody else may know
 * of it, and taken before the real free; errno is kept.
 */
#ifndef HEAP_TABLE_H
#define HEAP_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool;

/* There has been one.  Never unset. */
extern _Atomic bool heap_table_used __attribute__((visibility("hidden")));

/*
 * relaxed: who has a block of a heap has synchronised with who made the heap.
 */
static inline bool
heap_table_is_used(void)
{
	return __builtin_expect(
		atomic_load_explicit(&heap_table_used, memory_order_relaxed),
		0);
}

/* A new heap.  NULL: there is no memory. */
struct pool *heap_table_add(const void *handle, uint64_t number);

/* The heap, or NULL. */
struct pool *heap_table_find(const void *handle);

/* Constant. */
uint64_t heap_table_number(const struct pool *pool);

/* A block of it; false if there is no memory. */
bool heap_table_put(struct pool *pool, const void *p, size_t size);

/*
 * The block is no longer known: returns the heap it was of, or NULL.  A heap
 * that is not NULL has to be settled once that has been recorded.
 */
struct pool *heap_table_take(const void *p, size_t *size_ret);

/*
 * If this was the last block of a deleted heap, its number: the heap is gone;
 * or 0.
 */
uint64_t heap_table_settle(struct pool *pool);

/*
 * The handle is no heap's any more, but its blocks live on.  Returns as
 * heap_table_settle() does.
 */
uint64_t heap_table_delete(const void *handle);

/*
 * The heap is gone with all its blocks.  Returns its number; 0: there was none.
 */
uint64_t heap_table_destroy(const void *handle);

/* Is it a block of one? */
bool heap_table_knows(const void *p);

/*
 * For an allocator that may refuse to end a heap, or to empty it, of which the
 * trace must be told before.  The blocks are no longer known, only in a list;
 * NULL: there are none.
 */
struct heap_table_block;
struct heap_table_block *heap_table_hide(struct pool *pool);

/* The block at 'at'; returns the next one or NULL. */
const struct heap_table_block *
heap_table_next(const struct heap_table_block *at, const void **p_ret,
		size_t *size_ret);

/* They are gone, or known again: that is the list's end. */
void heap_table_forget(struct pool *pool, struct heap_table_block *hidden);
void heap_table_show(struct pool *pool, struct heap_table_block *hidden);

/* The handle is no heap's any more.  Returns the heap it was of, or NULL. */
struct pool *heap_table_hide_handle(const void *handle);

/* Such a heap is gone, or has its handle again and a new number. */
void heap_table_bury(struct pool *pool, struct heap_table_block *hidden);
void heap_table_revive(struct pool *pool, uint64_t number,
		       struct heap_table_block *hidden);

/*
 * No other thread is at it while the process forks; the one that does may be.
 */
void heap_table_before_fork(void);
void heap_table_after_fork(void);

#endif /* HEAP_TABLE_H */
