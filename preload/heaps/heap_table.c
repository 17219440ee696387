/* SPDX-License-Identifier: MIT */
/*
 * heap_table.c - see heap_table.h; two chained hash tables (heaps by handle,
 * blocks by address) and one lock for both
 */

#include "preload/heaps/heap_table.h"

#include <errno.h>
#include <stdatomic.h>

#include "preload/record/thread.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"

#define SLAB_NBYTES   ((size_t)64 << 10)
#define BUCKETS_MIN   512u
#define LOCK_FREE     0u
#define LOCK_HELD     1u
#define LOCK_WANTED   2u
#define LOCK_SPIN_MAX 100u

struct node {
	uintptr_t key;
	struct node *next;
};

struct block {
	struct node node; /* link in the table of blocks */
	size_t size;
	struct pool *pool;
	/* neighbours in the list of the heap's blocks */
	struct block *before, *after;
};

struct pool {
	/* link in the table of handles, until the heap is deleted */
	struct node node;
	/*
	 * the heap's number in the trace; 0: the trace already has the heap's
	 * end
	 */
	uint64_t number;
	/*
	 * Number of blocks in the heap.  A block that heap_table_take() has
	 * removed counts until heap_table_settle().
	 */
	uint64_t count;
	bool is_deleted;
	struct block *blocks;
};

/*
 * A cell contains a block or a heap, or is free.  A free cell can become
 * either.
 */
union cell {
	struct block block;
	struct pool pool;
	union cell *next;
};

struct table {
	struct node **buckets;
	size_t bucket_count, used;
};

static struct table blocks, handles;
static union cell *free_cells;
static _Atomic uint32_t lock_word;

/*
 * The thread that holds the lock during a fork, identified by the address of
 * one of its thread-local variables.  The address is the same in the child.
 * The thread takes the lock again if other fork handlers allocate;
 * 'forker_depth' counts these nested locks.
 */
static _Atomic uintptr_t forker;
static unsigned forker_depth;

_Atomic bool heap_table_used;

static uintptr_t
own_address(void)
{
	return (uintptr_t)&thread_self;
}

static void
hold(void)
{
	uint32_t state = LOCK_FREE;

	/*
	 * relaxed: the value can be this thread's address only if this thread
	 * stored it.
	 */
	if (atomic_load_explicit(&forker, memory_order_relaxed) ==
	    own_address()) {
		forker_depth++;
		return;
	}

	for (unsigned i = 0; i < LOCK_SPIN_MAX; i++) {
		/*
		 * acquire, here and below: pairs with the release in release().
		 */
		if (atomic_compare_exchange_weak_explicit(
			    &lock_word, &state, LOCK_HELD, memory_order_acquire,
			    memory_order_relaxed))
			return;
		state = LOCK_FREE;
	}

	const int saved_errno = errno;

	while (atomic_exchange_explicit(&lock_word, LOCK_WANTED,
					memory_order_acquire) != LOCK_FREE)
		sys_futex_wait(&lock_word, LOCK_WANTED, 0);
	errno = saved_errno;
}

static void
release(void)
{
	const int saved_errno = errno;

	if (forker_depth != 0) {
		forker_depth--;
		return;
	}
	if (atomic_exchange_explicit(&lock_word, LOCK_FREE,
				     memory_order_release) == LOCK_WANTED)
		sys_futex_wake(&lock_word);
	errno = saved_errno;
}

void
heap_table_before_fork(void)
{
	hold();
	/* relaxed: see hold(). */
	atomic_store_explicit(&forker, own_address(), memory_order_relaxed);
}

void
heap_table_after_fork(void)
{
	atomic_store_explicit(&forker, 0, memory_order_relaxed);
	release();
}

static union cell *
new_cell(void)
{
	const size_t n = SLAB_NBYTES / sizeof(union cell);
	union cell *cell = free_cells;

	if (cell == NULL) {
		const int saved_errno = errno;

		cell = memory_map_forked(SLAB_NBYTES);
		errno = saved_errno;
		if (cell == NULL)
			return NULL;
		for (size_t i = 0; i + 1 < n; i++)
			cell[i].next = &cell[i + 1];
	}
	free_cells = cell->next;
	return cell;
}

static void
drop_cell(void *p)
{
	union cell *const cell = p;

	cell->next = free_cells;
	free_cells = cell;
}

