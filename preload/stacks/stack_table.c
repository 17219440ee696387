/* SPDX-License-Identifier: MIT */
/*
 * stack_table.c - see stack_table.h
 *
 * Each hash table has two parts.  The first entries of a bucket are in the
 * small part, later ones in the large part.  A short process therefore touches
 * few pages; a shell script may start thousands of such processes.
 */

#include "preload/stacks/stack_table.h"

#include <stdatomic.h>
#include <stddef.h>

#include "preload/sys/memory.h"

#define SMALL_BITS 11
#define LARGE_BITS 18

/* A bucket of the small part has room for this many entries. */
#define SMALL_CHAIN 2u

/* The tables are wiped in the child of a fork, and are empty there. */
struct tables {
	/* How many numbers are in use, not counting 0, which means "none". */
	_Atomic uint32_t node_count, frame_count;
	_Atomic uint64_t full_count;
	struct stack_table_turn turn;
	_Atomic uint8_t is_retired[STACK_IMAGE_OBJECTS_MAX];
	/* The first stack or frame of each bucket; 0: none. */
	_Atomic uint32_t small_node[1u << SMALL_BITS];
	_Atomic uint32_t small_frame[1u << SMALL_BITS];
	_Atomic uint32_t large_node[1u << LARGE_BITS];
	_Atomic uint32_t large_frame[1u << LARGE_BITS];
	/* The next stack or frame of the same bucket. */
	uint32_t node_next[STACK_IMAGE_NODES_MAX];
	uint32_t frame_next[STACK_IMAGE_NODES_MAX];
	uint64_t frame[STACK_IMAGE_NODES_MAX];
	/*
	 * For each stack and each object, the latest generation in which some
	 * ring got the definition of the stack or object.
	 */
	_Atomic uint32_t defined[STACK_IMAGE_NODES_MAX];
	_Atomic uint32_t defined_object[STACK_IMAGE_OBJECTS_MAX];
	struct stack_image_node node[STACK_IMAGE_NODES_MAX];
};

static struct tables *tables;
struct stack_table_turn *stack_table_turn;

size_t
stack_table_nbytes(void)
{
	return sizeof(*tables);
}

bool
stack_table_init(void)
{
	if (tables == NULL)
		tables = memory_map_wiped(sizeof(*tables));
	if (tables != NULL)
		stack_table_turn = &tables->turn;
	return tables != NULL;
}

static uint32_t
bucket_of(uint64_t key, unsigned bits)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> (64 - bits));
}

static uint64_t
node_key(uint32_t parent, uintptr_t address)
{
	return address ^ (uint64_t)parent * 0xff51afd7ed558ccdull;
}

static bool
is_node(uint32_t id, uint32_t parent, uintptr_t address)
{
	const struct stack_image_node *const n = &tables->node[id];

	/*
	 * relaxed: a thread that runs code of a new object has synchronized
	 * with the thread that retired the old object at this address.
	 */
	return n->parent == parent &&
	       stack_frame_address(n->frame) == address &&
	       atomic_load_explicit(
		       &tables->is_retired[stack_frame_object(n->frame)],
		       memory_order_relaxed) == 0;
}

/*
 * Search the chain for a stack, from 'id' to before 'end'.  Return 0 if the
 * stack is not there.  If a signal handler forks during the search, the chains
 * are wiped in the child, and end with 0 there.
 */
static uint32_t
search(uint32_t id, uint32_t end, uint32_t parent, uintptr_t address)
{
	while (id != end && id != 0 && !is_node(id, parent, address))
		id = tables->node_next[id];
	return id != end ? id : 0;
}

/*
 * Search a chain of the small part for a stack, and store in '*is_full_ret'
 * whether the bucket is full.  Once full, the bucket does not change.
 */
