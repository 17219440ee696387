/* SPDX-License-Identifier: MIT */
/*
 * stack_table.c - see stack_table.h
 *
 * The hash table consists of slots of 32 bits.  A slot holds the number of a
 * stack and a tag, which is a part of the stack's hash.  A search reads the
 * stack's node only if the tag is right.  So a search mostly reads one or two
 * cache lines of slots and the node that it finds; for a new stack, it mostly
 * reads no node.
 *
 * Each hash has a fixed sequence of slots: one line of each part of the hash
 * table, from the smallest part to the largest, and then the following lines of
 * the largest part.  A stack is put into the first free slot of its sequence,
 * so a search ends at the first free slot.  A short process uses only the
 * smallest part, which takes two pages.  This matters because a shell script
 * may start thousands of such processes.
 */

#include "preload/stacks/stack_table.h"

#include <stdatomic.h>
#include <stddef.h>

#include "preload/sys/memory.h"

/* The number of slots in a cache line. */
#define LINE_SLOTS 16u

struct line {
	_Alignas(64) _Atomic uint32_t slot[LINE_SLOTS];
};

/*
 * A slot holds a number in its lower bits and a tag in its upper bits; 0: the
 * slot is free.  Once taken, a slot does not change.
 */
#define NUMBER_MASK (STACK_IMAGE_NODES_MAX - 1)

_Static_assert((STACK_IMAGE_NODES_MAX & NUMBER_MASK) == 0,
	       "a mask must select the number");

/*
 * The number of lines of each part, as a power of two.  The parts take 8 KiB,
 * 1 MiB, 4 MiB and 16 MiB.  A part gets few stacks until the previous part is
 * about two thirds full.
 */
#define PART_0_BITS 7
#define PART_1_BITS 14
#define PART_2_BITS 16
#define PART_3_BITS 18

struct hash_table {
	/* aligned, so that its 8 KiB are in two pages and not in three */
	_Alignas(4096) struct line part_0[1u << PART_0_BITS];
	struct line part_1[1u << PART_1_BITS];
	struct line part_2[1u << PART_2_BITS];
	struct line part_3[1u << PART_3_BITS];
};

/*
 * The number of lines in a sequence.  The lines of a sequence together have
 * more slots than there are numbers, so a sequence always has a free slot.
 */
#define SEQUENCE_LINES (3 + (1u << PART_3_BITS))

_Static_assert(SEQUENCE_LINES > STACK_IMAGE_NODES_MAX / LINE_SLOTS,
	       "a sequence must have room for all numbers");

/*
 * The tables are wiped in the child of a fork, and are empty there.  What each
 * process uses comes first, so that it is in few pages.
 */
