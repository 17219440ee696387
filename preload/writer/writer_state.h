/* SPDX-License-Identifier: MIT */
/*
 * writer_state.h - what the files of the writer share
 *
 * Of writer.c and writer_*.c only.  The functions here are for the writer
 * thread alone, or for a thread of the program that does its work
 * (writer_brief.c).  Each file calls those before it in this list, never one
 * after it:
 *
 *   writer_state     the struct
 *   writer_place     where the trace is
 *   writer_threads   the program's threads, as the writer knows them
 *   writer_reach     the files that it may open
 *   writer_round     rings to file
 *   writer_orders    start, stop, flush, rotate
 *   writer_presence  the thread begins, leaves, and begins again
 *   writer           the main loop
 *   writer_begin     its memory; then begin.c
 *   writer_brief     a thread of the program does the writer's work
 *   writer_calls     requests of the program's threads
 */
#ifndef WRITER_STATE_H
#define WRITER_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hatf/codec/comment_text.h"
#include "hatf/rings/narrate.h"
#include "hatf/rings/order.h"
#include "preload/record/thread.h"
#include "preload/record/tick_grant.h"
#include "preload/record/wake.h"
#include "preload/trace/segment.h"
#include "preload/trace/trace.h"
#include "preload/writer/writer.h"

#define TICK_NS 1000000ull
/* A block is written when it is this old, full or not. */
#define BLOCK_AGE_NS 500000000ull
/* After a trailer, wait so long for the process to end. */
#define WRITER_HOLD_NS NS_PER_SEC

/* The descriptors that the writer thread has open during a trace. */
enum writer_file {
	WRITER_FILE_TRACE = 0,
	WRITER_FILE_FOLDER,
	WRITER_FILE_RINGS,
	WRITER_FILE_RINGS_FOLDER,
	WRITER_FILES
};

/*
 * All of it is wiped in the child of a fork, which starts a writer of its own.
 */
struct writer {
	struct trace trace;
	struct segment segment;
	struct order order;
	struct tick_grant grant;
	bool was_stamped; /* at the beginning of the round before */
	/*
	 * All events that were published with an older stamp are in the
	 * trace.
	 */
	uint64_t covered_stamp;
	uint32_t thread_count;
	uint32_t gone_count;
	uint64_t last_event_ns;
	uint64_t unattached_reported; /* of wake.unattached, in the trace */
	bool is_ended;		      /* the block has the trailer */
	bool is_stopped;	      /* ... and later events are in no trace */
	uint32_t fork_count;	      /* that have begun and are not over */
	uint64_t fork_since_ns;	      /* of the last one that began */
	uint64_t fork_kept_ns;	      /* since when forks keep a segment open */
	/*
	 * There is no trace at the moment.  Written by the writer, and read by
	 * a thread with which the process ends.
	 */
	_Atomic bool is_dormant;
	bool is_prepared;	 /* see writer_prepare() */
	bool is_limited;	 /* see writer_limit_reach() */
	bool has_no_bell;	 /* none can be made: the thread stays */
	bool has_left;		 /* the last writer left during a trace */
	uint64_t quiet_since_ns; /* dormant, or the last client is gone */
	uint64_t last_events, last_lost; /* of the trace that a stop ended */
	int last_error;			 /* ... or this errno value */
	uint64_t start_ns;		 /* of the process, about */
	/* Of the process, as of wait(2), if only the writer is left. */
	int exit_status;
	const struct order_source
		*blocked; /* as in 'order', of the last round */
	uint64_t blocked_pos, blocked_since_ns;
	_Atomic uint64_t hold_until_ns; /* 0: no trailer has been written */
	struct wake wake;
	/*
	 * Futex word: changed by the writer when it has done what was asked or
	 * is no more.
	 */
	_Atomic uint32_t done;
	_Atomic uint32_t departure; /* enum writer_departure; a futex word */
	/* The program's, while a thread of it holds the files open, else 0. */
	uint32_t held_count;
	int held[WRITER_FILES];	 /* descriptors, -1: none; enum writer_file */
	_Atomic uint32_t follow; /* enum writer_following; a futex word */
	const struct privileges *follow_to;
	struct ring *adopt; /* of the thread that makes it; or NULL */
	_Atomic uint32_t client_order; /* enum writer_order; 0: none */
	_Atomic bool client_done;      /* what has become of it */
	_Atomic uint32_t resume;       /* 1: the process goes on after all */
	_Atomic uint32_t request;      /* enum writer_end + 1; 0: none */
	_Atomic bool is_ending;	  /* dormant, and the process ends or execs */
	uint64_t ending_since_ns; /* ... and the writer knows of it */
	/* In 'struct writer_tables'. */
	struct thread **threads;
	struct order_source **sources, **heap;
	uint8_t *memory;
};

/*
 * Large tables have a mapping of their own.  A dormant process uses only struct
 * writer, and so needs no page table for the tables; a process with few threads
 * uses little of them.  Wiped in the child of a fork as well.
 */
struct writer_tables {
	struct thread *threads[THREAD_MAX];
	/* The source of each thread, and the same sources as a heap. */
	struct order_source *sources[THREAD_MAX], *heap[THREAD_MAX];
	uint8_t memory[];
};

extern struct writer *writer;

