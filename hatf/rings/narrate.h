/* SPDX-License-Identifier: MIT */
/*
 * narrate.h - convert events into HATF records and comments
 *
 * A narrator takes the events of order.h and puts records and comments into the
 * block of its encoder.  It owns the encoder, the timelines and all counts.
 * Its caller ends, writes and resets the block.  There are two callers, which
 * therefore produce the same records: the writer thread of the recorder, and
 * recovery of the rings of a killed process.  FORMAT.md, "Comments of this
 * project", specifies the comments.
 *
 * A narrator has one owner, who serialises all calls; only 'fork' is read by
 * other threads.  Nothing here allocates, locks or makes a system call.
 */
#ifndef NARRATE_H
#define NARRATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hatf/codec/encoder.h"
#include "hatf/rings/order.h"
#include "hatf/rings/timeline.h"

/* narrate_is_full() asks to end a block of at least this length. */
#define NARRATE_BLOCK_NBYTES (256u << 10)

/*
 * Size of the buffer of a block.  Beyond the length of a block and the
 * encoder's span it has room for three records: an event is at most three
 * records, all in one block, and a few comments and the trailer may follow.
 */
#define NARRATE_BUFFER_NBYTES(room) \
	(NARRATE_BLOCK_NBYTES + (room) + 3 * ENCODER_RECORD_MAX_NBYTES)

/* The most bytes of a mark's text; a longer text is truncated. */
#define NARRATE_MARK_NBYTES 256

/* The longest trailer, with a message of 200 bytes that are all escaped. */
#define NARRATE_TRAILER_NBYTES 1440

/*
 * In microseconds: an event with the time of a tick may have happened this much
 * later, unless a comment gives another "step" (FORMAT.md, "Times").
 */
#define NARRATE_STEP 2000u

/* The most forks that can wait for their event number at the same time. */
#define NARRATE_FORKS_MAX 64

struct narrate_stacks;

struct narrator {
	struct encoder encoder;
	struct timeline timeline;     /* through the last two readings */
	struct timeline far_timeline; /* the long one, for older stamps */
	uint32_t unit_ns; /* of the times in the trace: 1, 1000; 0: no times */
	uint32_t grain;	  /* times are rounded down to a multiple, in units */
	bool in_block;	  /* a block is open */
	/* The last clock comment in the trace says that each event has its own
	 * time; otherwise events have the times of ticks. */
	bool is_stamped;
	/* Upper bound of the end of the ticks of the next events, in ns since
	 * the start.  Set by the caller. */
	uint64_t ticks_end_ns;
	uint64_t tick_stamp;  /* of the last event that had a tick's time */
	uint64_t step;	      /* of ticks, as the trace says; units */
	uint64_t step_time;   /* time of the last event that needed 'step' */
	uint64_t segment;     /* set by the caller; stored with forks */
	uint64_t event_count; /* logical events */
	/* Values at the start of the open block, for narrate_cancel_block(). */
	uint64_t block_event, block_lost, block_time, block_time_stamp;
	uint64_t block_step;
	bool block_is_stamped;
	uint64_t lost_count; /* lost events that the trace reports */
	uint64_t time;	     /* of the last record, in the trace's unit */
	uint64_t time_stamp; /* the stamp that 'time' was converted from */
	/* The 'same_count' stamps from 'same_from' on have the same time, by
	 * the timeline whose last reading is 'same_line'. */
	uint64_t same_from, same_count, same_line;
	uint64_t
		block_since_ns; /* when the open block began, by the ns clock */
	/* See narrate_use_stacks(); NULL: events have none. */
	struct narrate_stacks *stacks;
	/* The pieces so far of an incomplete mark. */
	char mark[NARRATE_MARK_NBYTES];
	uint32_t mark_nbytes;
	/* By ticket modulo NARRATE_FORKS_MAX: the ticket, the segment, and the
	 * number of events in the segment before the fork.  Written by the
	 * owner, read by the forking threads. */
	struct {
		_Atomic uint64_t ticket;
		uint64_t segment, event;
	} fork[NARRATE_FORKS_MAX];
};