static struct node **
bucket_of(const struct table *t, uintptr_t key)
{
	return &t->buckets[(key * 0x9e3779b97f4a7c15) >> 32 &
			   (t->bucket_count - 1)];
}

static struct node *
find(const struct table *t, uintptr_t key)
{
	struct node *node = NULL;

	if (t->bucket_count != 0)
		node = *bucket_of(t, key);
	while (node != NULL && node->key != key)
		node = node->next;
	return node;
}

/*
 * Double the number of buckets, or make the first ones.  If there is no memory,
 * keep the old buckets.
 */
static void
grow(struct table *t)
{
	const int saved_errno = errno;
	struct table other = {
		.bucket_count = t->bucket_count == 0 ? BUCKETS_MIN
						     : t->bucket_count * 2,
		.used = t->used,
	};

	other.buckets =
		memory_map_forked(other.bucket_count * sizeof(struct node *));
	errno = saved_errno;
	if (other.buckets == NULL)
		return;
	for (size_t i = 0; i < t->bucket_count; i++)
		for (struct node *node = t->buckets[i], *next; node != NULL;
		     node = next) {
			struct node **const bucket =
				bucket_of(&other, node->key);

			next = node->next;
			node->next = *bucket;
			*bucket = node;
		}
	if (t->buckets != NULL)
		memory_unmap(t->buckets,
			     t->bucket_count * sizeof(struct node *),
			     MEMORY_LASTING);
	*t = other;
}

static bool
insert(struct table *t, struct node *node)
{
	struct node **bucket;

	if (t->used >= t->bucket_count)
		grow(t);
	if (t->bucket_count == 0)
		return false;
	bucket = bucket_of(t, node->key);
	node->next = *bucket;
	*bucket = node;
	t->used++;
	return true;
}

static void
take_out(struct table *t, struct node *node)
{
	struct node **link = bucket_of(t, node->key);

	while (*link != node)
		link = &(*link)->next;
	*link = node->next;
	t->used--;
}

static void
link_block(struct pool *pool, struct block *b)
{
	b->before = NULL;
	b->after = pool->blocks;
	if (b->after != NULL)
		b->after->before = b;
	pool->blocks = b;
}

/*
 * Remove the block from the table and return its heap.  The caller must
 * decrease the heap's count.
 */
static struct pool *
drop_block(struct block *b)
{
	struct pool *const pool = b->pool;

	take_out(&blocks, &b->node);
	if (b->before != NULL)
		b->before->after = b->after;
	else
		pool->blocks = b->after;
	if (b->after != NULL)
		b->after->before = b->before;
	drop_cell(b);
	return pool;
}

/*
 * If the heap is deleted and has no blocks, remove it and return its number.
 * Otherwise return 0.
 */
static uint64_t
drop_pool(struct pool *pool)
{
	const uint64_t number = pool->number;

	if (!pool->is_deleted || pool->count != 0)
		return 0;
	drop_cell(pool);
	return number;
}

struct pool *
heap_table_add(const void *handle, uint64_t number)
{
	union cell *cell;
	struct pool *pool = NULL;

	/* relaxed: see heap_table_is_used(). */
	atomic_store_explicit(&heap_table_used, true, memory_order_relaxed);
	hold();
	cell = new_cell();
	if (cell != NULL) {
		pool = &cell->pool;
		*pool = (struct pool){ .number = number };
		pool->node.key = (uintptr_t)handle;
		if (!insert(&handles, &pool->node)) {
			drop_cell(cell);
			pool = NULL;
		}
	}
	release();
	return pool;
}

struct pool *
heap_table_find(const void *handle)
{
	struct pool *pool;

	hold();
	pool = (struct pool *)find(&handles, (uintptr_t)handle);
	release();
	return pool;
}

uint64_t
heap_table_number(const struct pool *pool)
{
	return pool->number;
}

bool
heap_table_put(struct pool *pool, const void *p, size_t size)
{
	union cell *cell;
	struct block *b;
	bool done;

	hold();
	/*
	 * If the table already has a block at this address, the recorder has
	 * missed the free of that block, so remove the block from the table.
	 */
	b = (struct block *)find(&blocks, (uintptr_t)p);
	if (b != NULL)
		drop_block(b)->count--;
	cell = new_cell();
	done = cell != NULL;
	if (done) {
		b = &cell->block;
		*b = (struct block){ .size = size, .pool = pool };
		b->node.key = (uintptr_t)p;
		done = insert(&blocks, &b->node);
		if (!done)
			drop_cell(b);
	}
	if (done) {
		link_block(pool, b);
		pool->count++;
	}
	release();
	return done;
}

