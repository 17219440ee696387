/* SPDX-License-Identifier: MIT */
/*
 * trace.h - write the blocks of the trace into its file
 *
 * Only the writer thread calls these functions, or the thread that does its
 * work.  The narrator (narrate.h) fills the blocks; this file compresses and
 * writes them.
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
	bool is_brief; /* of a short process: small blocks are not compressed */
	struct narrator narrator;
	struct output output;
	uint8_t *member; /* a compressed block; NULL: not compressed */
	size_t member_cap;
	void *work; /* of deflate_member() */
	int level;
	struct load_policy load;
	enum config_clock clock;
	int error;	      /* errno of the failure that ended it, or 0 */
	bool is_end_reported; /* a line has said that the trace ended */
	uint64_t missing;     /* events that the error lost */
	uint64_t full_count;  /* of stack_table_full(), as last reported */
	/* Free space on a full disk.  False: there is none to free. */
	bool (*make_space)(void *context);
	void *make_space_context;
	uint64_t head_nbytes, head_hash; /* see struct image_trace */
};

/* Bytes of zeroed memory that trace_open() needs beside the struct. */
size_t trace_memory_nbytes(const struct config *config);

/*
 * Begin at event 0 with 'output', which may have no file yet; '*t' is zeroed,
 * and 'memory' is trace_memory_nbytes() long.
 */
void trace_open(struct trace *t, const struct config *config,
		const struct output *output, void *memory);

/* Write the header comment, in a block without records, into a new file. */
bool trace_begin(struct trace *t, const char *header, size_t header_nbytes);

/* Read both clocks, and extend the trace's timeline up to this reading. */
struct clock_reading trace_read_clock(struct trace *t);

/* From now on each event has its own stamp or, if not 'stamped', a tick. */
void trace_set_clock(struct trace *t, bool stamped);

/*
 * Compress and write the current block, if it has any record.  False: see
 * 'error'.  From then on each block is discarded, and its events are counted as
 * missing.
 */
bool trace_commit(struct trace *t);

/* The state from which recovery continues the trace after its last block. */
void trace_get_state(const struct trace *t, struct image_commit *state_ret);

/* Write the trailer and commit. */
bool trace_finish(struct trace *t, const struct narrate_trailer *end);

/*
 * After an error: append the number of missing events and a trailer with the
 * reason, if the file allows it.  Print one line on standard error.  False: the
 * file has no trailer.
 */
bool trace_finish_failed(struct trace *t, const struct narrate_trailer *end);

#endif /* TRACE_H */
