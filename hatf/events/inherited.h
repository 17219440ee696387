/* SPDX-License-Identifier: MIT */
/*
 * inherited.h - blocks that a process had before its trace began
 *
 * Without the parent's trace, these blocks are unknown.  If the process frees
 * or reallocates an address that this trace has not allocated, the module
 * assumes that an inherited block was there.  It assumes this only once for
 * each address.
 *
 * The free of an address that this trace has allocated and freed already is a
 * double free, not the free of an inherited block.  To recognize it, the module
 * stores such addresses in a hash table of INHERITED_DEAD_SLOTS slots.  All
 * these addresses would take memory proportional to the trace, so each slot
 * keeps only the address that was stored there last.  The price: if another
 * address took over the slot between the two frees, the module mistakes the
 * second free for the free of an inherited block.
 *
 * With the parent's trace ('exact'), inherited blocks are in the live set from
 * the start.  In this case, the module stores only the few addresses whose
 * state at the fork is unknown, because other threads of the parent used these
 * addresses while the parent forked.  A block may or may not have been live at
 * such an address; the first use of the address in this trace shows which is
 * true.
 *
 * Memory is O(inherited blocks freed + addresses of unknown state), plus the
 * hash table, which has a fixed size.  Only one thread may use a 'struct
 * inherited'.
 */
#ifndef HATF_INHERITED_H
#define HATF_INHERITED_H

#include "hatf/containers/u64_map.h"

#define INHERITED_DEAD_SHIFT 18
#define INHERITED_DEAD_SLOTS ((size_t)1 << INHERITED_DEAD_SHIFT)

struct inherited {
	/* addresses of inherited blocks that were freed or reallocated */
	struct u64_map gone;
	/* hash table of addresses at which this trace freed its own blocks */
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
 * Can there be an inherited block at 'address'?  Precondition: the live set has
 * no block there.
 */
bool inherited_may_be(struct inherited *inherited, uint64_t address);

/*
 * Record that an inherited block, which is not in the live set, was freed or
 * reallocated at 'address'.  First call inherited_may_be(), which must return
 * true.  Return false if there is no memory.
 */
bool inherited_note(struct inherited *inherited, uint64_t address);

/* Record that a block of the live set was freed or moved. */
void inherited_note_dead(struct inherited *inherited, uint64_t address);

/*
 * Call this when the trace allocates 'address' although the live set has an
 * inherited block there.  Return true if the state of 'address' at the fork is
 * unknown; the allocation then shows that the parent had freed the block before
 * the fork.  After this call, the state is known.
 */
bool inherited_settle(struct inherited *inherited, uint64_t address);

#endif /* HATF_INHERITED_H */
