/* SPDX-License-Identifier: MIT */
/*
 * trace.h - the trace being written: events into records, records into the file
 *
 * Belongs to the writer thread.  Owns the encoder, the block being filled, the
 * time line and all counts.  The comments it writes are those of FORMAT.md,
 * "Comments of this project".
 */
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "config.h"
#include "encoder.h"
#include "output.h"
#include "thread.h"

/* A block is ended when it has reached this length. */
#define TRACE_BLOCK_NBYTES (256u << 10)

/* Forks that may be waiting for their event number at the same time. */
#define TRACE_FORKS_MAX 64

struct trace {
	struct encoder encoder;
	struct output output;
	struct clock_line line;
	uint8_t *member; /* a compressed block; NULL: not compressed */
	size_t member_cap;
	void *work; /* of deflate_member() */
	int level;
	enum config_clock clock;
	bool in_block;
	bool is_clock_noted;  /* the switch to stamps is in the trace */
	int error;	      /* errno of what ended the trace, or 0 */
	uint64_t event_count; /* logical events */
	uint64_t block_event; /* before the block */
	uint64_t lost_count;
	uint64_t time;	     /* of the last record, in the trace's unit */
	uint64_t time_stamp; /* the stamp it came from */
	uint64_t block_since_ns;
	/* By ticket: the ticket and the events before the fork.  Written here,
	 * read by the forking threads. */
	struct {
		_Atomic uint64_t ticket;
		uint64_t event;
	} fork[TRACE_FORKS_MAX];
};

/* Bytes of zeroed memory that trace_open() wants beside the struct. */
size_t trace_memory_nbytes(int level);

/* Begin with the header comment; 'memory' is trace_memory_nbytes() long. */
void trace_open(struct trace *t, const struct config *config,
		const struct output *output, void *memory, const char *header,
		size_t header_nbytes);

/* Write the header, in a block without records. */
bool trace_begin(struct trace *t);

/* What the thread did; an order_sink with the trace as context. */
void trace_event(void *context, const struct thread *thread,
		 const struct event *ev);

/* 'thread' is no more. */
void trace_thread_gone(struct trace *t, const struct thread *thread,
		       uint64_t stamp);

/* From here on every event has a stamp of its own. */
void trace_clock_switched(struct trace *t, uint64_t stamp);

/*
 * Events between two stamps are lost; 'thread' is NULL if it was for want of
 * memory, by no thread in particular.
 */
void trace_lost(struct trace *t, const struct thread *thread, uint64_t count,
		uint64_t from, uint64_t to);

/* Should the block be committed before the next event? */
bool trace_is_full(const struct trace *t);

/* Compress and write what there is of the current block.  False: see 'error'. */
bool trace_commit(struct trace *t);

/* What goes into the trailer from outside. */
struct trace_end {
	const char *name; /* "exit", ... */
	uint64_t threads, waits, wait_ns, cpu_ns;
};

/* Write the trailer and commit. */
bool trace_finish(struct trace *t, const struct trace_end *end);

#endif /* TRACE_H */