/* How far the writer has followed the privileges of a thread of the program. */
enum writer_following {
	WRITER_FOLLOW_NONE = 0,
	WRITER_FOLLOW_TAKEN, /* a thread is about to ask */
	WRITER_FOLLOW_ASKED,
	WRITER_FOLLOW_DONE,
	WRITER_FOLLOW_FAILED,
};

/* Has a thread of the program asked the writer thread to end for now? */
enum writer_departure {
	WRITER_DEPART_NONE = 0,
	WRITER_DEPART_ASKED,	/* a thread of the program wants to be alone */
	WRITER_DEPART_FOR_CALL, /* ... for one call, then makes it again */
};

static inline struct thread *
writer_thread_of(const struct order_source *source)
{
	return (struct thread *)((uintptr_t)source -
				 offsetof(struct thread, source));
}

/* writer.c ---------------------------------------------------------------- */

/* What the thread runs. */
int writer_main(void *unused);

/* writer_round.c ---------------------------------------------------------- */

/* Read both clocks, for the trace and for recovery. */
struct clock_reading writer_read_clock(void);

/* Returns false when the trace cannot go on. */
bool writer_round(void);

/* An order_sink: put an event into a block that has room for it. */
void writer_take_event(void *narrator, const struct order_source *source,
		       const struct event *ev);

/* Write the block; once it is in the file, give the room back. */
bool writer_commit(void);

/* Between rounds only: commit, and recycle the threads that have ended. */
bool writer_commit_and_recycle(void);

/* Note the state of trace and rings for recovery; see image.h. */
void writer_commit_rings(void);

/* Between events: continue in another file. */
bool writer_rotate_now(void);

/*
 * Before the trailer: drain all events with stamps up to 'until', and fill in
 * '*end'.  Later events are not in the trace.
 */
void writer_prepare_end(struct narrate_trailer *end, uint64_t until);

/* Write what is left, with the trailer. */
void writer_end_trace(enum writer_end how);

/* The trailer is written: give the process some time to end. */
void writer_hold(void);

/* writer_presence.c ------------------------------------------------------- */

/*
 * The thread begins: make the trace file, or open the file of an earlier writer
 * or of a thread of the program.  False: that failed; reported.
 */
bool writer_take_up(void);

/*
 * Leave after some time without events; 'wake' is the value of wake.word before
 * the writer last looked for work.  True: the thread must end, and must not
 * touch the writer's state.
 */
bool writer_leave_if_idle(uint64_t now, uint32_t wake);

/*
 * Answer a thread of the program that asks the writer to leave.  True: as
 * above.
 */
bool writer_serve_departure(void);

/* writer_threads.c -------------------------------------------------------- */

/* List the threads whose rings are in use, with the order_source of each. */
void writer_collect_threads(void);

/* Recycle a thread that has ended and whose last event is in the file. */
void writer_recycle(struct thread *t);

/* Recycle the threads that ended while nothing was recorded. */
void writer_recycle_ended(void);

/*
 * Check whether 't' has ended, and write its end once its last event is
 * drained.  With 'check' ask the kernel now, else if 't' has announced its end
 * or has been silent for long.
 */
void writer_tend_thread(struct thread *t, uint64_t stamp, uint64_t now,
			bool check);

/*
 * The last look at all threads.  One that has been joined may still exist for
 * some microseconds, and its destroyThread belongs in the trace.
 */
void writer_tend_last(void);

/* Write the number of events that a thread, or one without a ring, lost. */
void writer_note_lost(struct thread *t);
void writer_note_unattached(void);

/* Note an event that is no allocation: threads, names, forks, heaps. */
void writer_note_rare_event(const struct order_source *source,
			    const struct event *ev);

/*
 * Is a fork under way?  Both events of it should be in one segment, so that a
 * reader of that segment knows the child's blocks.  After a second the answer
 * is no in any case: a fork may never end, if its thread was killed, and a
 * program may fork all the time.
 */
bool writer_is_forking(uint64_t now);

/*
 * A fork has kept a segment open, and none is under way now: does 'ev' begin
 * the next fork, so that the segment must end before it?
 */
bool writer_is_between_forks(const struct event *ev);

/*
 * Does a signal handler that interrupted the realloc wait for room?  Then the
 * realloc cannot end before the writer makes room.
 */
bool writer_is_waiting_inside(const struct order_source *source);

/* Fill in the figures of the trailer that concern the whole process. */
void writer_sum_up(struct narrate_trailer *end);

/* writer_reach.c ---------------------------------------------------------- */

/* The trace has a file: restrict this thread to the files that it needs. */
void writer_limit_reach(void);

/* writer_orders.c --------------------------------------------------------- */

/* A control_obey. */
const char *writer_obey_order(const char *order, struct text *answer);

/*
 * The trace cannot be written any more: end it, and be dormant until an order
 * to start.  False: the trace cannot be ended either.
 */
bool writer_fail(void);

/* Carry out an order of the program itself (writer_obey()). */
void writer_serve_client(void);

/* Carry out the order in the bell; see RECORD_BELL_CALL, record.h. */
void writer_obey_bell(uint8_t rung);

/* writer_place.c ---------------------------------------------------------- */

/* The trace has a new file, or, in a new process, no file yet. */
void writer_note_file(void);

/* Publish the approximate number of events in the current segment. */
void writer_note_events(uint64_t event_count);

#endif /* WRITER_STATE_H */
