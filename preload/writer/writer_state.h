/* SPDX-License-Identifier: MIT */
/*
 * writer_state.h - the struct and the functions that the writer's files share
 *
 * Only writer.c and writer_*.c include this header.  Only the writer thread, or
 * a thread of the program that does the writer's work (writer_brief.c), calls
 * these functions.  Each file calls only files that precede it in this list:
 *
 *   writer_state     the struct
 *   writer_place     the current file, segment and event count
 *   writer_threads   the writer's list of the program's threads
 *   writer_reach     restrict the writer to the files that it needs
 *   writer_round     move events from the rings to the file
 *   writer_orders    start, stop, flush, rotate
 *   writer_presence  the thread begins, leaves, and begins again
 *   writer           the main loop
 *   writer_begin     the writer's memory; begin.c calls it
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
#include "hatf/recorder/bells.h"
#include "hatf/rings/narrate.h"
#include "hatf/rings/order.h"
#include "preload/clock/tick_grant.h"
#include "preload/record/thread.h"
#include "preload/record/wake.h"
#include "preload/trace/segment.h"
#include "preload/trace/trace.h"
#include "preload/writer/writer.h"

/* How long a tick lasts (clock.h). */
#define TICK_NS 1000000ull
/* A block is written when it is this old, full or not. */
#define BLOCK_AGE_NS 500000000ull
/*
 * After a trailer, the writer waits at most this long for the end of the
 * process.
 */
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
 * The kernel wipes this struct in the child of a fork, which starts its own
 * writer.
 */
struct writer {
	struct trace trace;
	struct segment segment;
	struct order order;
	struct tick_grant grant;
	bool was_stamped; /* clock_is_stamped() in the previous round */
	/* All published events with older stamps are in the trace. */
	uint64_t covered_stamp;
	uint32_t thread_count;
	uint32_t gone_count;
	uint64_t last_event_ns;
	/* when rest() was last called, or when a long pause ended after that */
	uint64_t rested_ns;
	/*
	 * How many lost events of threads without a ring the trace has reported
	 * so far.
	 */
	uint64_t unattached_reported;
	bool is_ended; /* the current block has the trailer */
	/*
	 * An order to stop, or a failed write, has ended the trace, so recovery
	 * must not append the events that are in the rings.
	 */
	bool is_stopped;
	uint32_t fork_count;	/* number of forks under way */
	uint64_t fork_since_ns; /* when the latest fork began */
	/*
	 * when forks began to delay the segment's end; 0: they do not delay it
	 */
	uint64_t fork_kept_ns;
	/*
	 * true: nothing is recorded at present.  The thread that begins the
	 * trace initializes this flag, the writer thread changes it, and the
	 * thread that ends the process reads it.
	 */
	_Atomic bool is_dormant;
	bool is_prepared; /* has writer_prepare() run? */
	bool is_limited;  /* has writer_limit_reach() run? */
	/* no bell (own_slot.h) is possible, so the writer thread must stay */
	bool has_no_bell;
	/* 'hatf ctl' has called the writer thread, or has given an order */
	bool is_called;
	/* the previous writer thread left while a trace was open */
	bool has_left;
	/* since when there has been no client and no order */
	uint64_t quiet_since_ns;
	/* Figures of the last trace that ended. */
	uint64_t last_events, last_lost;
	/* errno of the error that ended the last trace; 0: no error ended it */
	int last_error;
	/*
	 * The trailer did not fit on a full disk, so writer_end_late() must try
	 * again to write it.
	 */
	_Atomic bool has_late_end;
	struct narrate_trailer late_end;
	uint64_t start_ns; /* approximate start time of the process */
	/*
	 * 'cpu_ns': processor time that earlier threads have spent on the
	 * writer's work.  'cpu_start_ns': processor time that the present
	 * thread had used when it took over the work.
	 */
	uint64_t cpu_ns, cpu_start_ns;
	/*
	 * If only the writer thread is left: the status of the initial thread,
	 * in the form of wait(2).
	 */
	int exit_status;
	/*
	 * The producer whose open realloc blocked the previous round; or NULL.
	 */
	const struct order_producer *blocked;
	uint64_t blocked_pos, blocked_since_ns;
	/* End of the writer's pause after a trailer; 0: no pause. */
	_Atomic uint64_t hold_until_ns;
	/* Did a request with WRITER_END_ABORT_HANDLED begin the pause? */
	bool may_jump;
	struct wake wake;
	/*
	 * Futex word: the writer changes it after it has answered a request to
	 * end the trace, and when the writer thread ends.
	 */
	_Atomic uint32_t done;
	/* Futex word: the writer changes it after it has encoded a fork. */
	_Atomic uint32_t forks;
	_Atomic uint32_t departure; /* enum writer_departure; a futex word */
	/*
	 * 'held': descriptors of the trace in the program's descriptor table,
	 * indexed by enum writer_file; -1: none.  They exist only between
	 * writer_depart() and writer_return().  'held_count': number of
	 * elements of 'held', or 0 if these descriptors do not exist.
	 */
	uint32_t held_count;
	int held[WRITER_FILES];
	_Atomic uint32_t follow; /* enum writer_following; a futex word */
	const struct privileges *follow_to;
	/* Ring that a new writer must move into the ring file; or NULL. */
	struct ring *adopt;
	_Atomic uint32_t client_order; /* enum writer_order; 0: none */
	/* did the writer carry out the latest order? */
	_Atomic bool client_done;
	/* 1: a thread waits in writer_resume() */
	_Atomic uint32_t resume;
	/* requested end of the trace: enum writer_end + 1; 0: no request */
	_Atomic uint32_t request;
	_Atomic bool is_ending; /* writer_end_dormant() was called */
	/* when the writer saw 'is_ending'; 0: not yet */
	uint64_t ending_since_ns;
	/* Pointers into 'struct writer_tables'. */
	struct thread **threads;
	struct order_producer **producers, **heap;
	uint8_t *memory;
};