struct tables {
	/* How many numbers are in use, not counting 0, which means "none". */
	_Atomic uint32_t node_count, frame_count;
	_Atomic uint64_t full_count;
	_Atomic uint8_t is_retired[STACK_IMAGE_OBJECTS_MAX];
	struct stack_table_turn turn;
	struct hash_table node_slots, frame_slots;
	/* like 'defined' in struct stack_table_turn, but for objects */
	_Atomic uint32_t defined_object[STACK_IMAGE_OBJECTS_MAX];
	uint64_t frame[STACK_IMAGE_NODES_MAX];
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

/* Is 'id' the number of the stack with this parent and this address? */
static bool
is_node(uint32_t id, uint32_t parent, uint64_t address)
{
	const struct stack_image_node *const n = &tables->node[id];

	/*
	 * relaxed: a thread that runs code of a new object has synchronized
	 * with the thread that retired the old object at this address, so it
	 * sees that the old object is retired.
	 */
	return n->parent == parent &&
	       stack_frame_address(n->frame) == address &&
	       atomic_load_explicit(
		       &tables->is_retired[stack_frame_object(n->frame)],
		       memory_order_relaxed) == 0;
}

/* Is 'id' the number of this frame?  A frame has no parent. */
static bool
is_frame(uint32_t id, uint32_t parent, uint64_t frame)
{
	(void)parent;
	return tables->frame[id] == frame;
}

/*
 * Return the tag of a hash, in the bits that a tag has in a slot.  The tag does
 * not depend on the bits of the hash that determine the lines.
 */
static uint32_t
tag_of(uint64_t hash)
{
	return (uint32_t)(hash >> 14) & ~NUMBER_MASK;
}

/* Return the line 'n' of the sequence of a hash. */
static struct line *
line_of(struct hash_table *t, uint64_t hash, uint32_t n)
{
	switch (n) {
	case 0:
		return &t->part_0[hash >> (64 - PART_0_BITS)];
	case 1:
		return &t->part_1[hash >> (64 - PART_1_BITS)];
	case 2:
		return &t->part_2[hash >> (64 - PART_2_BITS)];
	default:
		return &t->part_3[((hash >> (64 - PART_3_BITS)) + n - 3) &
				  ((1u << PART_3_BITS) - 1)];
	}
}

static uint64_t
hash_of(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15ull;
}

/*
 * Search the sequence of 'hash' for a stack or a frame, and return its number:
 * the first number for which 'is_equal' returns true.  If there is none, put
 * 'id' into the first free slot and return 'id'.  If 'id' is 0, only search.
 *
 * Two threads that insert the same stack go through the same slots, and each
 * takes the first slot that is free.  So the second thread comes to the slot
 * that the first has taken, and finds the stack there.
 *
 * A signal handler may fork during the search.  In the child, all slots are
 * free.  The child may therefore put 'id' after a free slot, where no search
 * finds it.  The stack then gets another number when it is captured again.
 */
static inline __attribute__((always_inline)) uint32_t
find_or_insert(struct hash_table *t, uint64_t hash, uint32_t id,
	       uint32_t parent, uint64_t what,
	       bool (*is_equal)(uint32_t, uint32_t, uint64_t))
{
	const uint32_t tag = tag_of(hash);

	for (uint32_t n = 0; n < SEQUENCE_LINES; n++) {
		struct line *const line = line_of(t, hash, n);

		for (uint32_t i = 0; i < LINE_SLOTS; i++) {
			_Atomic uint32_t *const slot = &line->slot[i];
			/* acquire: pairs with the release below. */
			uint32_t held = atomic_load_explicit(
				slot, memory_order_acquire);

			/*
			 * release: a thread that finds 'id' sees the stack or
			 * frame with this number.  acquire: if another thread
			 * has taken the slot, this thread sees the stack or
			 * frame whose number is in the slot.
			 */
			if (held == 0 &&
			    (id == 0 || atomic_compare_exchange_strong_explicit(
						slot, &held, tag | id,
						memory_order_release,
						memory_order_acquire)))
				return id;
			if ((held & ~NUMBER_MASK) == tag &&
			    is_equal(held & NUMBER_MASK, parent, what))
				return held & NUMBER_MASK;
		}
	}
	return id;
}

void
stack_table_prefetch(uint64_t key)
{
	const uint64_t hash = hash_of(key);

	__builtin_prefetch(line_of(&tables->node_slots, hash, 0));
	__builtin_prefetch(line_of(&tables->node_slots, hash, 1));
}

uint32_t
stack_table_find(uint64_t key, uint32_t parent, uintptr_t address)
{
	return find_or_insert(&tables->node_slots, hash_of(key), 0, parent,
			      address, is_node);
}

/*
 * Find the number of a frame, or give the frame the next number.  Return 0 if
 * all numbers are used.
 */
static uint32_t
number_frame(uint64_t frame)
{
	const uint64_t hash = hash_of(frame);
	uint32_t id = find_or_insert(&tables->frame_slots, hash, 0, 0, frame,
				     is_frame);

	if (id != 0)
		return id;
	/* relaxed: the number must be unique; no other access depends on it. */
	id = 1 + atomic_fetch_add_explicit(&tables->frame_count, 1,
					   memory_order_relaxed);
	/*
	 * There are at most as many frames as nodes.  But if two threads number
	 * a frame at once, a number remains unused, so the numbers of frames
	 * may run out first.  This is rare.
	 */
	if (id >= STACK_IMAGE_NODES_MAX)
		return 0;
	tables->frame[id] = frame;
	return find_or_insert(&tables->frame_slots, hash, id, 0, frame,
			      is_frame);
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

uint32_t
stack_table_insert(uint64_t key, uint32_t id)
{
	const struct stack_image_node *const n = &tables->node[id];

	return find_or_insert(&tables->node_slots, hash_of(key), id, n->parent,
			      stack_frame_address(n->frame), is_node);
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
stack_table_begin_epoch(void)
{
	/* relaxed: see is_node(). */
	atomic_fetch_add_explicit(&tables->turn.epoch, 1, memory_order_relaxed);
}

void
stack_table_retire(uint32_t object)
{
	/* relaxed: see is_node(). */
	atomic_store_explicit(&tables->is_retired[object], 1,
			      memory_order_relaxed);
	stack_table_begin_epoch();
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

void
stack_table_set_defined(uint32_t id, uint32_t generation)
{
	/* release: the definition was published before this store. */
	atomic_store_explicit(&tables->turn.defined[id], generation,
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
