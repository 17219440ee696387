/* SPDX-License-Identifier: MIT */
/*
 * pools.h - the heaps of an allocator that has several, and which block is of which
 *
 * Such an allocator frees a block without being told its heap, and the trace must
 * say it.  The allocator knows a heap by a handle, the address of something of its
 * own; the trace by a number, which is not used again.
 *
 * All may be called by any thread.  A block is put before anybody else may know of
 * it, and taken before the real free; errno is kept.
 */
#ifndef POOLS_H
#define POOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool;

/* A new heap.  NULL: there is no memory. */
struct pool *pools_add(const void *handle, uint64_t number);

/* The heap, or NULL. */
struct pool *pools_find(const void *handle);

/* Constant. */
uint64_t pools_number(const struct pool *pool);

/* A block of it; false if there is no memory. */
bool pools_put(struct pool *pool, const void *p, size_t size);

/*
 * The block is no longer known: returns the heap it was of, or NULL.  A heap that
 * is not NULL has to be settled once that has been recorded.
 */
struct pool *pools_take(const void *p, size_t *size_ret);

/* If this was the last block of a deleted heap, its number: the heap is gone; or 0. */
uint64_t pools_settle(struct pool *pool);

/*
 * The handle is no heap's any more, but its blocks live on.  Returns as
 * pools_settle() does.
 */
uint64_t pools_delete(const void *handle);

/* The heap is gone with all its blocks.  Returns its number; 0: there was none. */
uint64_t pools_destroy(const void *handle);

/* No other thread is at it while the process forks. */
void pools_hold(void);
void pools_release(void);

#endif /* POOLS_H */