/*
 * Large tables, in a mapping of their own.  A process that begins dormant has
 * only struct writer at first, and a process with few threads uses few pages of
 * the tables.  The kernel wipes the tables, too, in the child of a fork.
 */
struct writer_tables {
	struct thread *threads[THREAD_MAX];
	/*
	 * The producer of each thread, and the same producers in a binary heap.
	 */
	struct order_producer *producers[THREAD_MAX], *heap[THREAD_MAX];
	uint8_t memory[];
};

extern struct writer *writer;

/* The state of a request by writer_follow(). */
enum writer_following {
	WRITER_FOLLOW_NONE = 0,
	/* a thread of the program is preparing its request */
	WRITER_FOLLOW_TAKEN,
	WRITER_FOLLOW_ASKED,
	WRITER_FOLLOW_DONE,
	WRITER_FOLLOW_FAILED,
};

/* The state of a request by writer_depart(). */
enum writer_departure {
	WRITER_DEPART_NONE = 0,
	WRITER_DEPART_ASKED,	/* leave until an event needs the writer */
	WRITER_DEPART_FOR_CALL, /* leave until writer_return() */
};

/* Return the thread to which the order_producer belongs. */
static inline struct thread *
writer_thread_of(const struct order_producer *producer)
{
	return (struct thread *)((uintptr_t)producer -
				 offsetof(struct thread, producer));
}

/* writer.c ---------------------------------------------------------------- */

/* The main function of the writer thread. */
int writer_main(void *unused);

/* writer_round.c ---------------------------------------------------------- */

/*
 * Read the stamp clock and CLOCK_MONOTONIC, and store the reading for the trace
 * and for recovery.
 */
struct clock_reading writer_read_clock(void);

/*
 * Make a round: drain the rings, and commit a block and rotate if these steps
 * are due.  Return false if the trace cannot continue.
 */
bool writer_round(void);

/*
 * Put an event into the current block.  If the block is full, first write it
 * and begin another.  This is an order_sink.
 */
void writer_take_event(void *narrator, const struct order_producer *producer,
		       const struct event *ev);

/*
 * Write the block.  Once the block is in the file, release the room of its
 * events in the rings.  A producer that waits for room may sleep on until
 * writer_commit_and_recycle() (see ring_wait_release_part()).  If the write
 * fails, set trace.error and return false.
 */
bool writer_commit(void);

/*
 * Commit, wake the producers that wait for room, and recycle the threads that
 * have ended.  This function empties the list of threads, so call this function
 * only before writer_collect_threads() or at the end of a round.  Return the
 * same as writer_commit().
 */
bool writer_commit_and_recycle(void);

/* Store the state of the trace and of the rings for recovery; see image.h. */
void writer_commit_rings(void);

/*
 * Call this when a segment begins.  From now on the program's threads treat
 * every stack as undefined.  But events that are already in the rings rely on
 * definitions in the earlier segment.  Define the stacks of these events again,
 * before recovery relies on the new segment.  Return false if the trace cannot
 * continue.
 */
bool writer_define_stacks(void);

/*
 * Call this only between two events.  End the segment and begin another.
 * Return false if the trace cannot continue.
 */
bool writer_rotate_now(void);

/*
 * Call this before writing the trailer: drain all events with stamps up to
 * 'until', and fill in '*end'.  Later events are not in the trace.
 */
void writer_prepare_end(struct narrate_trailer *end, uint64_t until);

/* Write all remaining events and the trailer; remove the ring file. */
void writer_end_trace(enum writer_end how);

/*
 * Call this after writing the trailer: begin the pause in which the process may
 * end.
 */
void writer_hold(void);

