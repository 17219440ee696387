/* SPDX-License-Identifier: MIT */
/*
 * narrate.h - convert events into HATF records and comments
 *
 * A narrator takes the events of order.h and puts records and comments into the
 * block of its encoder.  It owns the encoder, the timelines and all counts.
 * Its caller ends, writes and resets the block.  The writer thread of the
 * recorder uses a narrator, and so does recovery of the rings of a killed
 * process.  Both therefore produce the same records.  FORMAT.md, "Comments of
 * this project", specifies the comments.
 *
 * A narrator has one owner, who serializes all calls.  Other threads read only
 * 'fork'.  Nothing here allocates, locks or makes a system call.
 */
#ifndef NARRATE_H
#define NARRATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hatf/codec/encoder.h"
#include "hatf/rings/order.h"
#include "hatf/rings/timeline.h"

/*
 * When a block has at least this length, narrate_is_full() asks the caller to
 * end the block.
 */
#define NARRATE_BLOCK_NBYTES (256u << 10)

/*
 * Size of the buffer of a block.  The buffer has room for a block of full
 * length, the encoder's span (encoder.h), and three more records, because an
 * event takes at most three records, all in one block.  The records of an event
 * are much shorter than ENCODER_RECORD_MAX_NBYTES, so there is also room for a
 * few comments and the trailer.
 */
#define NARRATE_BUFFER_NBYTES(room) \
	(NARRATE_BLOCK_NBYTES + (room) + 3 * ENCODER_RECORD_MAX_NBYTES)

/*
 * A block must not end between two pieces of a text (see narrate_is_full()).  A
 * block that has reached its full length may therefore grow by this much until
 * the last piece.  In a valid ring, the pieces of a text follow each other.  In
 * an invalid ring file, other events may stand between the pieces, and these
 * events and their clock comments also count towards the limit.
 */
#define NARRATE_PIECES_NBYTES (16u << 10)

/*
 * Maximum length of a trailer.  The text of its "missed" has at most 200 bytes,
 * and an escaped byte takes four bytes.
 */
#define NARRATE_TRAILER_NBYTES 1440

/*
 * The default "step" (FORMAT.md, "Times"), in microseconds.  An event with the
 * time of a tick may have happened up to one "step" later than the tick.  A
 * clock comment can state another "step".
 */
#define NARRATE_STEP 2000u

/*
 * Number of elements of 'fork' in struct narrator.  Each thread that forks
 * waits for the element of its fork, so at most this many threads can wait at a
 * time.
 */
#define NARRATE_FORKS_MAX 64

struct narrate_stacks;

struct narrator {
	struct encoder encoder;
	/* line through the last two readings of the clocks */
	struct timeline timeline;
	struct timeline far_timeline; /* a longer timeline, for older stamps */
	/*
	 * 'far_timeline' as it was before its older point last moved; for
	 * stamps that are older than the present older point
	 */
	struct timeline older_timeline;
	/*
	 * The trace's unit of time in ns, 1 or 1000.  0: the trace has no
	 * times.
	 */
	uint32_t unit_ns;
	/* Times are rounded down to multiples of this many units. */
	uint32_t grain;
	bool in_block; /* a block is open */
	/*
	 * true: the last clock comment in the trace says that each event has
	 * its own time; false: events have the times of ticks
	 */
	bool is_stamped;
	/*
	 * All ticks but the present one ended at this time or earlier, in ns
	 * since the start.  Set by the caller.
	 */
	uint64_t ticks_end_ns;
	/* Stamp of the last event that had the time of a tick. */
	uint64_t tick_stamp;
	uint64_t step; /* "step" of the last clock comment, in units */
	/* time of the last tick that needed a step of 'step' or more */
	uint64_t step_time;
	/* number of the segment: set by the caller, stored with forks */
	uint64_t segment;
	uint64_t event_count; /* number of logical events so far */
	/*
	 * Copies of the members 'event_count', 'lost_count', 'time',
	 * 'time_stamp', 'step' and 'is_stamped' from the start of the open
	 * block, for narrate_cancel_block().
	 */
	uint64_t block_event, block_lost, block_time, block_time_stamp;
	uint64_t block_step;
	bool block_is_stamped;
	uint64_t lost_count; /* number of lost events that the trace reports */
	uint64_t time;	     /* time of the last record, in the trace's unit */
	/* the last stamp converted to a time; 'time' is that time or later */
	uint64_t time_stamp;
	/*
	 * A cache for conversions of stamps: the 'same_count' stamps from
	 * 'same_from' on have the same time as 'same_from'.  The cache is valid
	 * as long as the last reading of the timeline has the stamp
	 * 'same_line'.
	 */
	uint64_t same_from, same_count, same_line;
	/* last reading of the nanosecond clock before the open block began */
	uint64_t block_since_ns;
	/* Set by narrate_use_stacks(); NULL: events have no stacks. */
	struct narrate_stacks *stacks;
	/* The pieces of an incomplete text that have arrived so far. */
	char pieces[EVENT_TEXT_NBYTES];
	uint32_t pieces_nbytes;
	/*
	 * The last NARRATE_FORKS_MAX forks, each at the index 'ticket' %
	 * NARRATE_FORKS_MAX: the ticket of the fork, the number of its segment,
	 * and the number of events in the segment before the fork.  The owner
	 * of the narrator writes the elements, and the forking threads read
	 * them.
	 */
	struct {
		_Atomic uint64_t ticket;
		uint64_t segment, event;
	} fork[NARRATE_FORKS_MAX];
};