static uint32_t
search_small(uint32_t id, uint32_t parent, uintptr_t address, bool *is_full_ret)
{
	unsigned n = 0;

	for (; id != 0 && n < SMALL_CHAIN; id = tables->node_next[id]) {
		if (is_node(id, parent, address))
			return id;
		n++;
	}
	*is_full_ret = n == SMALL_CHAIN;
	return 0;
}

uint32_t
stack_table_find(uint32_t parent, uintptr_t address)
{
	const uint64_t key = node_key(parent, address);
	bool is_full = false;
	/* acquire, both: pairs with the release in push(). */
	const uint32_t id = search_small(
		atomic_load_explicit(
			&tables->small_node[bucket_of(key, SMALL_BITS)],
			memory_order_acquire),
		parent, address, &is_full);

	return !is_full ? id
			: search(atomic_load_explicit(
					 &tables->large_node[bucket_of(
						 key, LARGE_BITS)],
					 memory_order_acquire),
				 0, parent, address);
}

/*
 * Find the number of a frame in a bucket; 0: it is not there.  Store the first
 * entry of the bucket in '*first_ret', and the number of entries in '*n_ret'.
 */
static uint32_t
find_frame(_Atomic uint32_t *bucket, uint64_t frame, uint32_t *first_ret,
	   unsigned *n_ret)
{
	/* acquire: pairs with the release in number_frame(). */
	uint32_t id = atomic_load_explicit(bucket, memory_order_acquire);

	*first_ret = id;
	*n_ret = 0;
	for (; id != 0 && tables->frame[id] != frame;
	     id = tables->frame_next[id])
		++*n_ret;
	return id;
}

/*
 * Find the number of a frame, or give the frame the next number.  Return 0 if
 * all numbers are used.  Two threads may give the same frame two numbers, which
 * costs one more definition.
 */
static uint32_t
number_frame(uint64_t frame)
{
	_Atomic uint32_t *bucket =
		&tables->small_frame[bucket_of(frame, SMALL_BITS)];
	uint32_t first, id;
	unsigned n;

	id = find_frame(bucket, frame, &first, &n);
	if (id == 0 && n >= SMALL_CHAIN) {
		bucket = &tables->large_frame[bucket_of(frame, LARGE_BITS)];
		id = find_frame(bucket, frame, &first, &n);
	}
	if (id != 0)
		return id;
	/* relaxed: the number must be unique; no other access depends on it. */
	id = 1 + atomic_fetch_add_explicit(&tables->frame_count, 1,
					   memory_order_relaxed);
	/*
	 * There are at most as many frames as nodes.  But a frame may have two
	 * numbers, so the numbers of frames may run out first.  This is rare.
	 */
	if (id >= STACK_IMAGE_NODES_MAX)
		return 0;
	tables->frame[id] = frame;
	do {
		tables->frame_next[id] = first;
		/* release: a thread that finds the frame sees its content. */
	} while (!atomic_compare_exchange_weak_explicit(bucket, &first, id,
							memory_order_release,
							memory_order_relaxed));
	return id;
}

uint32_t
stack_table_claim(uint32_t parent, uint64_t frame)
{
	uint32_t id, frame_id;

	/*
	 * relaxed, all accesses: the numbers must be unique, but publish
	 * nothing.
	 */
	if (atomic_load_explicit(&tables->node_count, memory_order_relaxed) >=
		    STACK_IMAGE_NODES_MAX - 1 ||
	    (frame_id = number_frame(frame)) == 0 ||
	    (id = 1 + atomic_fetch_add_explicit(&tables->node_count, 1,
						memory_order_relaxed)) >=
		    STACK_IMAGE_NODES_MAX) {
		atomic_fetch_add_explicit(&tables->full_count, 1,
					  memory_order_relaxed);
		return 0;
	}
	/*
	 * Callers have smaller numbers.  A parent with a larger number is from
	 * before a fork, which a signal handler made while this stack was
	 * getting its number.  Such a parent could make a cycle.
	 */
	if (parent >= id)
		return 0;
	tables->node[id].parent = parent;
	tables->node[id].frame_id = frame_id;
	tables->node[id].frame = frame;
	return id;
}