/* writer_presence.c ------------------------------------------------------- */

/*
 * The writer thread calls this when it begins.  Make the trace file, or take
 * over the file of an earlier writer or of a thread of the program.  On
 * failure, report this and return false.
 */
bool writer_take_up(void);

/*
 * Leave after some time without events.  'wake' is the value of wake.word
 * before the writer last looked for work.  If the result is true, the thread
 * must end, and must not access the writer's state any more.
 */
bool writer_leave_if_idle(uint64_t now, uint32_t wake);

/*
 * Answer a thread of the program that asks the writer to leave.  The result
 * means the same as that of writer_leave_if_idle().
 */
bool writer_serve_departure(void);

/* writer_threads.c -------------------------------------------------------- */

/* List the threads whose rings are in use, with the order_producer of each. */
void writer_collect_threads(void);

/*
 * Enlarge each ring whose producer waits for room, as far as 'all_ring_words'
 * of 'struct config' allows.
 */
void writer_extend_rings(void);

/* Recycle a thread that has ended and whose last event is in the file. */
void writer_recycle(struct thread *t);

/* Recycle the threads that ended while nothing was recorded. */
void writer_recycle_ended(void);

/*
 * Check whether 't' has ended, and write its end to the trace once its last
 * event is drained.  If 'check' is set, ask the kernel now.  Otherwise ask only
 * if 't' has had no event for some time; this time is shorter if 't' has
 * announced its end.
 */
void writer_tend_thread(struct thread *t, uint64_t stamp, uint64_t now,
			bool check);

/*
 * Before the trailer, call writer_tend_thread() for all threads.  Wait a little
 * for threads that have announced their end, because a thread may exist for
 * some microseconds after it was joined, and the trace should have the
 * destroyThread of such a thread.
 */
void writer_tend_last(void);

/* If 't' has lost events, write to the trace how many. */
void writer_note_lost(struct thread *t);

/* Write to the trace how many events of threads without a ring were lost. */
void writer_note_unattached(void);

/*
 * Remember an event about a thread, its name, a fork, a heap or a DTD of the
 * program.
 */
void writer_note_rare_event(const struct order_producer *producer,
			    const struct event *ev);

/*
 * Forget the forks under way.  Call this when recording starts: the trace may
 * lack the end of a fork that began before recording stopped.
 */
void writer_forget_forks(void);

/*
 * Is a fork under way, so that the segment should not end?  Both events of a
 * fork should be in one segment, so that a reader of that segment knows the
 * child's blocks.  After a second the answer is no in any case, because a fork
 * whose thread was killed never ends, and a program may fork all the time.  If
 * the answer is yes, 'fork_kept_ns' notes that the end of the segment is due.
 */
bool writer_is_forking(uint64_t now);

/*
 * Must the segment end before 'ev'?  It must if the end of the segment was due
 * during a fork, no fork is under way now, and 'ev' begins the next fork.
 */
bool writer_is_between_forks(const struct event *ev);

/*
 * Does a signal handler that has interrupted the open realloc of this producer
 * wait for room?  If so, the realloc cannot end before the writer makes room.
 */
bool writer_is_waiting_inside(const struct order_producer *producer);

/*
 * Fill in the trailer's figures: the threads and waits of the whole process,
 * and the processor time that the writer's work has taken so far.  The waits in
 * '*end' must be 0.
 */
void writer_sum_up(struct narrate_trailer *end);

/*
 * Call writer_begin_work() when the calling thread takes over the writer's
 * work, and writer_end_work() before another thread may take over the work.
 * The processor time between the two calls counts as the writer's.
 */
void writer_begin_work(void);
void writer_end_work(void);

/* writer_reach.c ---------------------------------------------------------- */

/*
 * Call this as soon as the trace has a file.  Restrict the calling thread to
 * the files that it needs.
 */
void writer_limit_reach(void);

/* writer_orders.c --------------------------------------------------------- */

/*
 * Carry out an order that 'hatf ctl' has sent.  The type of this function is
 * clients_obey (clients.h).
 */
const char *writer_obey_order(const char *order, struct text *answer);

/*
 * Call this after a failed write.  End the trace, and become dormant until an
 * order to start.  Return false if the trailer cannot be written, either.
 */
bool writer_fail(void);

/* Carry out an order of the program itself (writer_obey()). */
void writer_serve_client(void);

/* Carry out an order to start or stop that came by the bell (own_slot.h). */
void writer_obey_bell(enum bell_call call);

/* writer_place.c ---------------------------------------------------------- */

/*
 * Publish the path and segment number of the current file.  If the child of a
 * fork calls this before it has a file, publish that there is no file.
 */
void writer_note_file(void);

/* Publish the approximate number of events in the current segment. */
void writer_note_events(uint64_t event_count);

#endif /* WRITER_STATE_H */
