/* SPDX-License-Identifier: MIT */
/*
 * live_blocks.c - see live_blocks.h
 *
 * When a block is removed, its slot gets no mark.  Instead, later blocks in the
 * same run of used slots move back.  The length of a search therefore depends
 * only on the present blocks.
 *
 * The end of a heap frees its blocks.  Searching the whole table for them would
 * take too long for programs that often create and destroy heaps.  Instead, the
 * end of a heap puts a mark into the table.  A mark looks like a block of the
 * heap GONE, and has the number of the destroyed heap as its address.  Before
 * the table grows or is read, a rebuild of the table drops the marks and the
 * blocks of the destroyed heaps.
 */

#include "preload/trace/live_blocks.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "preload/sys/memory.h"

#define SLOTS_MIN_SHIFT 12
/*
 * Use huge pages for a table of at least this size, since look-ups then miss
 * the TLB less often.
 */
#define HUGE_NBYTES ((size_t)2 << 20)

/* The heap number of all marks.  No real heap has this number. */
#define GONE UINT32_MAX

/*
 * Return the size of the mapping.  The stacks lie after the slots, in the same
 * mapping.
 */
static size_t
table_nbytes(uint64_t slot_count, bool has_stacks)
{
	return slot_count * (sizeof(struct live_block) +
			     (has_stacks ? sizeof(uint32_t) : 0));
}

static bool
allocate(struct live_blocks *c, unsigned log2_slots, bool has_stacks)
{
	const uint64_t n = 1ull << log2_slots;
	const size_t nbytes = table_nbytes(n, has_stacks);
	struct live_block *const slots = memory_map_private(nbytes);

	if (slots == NULL)
		return false;
	if (nbytes >= HUGE_NBYTES)
		madvise(slots, nbytes, MADV_HUGEPAGE);
	c->slots = slots;
	c->stacks = has_stacks ? (uint32_t *)(slots + n) : NULL;
	c->slot_count = n;
	c->shift = 64 - log2_slots;
	return true;
}

bool
live_blocks_init(struct live_blocks *c, bool has_stacks)
{
	/*
	 * The seed comes from the 16 random bytes that the kernel gives a
	 * process.
	 */
	const void *const random =
		(const void *)(uintptr_t)getauxval(AT_RANDOM);

	*c = (struct live_blocks){ .seed = 0x9e3779b97f4a7c15 };
	if (random != NULL)
		memcpy(&c->seed, random, sizeof(c->seed));
	return allocate(c, SLOTS_MIN_SHIFT, has_stacks);
}

void
live_blocks_fini(struct live_blocks *c)
{
	if (c->slots != NULL)
		memory_unmap(c->slots,
			     table_nbytes(c->slot_count, c->stacks != NULL),
			     MEMORY_PASSING);
	c->slots = NULL;
	c->stacks = NULL;
	c->used = c->nbytes = c->slot_count = 0;
	c->next = 0;
	c->has_gone = false;
	memset(c->queue, 0, sizeof(c->queue));
}

/* Return the index of the slot at which the search for a block begins. */
static inline uint64_t
home(const struct live_blocks *c, uint64_t address, uint32_t heap)
{
	uint64_t n = address ^ (uint64_t)heap << 32 ^ c->seed;

	n = (n ^ n >> 32) * 0xd6e8feb86659fd93;
	return ((n ^ n >> 29) * 0x9e3779b97f4a7c15) >> c->shift;
}

/*
 * Return the index of the slot that has the block, or of the free slot for it.
 */
static inline uint64_t
seek(const struct live_blocks *c, uint64_t address, uint32_t heap)
{
	uint64_t i = home(c, address, heap);

	while (c->slots[i].address != 0 &&
	       (c->slots[i].address != address || c->slots[i].heap != heap))
		i = (i + 1) & (c->slot_count - 1);
	return i;
}

static inline void
fill(struct live_blocks *c, uint64_t slot, const struct live_block *block,
     uint32_t stack)
{
	c->slots[slot] = *block;
	if (c->stacks != NULL)
		c->stacks[slot] = stack;
}

/* Is the block a mark, or a block of a destroyed heap? */
static bool
is_gone(const struct live_blocks *c, const struct live_block *b)
{
	return c->has_gone && b->heap != 0 &&
	       (b->heap == GONE ||
		c->slots[seek(c, b->heap, GONE)].address != 0);
}