struct pool *
heap_table_take(const void *p, size_t *size_ret)
{
	struct pool *pool = NULL;
	struct block *b;

	hold();
	b = (struct block *)find(&blocks, (uintptr_t)p);
	if (b != NULL) {
		*size_ret = b->size;
		pool = drop_block(b);
	}
	release();
	return pool;
}

uint64_t
heap_table_settle(struct pool *pool)
{
	uint64_t number;

	hold();
	pool->count--;
	number = drop_pool(pool);
	release();
	return number;
}

/*
 * Release the handle and mark its heap deleted.  Return the heap, or NULL if no
 * heap has this handle.
 */
static struct pool *
take_handle(const void *handle)
{
	struct pool *const pool =
		(struct pool *)find(&handles, (uintptr_t)handle);

	if (pool != NULL) {
		take_out(&handles, &pool->node);
		pool->is_deleted = true;
	}
	return pool;
}

uint64_t
heap_table_delete(const void *handle)
{
	struct pool *pool;
	uint64_t number = 0;

	hold();
	pool = take_handle(handle);
	if (pool != NULL)
		number = drop_pool(pool);
	release();
	return number;
}

uint64_t
heap_table_destroy(const void *handle)
{
	struct pool *pool;
	uint64_t number = 0;

	hold();
	pool = take_handle(handle);
	if (pool != NULL) {
		number = pool->number;
		pool->number = 0;
		while (pool->blocks != NULL)
			drop_block(pool->blocks)->count--;
		drop_pool(pool);
	}
	release();
	return number;
}

bool
heap_table_knows(const void *p)
{
	bool known;

	hold();
	known = find(&blocks, (uintptr_t)p) != NULL;
	release();
	return known;
}

/* Calls that free all blocks of a heap, and that the allocator may refuse */

struct heap_table_block {
	struct block block;
};

struct heap_table_block *
heap_table_hide(struct pool *pool)
{
	struct block *first;

	hold();
	first = pool->blocks;
	pool->blocks = NULL;
	for (struct block *b = first; b != NULL; b = b->after)
		take_out(&blocks, &b->node);
	release();
	return (struct heap_table_block *)first;
}

const struct heap_table_block *
heap_table_next(const struct heap_table_block *at, const void **p_ret,
		size_t *size_ret)
{
	*p_ret = (const void *)at->block.node.key;
	*size_ret = at->block.size;
	return (const struct heap_table_block *)at->block.after;
}

static void
forget(struct pool *pool, struct heap_table_block *hidden)
{
	for (struct block *b = (struct block *)hidden, *next; b != NULL;
	     b = next) {
		next = b->after;
		drop_cell(b);
		pool->count--;
	}
}

void
heap_table_forget(struct pool *pool, struct heap_table_block *hidden)
{
	hold();
	forget(pool, hidden);
	release();
}

void
heap_table_show(struct pool *pool, struct heap_table_block *hidden)
{
	hold();
	for (struct block *b = (struct block *)hidden, *next; b != NULL;
	     b = next) {
		next = b->after;
		/* The table has room, since it held this block before. */
		insert(&blocks, &b->node);
		link_block(pool, b);
	}
	release();
}

struct pool *
heap_table_hide_handle(const void *handle)
{
	struct pool *pool;

	hold();
	pool = (struct pool *)find(&handles, (uintptr_t)handle);
	if (pool != NULL)
		take_out(&handles, &pool->node);
	release();
	return pool;
}

void
heap_table_bury(struct pool *pool, struct heap_table_block *hidden)
{
	hold();
	forget(pool, hidden);
	pool->number = 0;
	pool->is_deleted = true;
	drop_pool(pool);
	release();
}

void
heap_table_revive(struct pool *pool, uint64_t number,
		  struct heap_table_block *hidden)
{
	hold();
	pool->number = number;
	insert(&handles, &pool->node);
	release();
	heap_table_show(pool, hidden);
}