/*
 * If '*first' is still the first entry of the bucket, make 'id' the first
 * entry.  Otherwise update '*first' and return false.
 */
static bool
push(_Atomic uint32_t *bucket, uint32_t *first, uint32_t id)
{
	tables->node_next[id] = *first;
	/*
	 * release: a thread that finds the stack sees its content.
	 * acquire: this thread sees the content of stacks that other threads
	 * have inserted.
	 */
	return atomic_compare_exchange_weak_explicit(
		bucket, first, id, memory_order_release, memory_order_acquire);
}

uint32_t
stack_table_insert(uint32_t id)
{
	const struct stack_image_node *const n = &tables->node[id];
	const uintptr_t address = stack_frame_address(n->frame);
	const uint64_t key = node_key(n->parent, address);
	_Atomic uint32_t *bucket =
		&tables->small_node[bucket_of(key, SMALL_BITS)];
	uint32_t first = 0, seen = 0;
	bool is_full = false;

	/*
	 * As long as the bucket of the small part has room, nobody inserts into
	 * the large part an entry that belongs to this bucket.  So no two
	 * threads insert the same stack.
	 */
	do {
		const uint32_t same =
			search_small(first, n->parent, address, &is_full);

		if (same != 0)
			return same;
		if (!is_full && push(bucket, &first, id))
			return id;
	} while (!is_full);
	bucket = &tables->large_node[bucket_of(key, LARGE_BITS)];
	first = 0;
	do {
		/*
		 * Search the stacks that other threads have inserted since the
		 * last search.
		 */
		const uint32_t same = search(first, seen, n->parent, address);

		if (same != 0)
			return same;
		seen = first;
	} while (!push(bucket, &first, id));
	return id;
}

const struct stack_image_node *
stack_table_node(uint32_t id)
{
	return &tables->node[id];
}

uint32_t
stack_table_count(void)
{
	/* relaxed: no other data depends on the count. */
	const uint32_t count =
		atomic_load_explicit(&tables->node_count, memory_order_relaxed);

	return count < STACK_IMAGE_NODES_MAX - 1 ? count + 1
						 : STACK_IMAGE_NODES_MAX;
}

uint64_t
stack_table_full(void)
{
	/* relaxed: only a statistic. */
	return tables == NULL ? 0
			      : atomic_load_explicit(&tables->full_count,
						     memory_order_relaxed);
}

void
stack_table_retire(uint32_t object)
{
	/* relaxed: see is_node(). */
	atomic_store_explicit(&tables->is_retired[object], 1,
			      memory_order_relaxed);
	atomic_fetch_add_explicit(&tables->turn.epoch, 1, memory_order_relaxed);
}

void
stack_table_begin_segment(void)
{
	/*
	 * relaxed: a thread that still reads the old generation does not define
	 * its stack again.  writer_define_stacks() finds this stack in the
	 * thread's ring, and defines it in the new segment.
	 */
	if (tables != NULL)
		atomic_fetch_add_explicit(&tables->turn.generation, 1,
					  memory_order_relaxed);
}

bool
stack_table_is_defined(uint32_t id, uint32_t generation)
{
	/* acquire: pairs with the release in stack_table_set_defined(). */
	return atomic_load_explicit(&tables->defined[id],
				    memory_order_acquire) == generation;
}

void
stack_table_set_defined(uint32_t id, uint32_t generation)
{
	/* release: the definition was published before this store. */
	atomic_store_explicit(&tables->defined[id], generation,
			      memory_order_release);
}

bool
stack_table_is_object_defined(uint32_t id, uint32_t generation)
{
	return atomic_load_explicit(&tables->defined_object[id],
				    memory_order_acquire) == generation;
}

void
stack_table_set_object_defined(uint32_t id, uint32_t generation)
{
	atomic_store_explicit(&tables->defined_object[id], generation,
			      memory_order_release);
}