/*
 * Move the blocks of existing heaps to a new table.  Return false if there is
 * no memory for the new table.
 */
static bool
resize(struct live_blocks *c, unsigned log2_slots)
{
	struct live_blocks other = *c;

	if (!allocate(&other, log2_slots, c->stacks != NULL))
		return false;
	for (uint64_t i = 0; i < c->slot_count; i++) {
		const struct live_block *const b = &c->slots[i];

		if (b->address == 0)
			continue;
		if (is_gone(c, b)) {
			c->used--;
			c->nbytes -= b->size;
			continue;
		}
		fill(&other, seek(&other, b->address, b->heap), b,
		     live_blocks_stack(c, i));
	}
	c->has_gone = false;
	memory_unmap(c->slots, table_nbytes(c->slot_count, c->stacks != NULL),
		     MEMORY_PASSING);
	c->slots = other.slots;
	c->stacks = other.stacks;
	c->slot_count = other.slot_count;
	c->shift = other.shift;
	return true;
}

static void
put(struct live_blocks *c, const struct live_block *block, uint32_t stack)
{
	const uint64_t i = seek(c, block->address, block->heap);

	if (c->slots[i].address == 0)
		c->used++;
	else
		c->nbytes -= c->slots[i].size;
	c->nbytes += block->size;
	fill(c, i, block, stack);
}

/*
 * Fill the free slot 'hole' with the first later block of the same run of used
 * slots that a search would still find in 'hole'.  Then fill the former slot of
 * that block in the same way, and so on.
 */
static void
close_hole(struct live_blocks *c, uint64_t hole)
{
	const uint64_t mask = c->slot_count - 1;

	for (uint64_t i = (hole + 1) & mask; c->slots[i].address != 0;
	     i = (i + 1) & mask) {
		const uint64_t from =
			home(c, c->slots[i].address, c->slots[i].heap);

		/*
		 * A search for this block passes 'hole' if the search begins
		 * at 'hole' or before it.
		 */
		if (((i - from) & mask) >= ((i - hole) & mask)) {
			fill(c, hole, &c->slots[i], live_blocks_stack(c, i));
			hole = i;
		}
	}
	c->slots[hole].address = 0;
}

/*
 * Update the size of a block.  From now on the block's stack is the stack of
 * the call that resized the block.
 */
static void
change_size(struct live_blocks *c, uint64_t slot, uint64_t size, uint32_t stack)
{
	c->nbytes += size - c->slots[slot].size;
	c->slots[slot].size = size;
	if (c->stacks != NULL)
		c->stacks[slot] = stack;
}

static void
apply(struct live_blocks *c, const struct live_block_change *change)
{
	const struct live_block *const b = &change->block;
	uint64_t slot;

	if (change->what == LIVE_BLOCK_PUT) {
		put(c, b, change->stack);
		return;
	}
	slot = seek(c, b->address, b->heap);
	if (change->what == LIVE_BLOCK_RESIZE && c->slots[slot].address != 0) {
		change_size(c, slot, b->size, change->stack);
	} else if (change->what == LIVE_BLOCK_RESIZE) {
		put(c, b, change->stack);
	} else if (c->slots[slot].address != 0) {
		c->nbytes -= c->slots[slot].size;
		c->used--;
		close_hole(c, slot);
	}
}

/*
 * If the table is at least 3/4 full, drop the blocks of destroyed heaps.  If
 * the table is then still at least half full, grow it.  If there is no memory
 * for a new table of the same size or larger, call live_blocks_fini() and
 * return false.  If the table is less than 1/8 full, shrink it.
 */
static bool
fit(struct live_blocks *c)
{
	const unsigned log2_slots = 64 - c->shift;

	if (c->used >= c->slot_count - c->slot_count / 4) {
		/* If heaps were destroyed, first drop their blocks. */
		if (c->has_gone && !resize(c, log2_slots)) {
			live_blocks_fini(c);
			return false;
		}
		if (c->used < c->slot_count / 2 || resize(c, log2_slots + 1))
			return true;
		live_blocks_fini(c);
		return false;
	}
	/* If there is no memory for a smaller table, keep the large one. */
	if (c->used < c->slot_count / 8 && log2_slots > SLOTS_MIN_SHIFT)
		resize(c, log2_slots - 1);
	return true;
}

