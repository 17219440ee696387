/* SPDX-License-Identifier: MIT */
/*
 * trace.h - write the blocks of the trace into its file
 *
 * The writer thread calls these functions.  If a process ends before it has a
 * writer thread, the thread that ends the process calls them instead.
 * narrate.h encodes events into blocks; this file compresses and writes the
 * blocks.
 */
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "hatf/recorder/config.h"
#include "hatf/rings/image.h"
#include "hatf/rings/narrate.h"
#include "preload/clock/clock.h"
#include "preload/trace/load_policy.h"
#include "preload/trace/output.h"

struct trace {
	/* The process is short: do not compress small blocks. */
	bool is_brief;
	/* The process has few events: place metadata without a search. */
	bool is_tiny;
	struct narrator narrator;
	struct output output;
	/* buffer for a compressed block; NULL: blocks are not compressed */
	uint8_t *member;
	size_t member_cap;
	void *work; /* working memory of deflate_member() */
	int level;
	struct load_policy load;
	enum config_clock clock;
	int error; /* errno of the failure that ended the trace, or 0 */
	bool is_end_reported; /* the user was told that the trace has ended */
	uint64_t missing;     /* number of events lost because of 'error' */
	/* Result of stack_table_full() that was last reported. */
	uint64_t full_count;
	/*
	 * Free space on a full disk.  Return false if there is nothing to free.
	 */
	bool (*make_space)(void *context);
	void *make_space_context;
	/* length and hash of the file's beginning, see struct image_trace */
	uint64_t head_nbytes, head_hash;
};

/*
 * Return how many bytes of zeroed memory trace_open() needs besides the struct.
 */
size_t trace_memory_nbytes(const struct config *config);

/*
 * Begin at event 0 with 'output', which may have no file yet.  '*t' must be
 * zeroed, and 'memory' must have trace_memory_nbytes() zeroed bytes.
 */
void trace_open(struct trace *t, const struct config *config,
		const struct output *output, void *memory);

/* Write the header comment into a new file, in a block without records. */
bool trace_begin(struct trace *t, const char *header, size_t header_nbytes);

/*
 * Read the stamp clock and CLOCK_MONOTONIC, and extend the trace's timeline up
 * to this reading.
 */
struct clock_reading trace_read_clock(struct trace *t);

/*
 * Adapt the trace to the clock's mode.  'stamped' is true in stamped mode, and
 * false if the clock has ticks.  The mode matters with two values of
 * HATFTRACE_CLOCK:
 *
 * - coarse: in stamped mode, round the times in the trace.
 * - auto: in stamped mode without page owners (owners.h), write into the trace
 *   that each event has its own stamp.
 */
void trace_set_clock(struct trace *t, bool stamped);

/*
 * Call this before and after a whole trace is written at the end of a short
 * process, to set 'is_brief' and 'is_tiny'.
 */
void trace_set_brief(struct trace *t, bool is_brief, bool is_tiny);

/*
 * Call this at the beginning of the trace.  'is_contended': do threads seem to
 * share processors?  See load_policy_begin().
 */
void trace_begin_load(struct trace *t, bool is_contended);

/*
 * Call this between events, for example once a round.  Find out whether the
 * processors are busy, and encode the next events accordingly.  'now_ns' is
 * CLOCK_MONOTONIC's time.
 */
void trace_look_at_load(struct trace *t, uint64_t now_ns);

/*
 * Compress and write the current block, if a block has begun.  On failure,
 * return false and set 'error'.  From then on each block is discarded, and its
 * events are counted as missing.
 */
bool trace_commit(struct trace *t);

/*
 * Store the state from which recovery continues the trace after its last block.
 */
void trace_get_state(const struct trace *t, struct image_commit *state_ret);

/* Write the trailer and commit.  Return the same as trace_commit(). */
bool trace_finish(struct trace *t, const struct narrate_trailer *end);

/*
 * Call this after an error.  If the file has a header, ends with a whole block
 * and was not removed, append the number of missing events and a trailer with
 * the reason.  Print one line on standard error, unless 'is_end_reported' is
 * set.  Return false if the file has no trailer.
 */
bool trace_finish_failed(struct trace *t, const struct narrate_trailer *end);

/*
 * Was trace_finish_failed() unsuccessful only because the disk or a quota was
 * full?  If so, trace_finish_late() can try again to append the number of
 * missing events and the trailer, once the file is open again.
 * trace_finish_late() returns whether the file now has its trailer.
 */
bool trace_lacks_room(const struct trace *t);
bool trace_finish_late(struct trace *t, const struct narrate_trailer *end);

#endif /* TRACE_H */
