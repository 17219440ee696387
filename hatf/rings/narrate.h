/* SPDX-License-Identifier: MIT */
/*
 * narrate.h - events into records
 *
 * Tells what came out of the rings (order.h) as HATF records and comments, into
 * the block of an encoder.  Owns the encoder, the time line and all counts; what
 * becomes of the block is its user's business, who ends and resets it.  The
 * recorder's writer thread is one user, recovery of a killed process's rings the
 * other: so both tell the same.  The comments are those of FORMAT.md, "Comments of
 * this project".
 *
 * Nothing here allocates, locks or makes a system call.
 */
#ifndef NARRATE_H
#define NARRATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hatf/codec/encoder.h"
#include "hatf/rings/order.h"
#include "hatf/rings/timeline.h"

/* A block is ended when it has reached this length. */
#define NARRATE_BLOCK_NBYTES (256u << 10)

/*
 * The block's buffer: an event is three records at most and is not cut in two by a
 * block's end; a few comments and the trailer may come on top.
 */
#define NARRATE_BUFFER_NBYTES(room) \
	(NARRATE_BLOCK_NBYTES + (room) + 3 * ENCODER_RECORD_MAX_NBYTES)

/* The text of a mark; what is longer is cut. */
#define NARRATE_MARK_NBYTES 256

/* A trailer, with a sentence of 200 bytes that are all escaped. */
#define NARRATE_TRAILER_NBYTES 1440

/*
 * The time of an event that has a tick's time may be early by so many
 * microseconds, unless a comment says otherwise: FORMAT.md, "Times".
 */
#define NARRATE_STEP 2000u

/* Forks that may be waiting for their event number at the same time. */
#define NARRATE_FORKS_MAX 64

struct narrator {
	struct encoder encoder;
	struct timeline timeline; /* to the last reading from the one before */
	struct timeline
		far_timeline; /* the same from much earlier, for what is older */
	uint32_t unit_ns;     /* of times: 1 or 1000; 0: there are none */
	uint32_t grain;	      /* units that a time is a multiple of */
	bool in_block;
	bool is_stamped; /* times are each event's own, as the trace says */
	/* In ns since the start: when the ticks of the events that come now had
	 * ended.  Set by the caller. */
	uint64_t ticks_end_ns;
	uint64_t tick_stamp;  /* of the last event that had a tick's time */
	uint64_t step;	      /* of ticks, as the trace says */
	uint64_t step_time;   /* of the last event that needed that step */
	uint64_t segment;     /* the caller's; noted with forks */
	uint64_t event_count; /* logical events */
	uint64_t block_event; /* before the block */
	/* Likewise, of those below. */
	uint64_t block_lost, block_time, block_time_stamp, block_step;
	bool block_is_stamped;
	uint64_t lost_count;
	uint64_t time;	     /* of the last record, in the trace's unit */
	uint64_t time_stamp; /* the stamp it came from */
	/* By the line that ends at 'same_line', so many stamps from 'same_from'
	 * on have the same time. */
	uint64_t same_from, same_count, same_line;
	uint64_t block_since_ns;
	/* A mark whose pieces are not all there. */
	char mark[NARRATE_MARK_NBYTES];
	uint32_t mark_nbytes;
	/* By ticket: the ticket, the segment, and the events in it before the
	 * fork.  Written here, read by the forking threads. */
	struct {
		_Atomic uint64_t ticket;
		uint64_t segment, event;
	} fork[NARRATE_FORKS_MAX];
};

/* Bytes of memory, beside the struct, that a narrator wants. */
size_t narrate_memory_nbytes(void);

/*
 * Start at event 0 and time 0; 'memory' is narrate_memory_nbytes() long,
 * aligned to 64 bytes, and stays the caller's.  The caller sets the clock, the
 * unit and the grain.  A narrator must not be moved.
 */
void narrate_init(struct narrator *n, void *memory);

/*
 * Begin another trace at event 0, at the time and with the line that there are.
 * The last block must have been ended and reset.
 */
void narrate_restart(struct narrator *n);

/* Time 0 is at 'now_ns', which was read before 'stamp'. */
void narrate_start_clock(struct narrator *n, uint64_t stamp, uint64_t now_ns);

/* Both clocks were read again. */
void narrate_read_clock(struct narrator *n, uint64_t stamp, uint64_t now_ns);

/* Begin a block unless one is begun. */
void narrate_open_block(struct narrator *n);

/*
 * Forget the block, if one is begun, as if it had not been; returns how many events
 * the trace lacks by that, those that the block said to be lost among them.
 */
uint64_t narrate_cancel_block(struct narrator *n);

/* What a thread did; an order_sink with the narrator as context. */
void narrate_event(void *context, const struct order_source *source,
		   const struct event *ev);

/* The same for a run of events; an order_run_sink.  It never ends a window. */
size_t narrate_run(void *context, const struct order_source *source,
		   const uint64_t *words, size_t n, uint64_t stamp);

/* The thread of 'source' is no more. */
void narrate_thread_end(struct narrator *n, const struct order_source *source,
			uint64_t stamp);

/* What is there when the trace begins (FORMAT.md, "Segments"). */
void narrate_carried_block(struct narrator *n, uint64_t address, uint64_t size,
			   uint64_t thread, uint64_t heap);

/* Likewise; 'operand' is that of its EVENT_THREAD. */
void narrate_carried_thread(struct narrator *n, uint64_t thread,
			    const uint64_t *operand);

/* A thread's name: 16 bytes in two words. */
void narrate_name(struct narrator *n, uint64_t thread, const uint64_t *name);

/* The heap was there before; 'name' as in EVENT_CREATE_HEAP. */
void narrate_carried_heap(struct narrator *n, uint64_t heap,
			  const uint64_t *name);

/*
 * From here on events have stamps.  The narrator sees by itself when events
 * have ticks again, and how long these last.
 */
void narrate_begin_stamps(struct narrator *n);

/*
 * Events between two stamps are lost; 'source' is NULL if it was for want of
 * memory, by no thread in particular.
 */
void narrate_lost(struct narrator *n, const struct order_source *source,
		  uint64_t count, uint64_t from, uint64_t to);

/* Should the block be ended before the next event? */
bool narrate_is_full(const struct narrator *n);

/* What goes into the trailer from outside. */
struct narrate_trailer {
	const char *name; /* "exit", ... */
	uint64_t threads, waits, wait_ns, cpu_ns;
	const char *error;  /* why it ended, or NULL */
	const char *missed; /* which calls were not recorded, or NULL */
	bool is_early; /* the program goes on, and is not recorded any more */
	/* Of one that is written afterwards. */
	bool is_recovered;
	bool is_incomplete; /* something may be missing that nobody counted */
	uint64_t recovered; /* events that were added */
};

/* The trailer; the block is to be ended after it. */
void narrate_trailer(struct narrator *n, const struct narrate_trailer *end);

#endif /* NARRATE_H */
