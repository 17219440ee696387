/* SPDX-License-Identifier: MIT */
/*
 * what_if.h - change the events of a trace before they are compiled
 *
 * The changes, as the user writes them:
 *
 * - sizes:round=N: round the size of each block up to a multiple of N bytes;
 * - drop:site=GLOB: remove the blocks of these call sites;
 * - pool:site=GLOB: take the blocks of these call sites from a pool;
 * - merge:threads: make all calls on one thread.
 *
 * The pool rounds sizes up to multiples of 16 bytes.  A new block reuses a
 * freed block of the rounded size.  If there is none, the new block takes the
 * next unused bytes of the newest chunk.  If these are too few, the new block
 * takes the first bytes of a new chunk of POOL_CHUNK_NBYTES.  The thread that
 * needs a chunk allocates it by malloc().  Chunks are never freed.  Blocks of
 * more than POOL_BLOCK_MAX bytes are not pooled.
 *
 * Memory is O(live blocks of these sites + call stacks of the trace), and 24
 * bytes for each size in the pool.
 */
#ifndef WHAT_IF_H
#define WHAT_IF_H

#include "hatf/containers/u64_map.h"
#include "tools/sites/block_filter.h"

#define POOL_CHUNK_NBYTES 65536
#define POOL_BLOCK_MAX	  16384

/* The changes to make. */
struct what_if_plan {
	uint64_t round; /* round sizes up to multiples of this; 0: do not */
	bool merges_threads;
	/* for sites: hide frames of the standard library, see stack_view.h */
	bool fold_std;
	struct block_filter_options drop, pool;
	char text[256]; /* the user's texts, joined with blanks */
};

struct what_if_counts {
	uint64_t rounded_nbytes; /* bytes added to sizes by rounding */
	uint64_t dropped_calls, dropped_nbytes;
	uint64_t pooled_calls, pooled_nbytes, chunks;
};

struct what_if {
	const struct what_if_plan *plan;
	struct hatf_stacks *stacks;
	struct stack_view *view;
	/* choose the blocks to drop and the blocks to pool; NULL: none */
	struct block_filter *drop, *pool;
	struct u64_map blocks; /* address -> size in the pool, or DROPPED */
	/* Size -> number of free blocks in the pool. */
	struct u64_map free_counts;
	uint64_t chunk_used; /* number of used bytes in the newest chunk */
	struct what_if_counts counts;
	bool no_memory;
};

/* Add a change to the plan.  On failure print a message and return false. */
bool what_if_parse(struct what_if_plan *plan, const char *text);

/* Does the plan change anything? */
bool what_if_is_needed(const struct what_if_plan *plan);

/*
 * Begin to change events.  '*plan' must stay valid until what_if_close().
 * Return false if there is no memory; call what_if_close() even then.
 */
bool what_if_open(struct what_if *w, const struct what_if_plan *plan);
void what_if_close(struct what_if *w);

/*
 * Change an event.  Call this for each event of the trace, in order.  Return
 * false if the event is removed.  Set 'no_memory' if there is no memory.
 */
bool what_if_change(struct what_if *w, struct hatf_event *e);

/*
 * Call this after the last event.  If the plan names sites and the trace at
 * 'path' has no call stacks, print a message.  Otherwise print a message for
 * each of drop:site and pool:site that the plan has and that changed no call.
 */
void what_if_report(const struct what_if *w, const char *path);

/* Return true if all calls stayed as they were, except for their threads. */
bool what_if_did_nothing(const struct what_if_counts *counts);

#endif /* WHAT_IF_H */
