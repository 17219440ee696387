/* SPDX-License-Identifier: MIT */
/*
 * inherited.h - blocks that a process had before its trace began
 *
 * Without the parent's trace, these blocks are unknown.  The module then
 * assumes that the first free of an address which this trace has not allocated
 * frees an inherited block.  Each address can be inherited only once.  The
 * module remembers the addresses that the trace has allocated and freed.  It
 * remembers only the last ones, at most INHERITED_DEAD_SLOTS, because all of
 * them would take memory proportional to the trace.  So a double free long
 * after the first free is mistaken for a free of an inherited block.
 *
 * With the parent's trace ('exact'), inherited blocks are in the live set from
 * the start.  This module then keeps only the few addresses whose state at the
 * fork is unknown, because other threads of the parent used them while it
 * forked.  Such an address may have been live or free; its first use in this
 * trace decides.
 *
 * Memory is O(inherited blocks freed).  Only one thread may use a 'struct
 * inherited'.
 */
#ifndef HATF_INHERITED_H
#define HATF_INHERITED_H

#include "hatf/containers/u64_map.h"

#define INHERITED_DEAD_SHIFT 18
#define INHERITED_DEAD_SLOTS ((size_t)1 << INHERITED_DEAD_SHIFT)

struct inherited {
	/* addresses of inherited blocks that were freed */
	struct u64_map gone;
	/* hash table of addresses: blocks of this trace that were freed */
	uint64_t *dead;
	/* if 'exact': the addresses whose state at the fork is unknown */
	struct u64_map unsure;
	bool exact;
};

/*
 * Begin without the parent's trace.  Return false if there is no memory.  Call
 * inherited_fini() whatever the result.
 */
bool inherited_init(struct inherited *inherited);
void inherited_fini(struct inherited *inherited);

/* Switch to 'exact' and take ownership of 'unsure'. */
void inherited_set_exact(struct inherited *inherited,
			 const struct u64_map *unsure);

/*
 * Can there be an inherited block at 'address'?  The live set must have no
 * block there.
 */
bool inherited_may_be(struct inherited *inherited, uint64_t address);

/*
 * Record that an inherited block, which is not in the live set, was freed.
 * Return false if there is no memory.
 */
bool inherited_note(struct inherited *inherited, uint64_t address);

/* Record that a live block of this trace was freed. */
void inherited_note_dead(struct inherited *inherited, uint64_t address);

/*
 * Call this when the trace allocates 'address' although a block is live there.
 * Return true if that block may have been freed before.
 */
bool inherited_settle(struct inherited *inherited, uint64_t address);

#endif /* HATF_INHERITED_H */
