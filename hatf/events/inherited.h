/* SPDX-License-Identifier: MIT */
/*
 * inherited.h - blocks that a process had before its trace began
 *
 * Without knowledge of them, the first free of an address that this trace has not
 * handed out is taken for one of an inherited block.  Each address can be
 * inherited once, which is exact.  Whether the trace handed it out is remembered
 * for INHERITED_DEAD_SLOTS addresses, the last that died: to know it for all would
 * take memory in proportion to the trace.  A second free that comes later than
 * that passes for an inherited one.
 *
 * With knowledge, 'exact', they are in the live set from the start, and what is
 * kept here are the few addresses whose state at the fork is unsure, since other
 * threads of the parent used them while it forked.  Such an address may have been
 * live or free; what the trace first does with it settles the matter.
 */
#ifndef HATF_INHERITED_H
#define HATF_INHERITED_H

#include "hatf/containers/u64_map.h"

#define INHERITED_DEAD_SHIFT 18
#define INHERITED_DEAD_SLOTS ((size_t)1 << INHERITED_DEAD_SHIFT)

struct inherited {
	struct u64_map gone; /* inherited ones that died */
	uint64_t *dead; /* blocks of this trace, each where its hash says */
	struct u64_map unsure; /* if 'exact': addresses */
	bool exact;
};

/* False if there is no memory. */
bool inherited_init(struct inherited *inherited);
void inherited_fini(struct inherited *inherited);

/* From here on it is 'exact'; takes over 'unsure'. */
void inherited_set_exact(struct inherited *inherited,
			 const struct u64_map *unsure);

/* May 'address', which is not live, be an inherited block? */
bool inherited_may_be(struct inherited *inherited, uint64_t address);

/* An inherited block that was not known to live died.  False: no memory. */
bool inherited_note(struct inherited *inherited, uint64_t address);

/* A block that was known to live died. */
void inherited_note_dead(struct inherited *inherited, uint64_t address);

/* 'address', which is live, was handed out: may it have been free? */
bool inherited_settle(struct inherited *inherited, uint64_t address);

#endif /* HATF_INHERITED_H */