/*
 * Return the bytes of memory that a narrator needs beside the struct, with or
 * without room for stacks (narrate_use_stacks()).
 */
size_t narrate_memory_nbytes(bool has_stacks);

/*
 * Start at event 0 and time 0.  'memory' has narrate_memory_nbytes(has_stacks)
 * bytes, is aligned to 64 bytes and stays the caller's.  The caller sets the
 * clock (narrate_start_clock()), the unit and the grain.  A narrator must not
 * be moved.
 */
void narrate_init(struct narrator *n, void *memory, bool has_stacks);

/*
 * Begin another trace at event 0; keep the time and the timelines.  The caller
 * has ended and reset the last block.
 */
void narrate_restart(struct narrator *n);

/* Set time 0 to 'now_ns', which was read before 'stamp'. */
void narrate_start_clock(struct narrator *n, uint64_t stamp, uint64_t now_ns);

/* Add a reading of both clocks, 'now_ns' read before 'stamp'. */
void narrate_read_clock(struct narrator *n, uint64_t stamp, uint64_t now_ns);

/* Begin a block unless one is open. */
void narrate_open_block(struct narrator *n);

/*
 * Discard the open block, if any, and restore the state before it.  Return the
 * number of events that the trace lacks because of that; this includes the
 * events that the block reported as lost.
 */
uint64_t narrate_cancel_block(struct narrator *n);

/* Narrate one event: an order_sink with the narrator as 'context'. */
void narrate_event(void *context, const struct order_producer *producer,
		   const struct event *ev);

/*
 * Narrate a run of events: an order_run_sink with the narrator as 'context'.
 * Take no more events than fit the encoder's span.
 */
size_t narrate_run(void *context, const struct order_producer *producer,
		   const uint64_t *words, size_t n, uint64_t stamp);

/* Put the destroyThread record of the thread of 'producer', which has ended. */
void narrate_thread_end(struct narrator *n,
			const struct order_producer *producer, uint64_t stamp);

/*
 * Put a block that is live when the trace begins (FORMAT.md, "Segments"), with
 * the stack that allocated it, or 0.
 */
void narrate_carried_block(struct narrator *n, uint64_t address, uint64_t size,
			   uint64_t thread, uint64_t heap, uint32_t stack);

/*
 * Put a thread that is live when the trace begins; 'operand' is that of its
 * EVENT_THREAD.
 */
void narrate_carried_thread(struct narrator *n, uint64_t thread,
			    const uint64_t *operand);

/* Put the name of a thread: 16 bytes in two words. */
void narrate_name(struct narrator *n, uint64_t thread, const uint64_t *name);

/*
 * Put a heap that exists when the trace begins; 'name' as in EVENT_CREATE_HEAP.
 */
void narrate_carried_heap(struct narrator *n, uint64_t heap,
			  const uint64_t *name);

/*
 * Put a comment that events have their own times from here on, unless the trace
 * says so already.  The narrator finds out by itself when events have the times
 * of ticks again, and how long the ticks last.
 */
void narrate_begin_stamps(struct narrator *n);

/*
 * Put a comment that 'count' events of the thread of 'producer' were lost
 * between the stamps 'from' and 'to'.  With NULL for 'producer' they were lost
 * for lack of memory, by no particular thread.
 */
void narrate_lost(struct narrator *n, const struct order_producer *producer,
		  uint64_t count, uint64_t from, uint64_t to);

/* Should the caller end the block before the next event? */
bool narrate_is_full(const struct narrator *n);

/* The values of the trailer that the narrator does not have. */
struct narrate_trailer {
	const char *name; /* "exit", ... */
	uint64_t threads, waits, wait_ns, cpu_ns;
	const char *error;  /* why recording ended, or NULL */
	const char *missed; /* which calls were not recorded, or NULL */
	bool is_early;	    /* the program continues without being recorded */
	/* Set by recovery only: */
	bool is_recovered;
	bool is_incomplete; /* events may be missing that nobody counted */
	uint64_t recovered; /* events that recovery added */
};

/* Put the trailer.  The caller must then end the block. */
void narrate_trailer(struct narrator *n, const struct narrate_trailer *end);

#endif /* NARRATE_H */
