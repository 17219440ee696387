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
 *   writer_threads   what it knows of the program's threads
 *   writer_reach     the files that it may open
 *   writer_round     rings to file
 *   writer_orders    start, stop, flush, rotate
 *   writer_presence  it comes and leaves
 *   writer           the main loop
 *   writer_begin     its memory; then begin.c
 *   writer_brief     a thread of the program does its work
 *   writer_calls     the program's threads ask for something
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

/* What the writer thread has open for as long as the trace lasts. */
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
	/* All events that were published with an older stamp are in the
	 * trace. */
	uint64_t covered_stamp;
	uint32_t thread_count;
	uint32_t gone_count;
	uint64_t last_event_ns;
	uint64_t unattached_reported; /* in the trace, of all of them */
	bool is_ended;		      /* the block has the trailer */
	bool is_stopped;	      /* ... and what comes is of no trace */
	uint32_t fork_count;	      /* that have begun and are not over */
	uint64_t fork_since_ns;	      /* of the last one that began */
	uint64_t fork_kept_ns;	      /* since when forks keep a segment open */
	/* There is no trace at the moment.  Written by the writer, and read by
	 * a thread with which the process ends. */
	_Atomic bool is_dormant;
	bool is_prepared;	 /* see writer_prepare() */
	bool is_limited;	 /* see writer_limit_reach() */
	bool has_no_bell;	 /* none can be made: it stays */
	bool has_left;		 /* the last writer left amid a trace */
	uint64_t quiet_since_ns; /* dormant, or the last client is gone */
	uint64_t last_events, last_lost; /* of the trace that a stop ended */
	int last_error;			 /* ... or this errno value */
	uint64_t start_ns;		 /* of the process, about */
	int exit_status; /* of the process, where only the writer is left */
	const struct order_source
		*blocked; /* as in 'order', of the last round */
	uint64_t blocked_pos, blocked_since_ns;
	_Atomic uint64_t hold_until_ns; /* 0: no trailer has been written */
	struct wake wake;
	/* Futex word: changed by the writer when it has done what was asked or
	 * is no more. */
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
 * What is large lies elsewhere, so that a dormant process, which uses the above
 * only, takes no page of the page table for it; and a process with few threads
 * uses little of it.  Wiped as well.
 */
struct writer_tables {
	struct thread *threads[THREAD_MAX];
	/* That of each thread; the same as a heap. */
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

/* Is the writer to leave for now? */
enum writer_departure {
	WRITER_DEPART_NONE = 0,
	WRITER_DEPART_ASKED,	/* a thread of the program wants to be alone */
	WRITER_DEPART_FOR_CALL, /* ... for one call, and has it back then */
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

/* An order_sink: an event goes into a block that has room for it. */
void writer_take_event(void *narrator, const struct order_source *source,
		       const struct event *ev);

/* Write the block; once it is in the file, give the room back. */
bool writer_commit(void);

/* Between rounds only: commit, and let go of the threads that are gone. */
bool writer_commit_and_recycle(void);

/* Note for recovery how far trace and rings are; see image.h. */
void writer_commit_rings(void);

/* Between events: go on in another file. */
bool writer_rotate_now(void);

/*
 * What the trailer is to follow, and say; events with a stamp after 'until' are
 * not in the trace.
 */
void writer_prepare_end(struct narrate_end *end, uint64_t until);

/* Write what is left, with the trailer. */
void writer_end_trace(enum writer_end how);

/* The trailer is written: give the process some time to end. */
void writer_hold(void);

/* writer_presence.c ------------------------------------------------------- */

/*
 * The thread begins: make the trace file, or open the one that it left, or that
 * a thread of the program has made.  False: it cannot, which has been said.
 */
bool writer_take_up(void);

/*
 * Leave if nothing has happened for some time; 'wake' is what the word of that
 * name was before the last look at everything.  True: the thread must end, and
 * touch nothing.
 */
bool writer_leave_if_idle(uint64_t now, uint32_t wake);

/* The same where a thread of the program has asked for it; answers it. */
bool writer_serve_departure(void);

/* writer_threads.c -------------------------------------------------------- */

/* Those whose rings are in use, with the order_source of each. */
void writer_collect_threads(void);

/* One that is gone, and whose last event is in the file. */
void writer_recycle(struct thread *t);

/* Let go of threads that ended while nothing was recorded. */
void writer_recycle_ended(void);

/*
 * See whether 't' has ended; write so when its last event has been drained.
 * With 'check' the kernel is asked now, else when it is likely or has been
 * long.
 */
void writer_tend_thread(struct thread *t, uint64_t stamp, uint64_t now,
			bool check);

/*
 * The last look at all threads.  One that has been joined may still exist for
 * some microseconds, and its destroyThread belongs in the trace.
 */
void writer_tend_last(void);

/* Tell of events that a thread, or one that has no ring, could not record. */
void writer_note_lost(struct thread *t);
void writer_note_unattached(void);

/* What is to be remembered of events that are no allocations. */
void writer_note_rare_event(const struct order_source *source,
			    const struct event *ev);

/*
 * Is a fork under way?  Both notes of it should be in the same segment, for who
 * reads that to know what the child has.  One may never be over: its thread was
 * killed.  And where there is always one, the first that asks in vain waits for
 * a second.
 */
bool writer_is_forking(uint64_t now);

/*
 * A fork kept a segment open, and none is under way any more: does the next
 * begin with 'ev', so that the segment is to end before it?
 */
bool writer_is_between_forks(const struct event *ev);

/*
 * Is a signal handler that interrupted the realloc waiting for room?  Then its
 * end waits for us.
 */
bool writer_is_waiting_inside(const struct order_source *source);

/* What the trailer says from outside, for the whole process. */
void writer_sum_up(struct narrate_end *end);

/* writer_reach.c ---------------------------------------------------------- */

/* The trace has a file: from here on this thread opens no others. */
void writer_limit_reach(void);

/* writer_orders.c --------------------------------------------------------- */

/* A control_obey. */
const char *writer_obey_order(const char *order, struct text *answer);

/*
 * The trace cannot be written any more: end it with what there is, and be
 * dormant until somebody says start.  False if it cannot even be ended.
 */
bool writer_fail(void);

/* The program itself wants something. */
void writer_serve_client(void);

/* What 'hatf ctl' has left in the bell; see RECORD_BELL_CALL, record.h. */
void writer_obey_bell(uint8_t rung);

/* writer_place.c ---------------------------------------------------------- */

/* There is another file; or, in another process, none as yet. */
void writer_note_file(void);

/* How far the current one is, for whoever wants to know about now. */
void writer_note_events(uint64_t event_count);

#endif /* WRITER_STATE_H */