/*
 * Return how many bytes of memory a narrator needs besides the struct,
 * including room for stacks (narrate_use_stacks()) if 'has_stacks' is true.
 */
size_t narrate_memory_nbytes(bool has_stacks);

/*
 * Start at event 0 and time 0.  'memory' has narrate_memory_nbytes(has_stacks)
 * bytes, is aligned to 64 bytes and stays the caller's.  The caller must then
 * call narrate_start_clock() or narrate_use_timeline().  'unit_ns' and 'grain'
 * are 1 until the caller sets them.  A narrator must not be moved.
 */
void narrate_init(struct narrator *n, void *memory, bool has_stacks);

/*
 * Begin another trace at event 0; keep the time and the timelines.  The caller
 * must have ended and reset the last block.
 */
void narrate_restart(struct narrator *n);

/*
 * Let time 0 be 'now_ns', which the caller has read from the nanosecond clock
 * just before 'stamp'.
 */
void narrate_start_clock(struct narrator *n, uint64_t stamp, uint64_t now_ns);

/* Convert all stamps by 'line', a timeline from a ring file. */
void narrate_use_timeline(struct narrator *n, const struct timeline *line);

/* Add a reading of both clocks: 'now_ns' was read just before 'stamp'. */
void narrate_read_clock(struct narrator *n, uint64_t stamp, uint64_t now_ns);

/* Begin a block unless one is open. */
void narrate_open_block(struct narrator *n);

/*
 * Discard the open block, if any, and restore the state before it.  Return how
 * many events the trace lacks without this block.  Include the events that the
 * block reported as lost.
 */
uint64_t narrate_cancel_block(struct narrator *n);

/* Narrate one event: an order_sink with the narrator as 'context'. */
void narrate_event(void *context, const struct order_producer *producer,
		   const struct event *ev);

/*
 * Narrate a run of events: an order_run_sink with the narrator as 'context'.
 * Take no more events than the encoder's span has room for, and none if no
 * block is open.
 */
size_t narrate_run(void *context, const struct order_producer *producer,
		   struct order_run *run);

/* Put the destroyThread record of the thread of 'producer', which has ended. */
void narrate_thread_end(struct narrator *n,
			const struct order_producer *producer, uint64_t stamp);

/*
 * Put the record of a block of memory that is live when the trace begins
 * (FORMAT.md, "Segments").  'stack' is the call stack that allocated the block
 * of memory; 0: none.
 */
void narrate_carried_block(struct narrator *n, uint64_t address, uint64_t size,
			   uint64_t thread, uint64_t heap, uint32_t stack);

/*
 * Put the createThread record of a thread that is live when the trace begins.
 * 'operand' points to the operands of the thread's EVENT_THREAD.
 */
void narrate_carried_thread(struct narrator *n, uint64_t thread,
			    const uint64_t *operand);

/*
 * Put a part of a DTD that the program gave.  'part' consists of the joined
 * pieces of an EVENT_CLIENT_DTD.
 */
void narrate_dtd(struct narrator *n, const char *part, size_t nbytes);

/* Put the name of a thread.  'name' is 16 bytes in two words. */
void narrate_name(struct narrator *n, uint64_t thread, const uint64_t *name);

/*
 * Put the createHeap record of a heap that exists when the trace begins.
 * 'name' has the form that it has in EVENT_CREATE_HEAP.
 */
void narrate_carried_heap(struct narrator *n, uint64_t heap,
			  const uint64_t *name);

/*
 * Put a comment that says that the events after it have their own times.  Do
 * nothing if the last clock comment already says this.  The narrator itself
 * detects when events have the times of ticks again, and how long the ticks
 * last.
 */
void narrate_begin_stamps(struct narrator *n);

/*
 * Put a comment that says that 'count' events were lost between the stamps
 * 'from' and 'to'.  They are events of the thread of 'producer', or of unknown
 * threads if 'producer' is NULL.
 */
void narrate_lost(struct narrator *n, const struct order_producer *producer,
		  uint64_t count, uint64_t from, uint64_t to);

/*
 * Should the caller end the block before the next event?  Between two pieces of
 * a text, the block may be longer by NARRATE_PIECES_NBYTES.  The block must not
 * end between two pieces: if the process were then killed, recovery would have
 * only some of the pieces.
 */
bool narrate_is_full(const struct narrator *n);

/* The values of the trailer that the narrator does not know. */
struct narrate_trailer {
	const char *name; /* how the trace ends: "exit", ... */
	uint64_t threads, waits, wait_ns, cpu_ns;
	/* the reason if an error ended recording, else NULL */
	const char *error;
	const char *missed; /* which calls were not recorded, or NULL */
	/* The program continues, but is no longer recorded. */
	bool is_early;
	/* The members below are set only by recovery. */
	bool is_recovered;
	bool is_incomplete; /* unknown numbers of events may be missing */
	uint64_t recovered; /* number of events that recovery added */
};

/* Put the trailer.  The caller must then end the block. */
void narrate_trailer(struct narrator *n, const struct narrate_trailer *end);

#endif /* NARRATE_H */
