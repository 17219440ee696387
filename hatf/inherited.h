/* SPDX-License-Identifier: MIT */
/*
 * inherited.h - blocks that a forked child has from its parent
 *
 * The child's trace does not say what was live at the fork, so the first free of
 * an address that this trace has not handed out is taken for one of an inherited
 * block.  Each address can be inherited once, which is exact.  Whether the trace
 * handed it out is remembered for INHERITED_DEAD_SLOTS addresses, the last that
 * died: to know it for all would take memory in proportion to the trace.  A second
 * free that comes later than that passes for an inherited one.
 */
#ifndef HATF_INHERITED_H
#define HATF_INHERITED_H

#include "live.h"

#define INHERITED_DEAD_SHIFT 18
#define INHERITED_DEAD_SLOTS ((size_t)1 << INHERITED_DEAD_SHIFT)

struct inherited {
	struct live gone; /* inherited ones that died */
	uint64_t *dead;	  /* blocks of this trace, each where its hash says */
};

/* False if there is no memory. */
bool inherited_init(struct inherited *inherited);
void inherited_fini(struct inherited *inherited);

/* May 'address', which is not live, be an inherited block? */
bool inherited_may_be(struct inherited *inherited, uint64_t address);

/* An inherited block died.  False if there is no memory. */
bool inherited_note(struct inherited *inherited, uint64_t address);

/* A block of this trace died. */
void inherited_note_dead(struct inherited *inherited, uint64_t address);

#endif /* HATF_INHERITED_H */
