/* SPDX-License-Identifier: MIT */
/*
 * what_if.h - change the events of a trace on their way to the compiler
 *
 *	sizes:round=N	  each block takes a multiple of N bytes
 *	drop:site=GLOB	  the blocks of these sites do not exist
 *	pool:site=GLOB	  the blocks of these sites are in a pool
 *	merge:threads	  one thread makes all calls
 *
 * The pool rounds sizes up to 16 bytes.  It takes a freed block of that size,
 * or else the next bytes of its newest chunk, of POOL_CHUNK_NBYTES, or else a
 * new chunk.  The thread that needs a chunk allocates it by malloc().  Chunks
 * are never freed.  Blocks of more than POOL_BLOCK_MAX bytes are not pooled.
 *
 * Memory is O(live blocks of these sites) and 24 bytes for each size.
 */
#ifndef WHAT_IF_H
#define WHAT_IF_H

#include "hatf/containers/u64_map.h"
#include "tools/sites/block_filter.h"

#define POOL_CHUNK_NBYTES 65536
#define POOL_BLOCK_MAX	  16384

/* What is to be changed. */
struct what_if_plan {
	uint64_t round; /* 0: sizes stay */
	bool merges_threads;
	struct block_filter_options drop, pool;
	char text[256]; /* as the user wrote it, with blanks between */
};

struct what_if_counts {
	uint64_t rounded_nbytes; /* added to sizes */
	uint64_t dropped_calls, dropped_nbytes;
	uint64_t pooled_calls, pooled_nbytes, chunks;
};

struct what_if {
	const struct what_if_plan *plan;
	struct hatf_stacks *stacks;
	struct stack_view *view;
	struct block_filter *drop, *pool; /* NULL: none */
	struct u64_map blocks; /* address -> size in the pool, or dropped */
	struct u64_map free_counts; /* size -> free blocks in the pool */
	uint64_t chunk_used;
	struct what_if_counts counts;
	bool no_memory;
};

/* Add a change to the plan.  On failure print a message and return false. */
bool what_if_parse(struct what_if_plan *plan, const char *text);

/* Does the plan change anything? */
bool what_if_is_needed(const struct what_if_plan *plan);

/* '*plan' stays the caller's.  False if there is no memory; close it, too. */
bool what_if_open(struct what_if *w, const struct what_if_plan *plan);
void what_if_close(struct what_if *w);

/*
 * Change an event; every one of the trace has to come here, in order.  Return
 * false if it is left out.
 */
bool what_if_change(struct what_if *w, struct hatf_event *e);

/* Did a plan ask for sites, and no allocation had a call stack? */
bool what_if_lacks_stacks(const struct what_if *w);

#endif /* WHAT_IF_H */