/*
 * Enqueue the change 'what' of 'block'.  If the queue is full, first apply its
 * oldest change and remove it.  If there is no memory for that, call
 * live_blocks_fini() and return false.
 */
static bool
enqueue(struct live_blocks *c, int what, const struct live_block *block,
	uint32_t stack)
{
	struct live_block_change *const oldest = &c->queue[c->next];
	const uint64_t slot = home(c, block->address, block->heap);

	__builtin_prefetch(&c->slots[slot], 1);
	if (oldest->what != LIVE_BLOCK_NO_CHANGE) {
		if (!fit(c))
			return false;
		apply(c, oldest);
	}
	oldest->block = *block;
	oldest->stack = stack;
	oldest->what = what;
	c->next = (c->next + 1) % LIVE_BLOCKS_QUEUE;
	return true;
}

bool
live_blocks_apply_queue(struct live_blocks *c)
{
	for (unsigned i = 0; c->slots != NULL && i < LIVE_BLOCKS_QUEUE; i++) {
		struct live_block_change *const oldest = &c->queue[c->next];

		if (oldest->what != LIVE_BLOCK_NO_CHANGE) {
			if (!fit(c))
				return false;
			apply(c, oldest);
		}
		oldest->what = LIVE_BLOCK_NO_CHANGE;
		c->next = (c->next + 1) % LIVE_BLOCKS_QUEUE;
	}
	if (c->slots != NULL && c->has_gone && !resize(c, 64 - c->shift)) {
		live_blocks_fini(c);
		return false;
	}
	return true;
}

/*
 * Enqueue the changes that a realloc makes to the live blocks.  narrate.c
 * writes the same changes into the trace.
 */
static bool
add_realloc(struct live_blocks *c, const struct event *ev,
	    struct live_block *block, uint32_t stack)
{
	const uint64_t from = ev->operand[0], to = ev->operand[1];

	block->address = from;
	if ((ev->flags & EVENT_FLAG_FREED) != 0)
		return enqueue(c, LIVE_BLOCK_REMOVE, block, 0);
	if (to == 0)
		return true; /* the realloc failed: nothing changes */
	block->size = ev->operand[2];
	if (to == from)
		return enqueue(c, LIVE_BLOCK_RESIZE, block, stack);
	if (from != 0 && !enqueue(c, LIVE_BLOCK_REMOVE, block, 0))
		return false;
	block->address = to;
	return enqueue(c, LIVE_BLOCK_PUT, block, stack);
}

bool
live_blocks_add_event(struct live_blocks *c,
		      const struct order_producer *producer,
		      const struct event *ev)
{
	struct live_block block = { .thread = (uint32_t)producer->id };
	const uint32_t stack = producer->stack;

	if (c->slots == NULL)
		return true;
	switch (ev->type) {
	case EVENT_ALLOC:
		block.address = ev->operand[0];
		block.size = ev->operand[1];
		return block.address == 0 ||
		       enqueue(c, LIVE_BLOCK_PUT, &block, stack);
	case EVENT_FREE:
		block.address = ev->operand[0];
		return enqueue(c, LIVE_BLOCK_REMOVE, &block, 0);
	case EVENT_REALLOC_END:
		return add_realloc(c, ev, &block, stack);
	case EVENT_HEAP_ALLOC:
		block.address = ev->operand[0];
		block.size = ev->operand[1];
		block.heap = (uint32_t)ev->operand[2];
		return block.address == 0 ||
		       enqueue(c, LIVE_BLOCK_PUT, &block, stack);
	case EVENT_HEAP_FREE:
		block.address = ev->operand[0];
		block.heap = (uint32_t)ev->operand[1];
		return enqueue(c, LIVE_BLOCK_REMOVE, &block, 0);
	case EVENT_HEAP_REALLOC:
		block.heap = (uint32_t)ev->operand[3];
		return add_realloc(c, ev, &block, stack);
	case EVENT_DESTROY_HEAP:
		block.address = (uint32_t)ev->operand[0];
		block.heap = GONE;
		c->has_gone = true;
		return enqueue(c, LIVE_BLOCK_PUT, &block, 0);
	default:
		return true;
	}
}
