/* SPDX-License-Identifier: MIT */
/*
 * inherited.h - blocks that a process had before its trace began
 *
 * Without the parent's trace, these blocks are unknown.  The first free of an
 * address that this trace has not allocated is then assumed to free an
 * inherited block.  Each address can be inherited only once; that much is
 * exact.  Whether the trace has allocated an address is remembered for the last
 * freed addresses, at most INHERITED_DEAD_SLOTS: remembering all of them would
 * take memory proportional to the trace.  A double free that comes later than
 * that is mistaken for a free of an inherited block.
 *
 * With the parent's trace ('exact'), inherited blocks are in the live set from
 * the start.  This module then keeps only the few addresses whose state at the
 * fork is unknown, because other threads of the parent used them while it
 * forked.  Such an address may have been live or free; its first use in this
 * trace decides.
 *
 * Memory is O(inherited blocks freed).  One thread uses a 'struct inherited'.
 */
#ifndef HATF_INHERITED_H
#define HATF_INHERITED_H

#include "hatf/containers/u64_map.h"

#define INHERITED_DEAD_SHIFT 18
#define INHERITED_DEAD_SLOTS ((size_t)1 << INHERITED_DEAD_SHIFT)

struct inherited {
	struct u64_map gone;   /* inherited blocks that were freed */
	uint64_t *dead;	       /* blocks of this trace, by hash */
	struct u64_map unsure; /* if 'exact': addresses */
	bool exact;
};

/*
 * Begin without the parent's trace.  Returns false if memory is short.  Call
 * inherited_fini() whatever the result.
 */
bool inherited_init(struct inherited *inherited);
void inherited_fini(struct inherited *inherited);

/* Switch to 'exact' and take ownership of 'unsure'. */
void inherited_set_exact(struct inherited *inherited,
			 const struct u64_map *unsure);

/* Return true if 'address', which is not live, may be an inherited block. */
bool inherited_may_be(struct inherited *inherited, uint64_t address);

/*
 * Note that an unknown inherited block was freed.  Returns false if memory is
 * short.
 */
bool inherited_note(struct inherited *inherited, uint64_t address);

/* Note that a live block was freed. */
void inherited_note_dead(struct inherited *inherited, uint64_t address);

/*
 * Note that 'address', a live block, was allocated again.  Returns true if the
 * block may have been freed before.
 */
bool inherited_settle(struct inherited *inherited, uint64_t address);

#endif /* HATF_INHERITED_H */
