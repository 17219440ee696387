/* SPDX-License-Identifier: MIT */
/*
 * compile.h - compile a trace to the calls that its replay makes
 *
 * The calls for each event:
 *
 * 	alloc		malloc, calloc or memalign with the recorded alignment
 * 	realloc		realloc.  A realloc of an unknown or inherited block
 * 			becomes malloc; a realloc that freed its block becomes
 * 			free
 * 	free		free
 * 	failed calls	left out
 * 	free of an unknown or inherited block
 * 			left out
 * 	alloc at the address of a live block
 * 			free of the live block, then the call for the alloc
 * 	blocks that were live when the trace began, if the trace lists them
 * 			allocated at the start, each by its thread
 * 	blocks of pools and other heaps (heap is not 0)
 * 			left out, because the memory of a pool is itself a block
 * 			of heap 0
 * 	blocks that are live at the end
 * 			stay allocated
 * 	blocks that are live when a window (--from) begins
 * 			allocated before the replay measures anything, in the
 * 			order of the trace, each by its thread or, if this
 * 			thread has ended, by the initial thread.  WORD_BEGIN
 * 			follows these calls
 * 	createThread	the creator starts a thread; the initial thread does so
 * 			if the creator is unknown.  If the new thread gets the
 * 			stream of an earlier thread, the creator first waits for
 * 			the end of the earlier thread
 * 	destroyThread	the thread ends, but the initial thread goes on without
 * 			calls
 *
 * Memory is O(live blocks + live threads), and 4 bytes per 64 KiB of words.
 */
#ifndef COMPILE_H
#define COMPILE_H

#include "tools/compile/what_if.h"
#include "tools/compile/word_file.h"
#include "tools/trace/trace_window.h"

#include <stdbool.h>
#include <stdint.h>

struct compile_options {
	/* Make all calls in one thread, in the order of the trace. */
	bool one_thread;
	/* Allow more than REPLAY_STARTS_MAX threads in total. */
	bool many_threads;
	/*
	 * Write WORD_PAUSE before calls, so that the replay makes each call at
	 * its time in the trace.  Refuse a trace without times.
	 */
	bool real_time;
	struct trace_window window;
	const struct what_if_plan *what_if; /* NULL: change no events */
};

struct compiled {
	struct word_file file;
	/* Why the trace is incomplete; NULL: it is complete. */
	const char *fault;
	char fault_text[512];
	/*
	 * calls of the replay, without those that allocate the 'built_count'
	 * blocks
	 */
	uint64_t calls;
	uint64_t mallocs, callocs, memaligns, reallocs, frees;
	uint64_t handovers; /* calls that wait for a call of another thread */
	uint64_t thread_count, peak_threads;
	uint64_t slot_count;
	/*
	 * The peaks of three sums over the live blocks: their number, their
	 * bytes, and those of their bytes that may be resident in a run with
	 * TOUCH_FIRST.
	 */
	uint64_t peak_count, peak_nbytes, peak_first_nbytes;
	uint64_t end_count, end_nbytes; /* live at the end of the replay */
	/*
	 * 'has_window': the user gave the start of a window.  Before the replay
	 * measures anything, it allocates the blocks that are live at this
	 * start: 'built_count' blocks with 'built_nbytes' bytes in all.
	 */
	bool has_window;
	uint64_t built_count, built_nbytes;
	struct what_if_counts changes;
	/*
	 * Counts of events that are not replayed as they are: failed calls,
	 * frees and reallocs of unknown blocks, and calls for pools and other
	 * heaps.  A realloc of an unknown block becomes malloc; all other such
	 * events are omitted.  'replaced' counts the blocks that the replay
	 * frees because the trace reuses their addresses.
	 */
	uint64_t failed, unknown, pooled, replaced;
};

/*
 * Compile the trace 'path'.  On failure print a message and return false.
 * Compile a damaged trace as far as it can be read, set 'fault' and return
 * true.
 */
bool compile_trace(struct compiled *c, const char *path,
		   const struct compile_options *options);

void compiled_close(struct compiled *c);

#endif /* COMPILE_H */
