/* SPDX-License-Identifier: MIT */
/*
 * writer.c - see writer.h
 *
 * The thread's main loop: answer requests, make a round (writer_round.c),
 * sleep.  While the program allocates, a round comes about every millisecond
 * and is also the tick of the coarse clock.  After some time without events the
 * writer goes idle, and the next event wakes it.
 */

#include <sys/wait.h>

#include "preload/record/clock.h"
#include "preload/record/memory_limit.h"
#include "preload/record/process_state.h"
#include "preload/record/ring_wait.h"
#include "preload/record/ringfile.h"
#include "preload/sys/sys.h"
#include "preload/trace/header.h"
#include "preload/writer/control.h"
#include "preload/writer/remaining_threads.h"
#include "preload/writer/writer_state.h"

#define IDLE_AFTER_NS 50000000ull
#define IDLE_SLEEP_NS NS_PER_SEC
/* The pause of WRITER_HOLD_NS is this short if a producer waits for room. */
#define HOLD_BUSY_NS 50000000ull
/* A process that ends sooner gets no socket. */
#define CONTROL_AFTER_NS 100000000ull

static void
answer(void)
{
	/* release: pairs with the acquire in writer_finish(). */
	atomic_store_explicit(&writer->request, 0, memory_order_release);
	atomic_fetch_add_explicit(&writer->done, 1, memory_order_release);
	sys_futex_wake(&writer->done);
}

/* Returns false when the writer's work is over. */
static bool
serve_request(void)
{
	/*
	 * acquire: pairs with the exchange in writer_finish(): what that thread
	 * published before is seen by the drain.
	 */
	const uint32_t request =
		atomic_load_explicit(&writer->request, memory_order_acquire);

	if (request == 0)
		return true;
	const enum writer_end end = (enum writer_end)(request - 1);

	control_close();
	if (!writer->is_dormant)
		writer_end_trace(end);
	else
		ringfile_remove();
	writer_hold();
	answer();
	return end == WRITER_END_EXEC || end == WRITER_END_ABORT;
}

/* The program has other privileges now. */
static void
serve_follow(void)
{
	bool done;

	/* acquire: pairs with the release in writer_follow(). */
	if (atomic_load_explicit(&writer->follow, memory_order_acquire) !=
	    WRITER_FOLLOW_ASKED)
		return;
	/* The socket is in the old user's folder; it will be made again. */
	control_close();
	/* After the seal, no file can be removed or opened. */
	if (writer->follow_to->filter == PRIVILEGES_MINIMAL_FILTER) {
		ringfile_remove();
		remaining_threads_open_stat();
	}
	done = privileges_take_on(writer->follow_to);
	/* release: pairs with the acquire in writer_follow(). */
	atomic_store_explicit(&writer->follow,
			      done ? WRITER_FOLLOW_DONE : WRITER_FOLLOW_FAILED,
			      memory_order_release);
	sys_futex_wake(&writer->follow);
}

/* No events: stop the clock.  The next event starts it and wakes the writer. */
static bool
go_idle(uint32_t wake)
{
	if (remaining_threads_none(&writer->exit_status)) {
		writer_end_trace(WIFSIGNALED(writer->exit_status)
					 ? WRITER_END_KILLED
					 : WRITER_END_LAST_THREAD);
		return false;
	}
	clock_set_idle();
	writer_collect_threads();
	for (uint32_t i = 0; i < writer->thread_count; i++)
		if (writer->sources[i]->pos !=
		    ring_head(writer->sources[i]->ring))
			return true;
	control_sleep(&writer->wake.word, wake,
		      writer->trace.narrator.in_block ? BLOCK_AGE_NS
						      : IDLE_SLEEP_NS);
	return true;
}

/* Sleep until there may be work.  False: the program's threads have ended. */
static bool
rest(uint32_t wake)
{
	const uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);
	bool goes_on = true;

	/* acquire: as in serve_request(). */
	if (atomic_load_explicit(&writer->request, memory_order_acquire) != 0)
		return true;
	if (now - writer->last_event_ns > IDLE_AFTER_NS &&
	    writer->order.blocked == NULL)
		goes_on = go_idle(wake);
	else
		sys_futex_wait(&writer->wake.word, wake, TICK_NS);
	load_policy_note_sleep(&writer->trace.load,
			       sys_clock_ns(CLOCK_MONOTONIC) - now);
	return goes_on;
}

/* Serve the threads that wait for a ring, memory or a place in the pool. */
static void
serve_rings(void)
{
	ringfile_make_spares();
	memory_limit_answer();
	thread_pool_extend();
	writer_collect_threads();
	for (uint32_t i = 0; i < writer->thread_count; i++)
		ringfile_extend(writer->sources[i]->ring);
}

/* An exec has failed: the process goes on, and so does its trace. */
static void
resume(void)
{
	/* acquire: pairs with the release in writer_resume(). */
	if (atomic_load_explicit(&writer->resume, memory_order_acquire) == 0)
		return;
	/* Made again by the next control_serve(). */
	control_close();
	/* relaxed: only now, as nothing could be begun, is it of interest. */
	atomic_store_explicit(&writer->is_ending, false, memory_order_relaxed);
	writer_collect_threads();
	/*
	 * A ring that is being written cannot be moved: its producer takes no
	 * lock and cannot be stopped, so words that it stored between the copy
	 * and the new mapping would be lost.  Nor can the old file get its name
	 * back: it had to be removed before the exec, in case that succeeds,
	 * and the system links no file again that has lost its last name.
	 */
	if (writer->thread_count == 1 && !writer->is_dormant) {
		ringfile_renew(writer->sources[0]->ring,
			       writer->trace.output.path);
		writer_commit_rings();
	} else if (ringfile_path() != NULL) {
		ringfile_tell_removed();
	}
	atomic_store_explicit(&writer->hold_until_ns, 0, memory_order_relaxed);
	/* release: pairs with the acquire in writer_resume(). */
	atomic_store_explicit(&writer->resume, 0, memory_order_release);
	sys_futex_wake(&writer->resume);
}

/*
 * Was the trailer written only a moment ago?  If producers still allocate, the
 * process may not have ended: a handler of SIGABRT may have jumped out of
 * abort().
 */
static bool
is_holding(uint64_t now)
{
	/* relaxed: only this thread writes it. */
	const uint64_t until = atomic_load_explicit(&writer->hold_until_ns,
						    memory_order_relaxed);

	if (until <= now)
		return false;
	if (until - now > WRITER_HOLD_NS - HOLD_BUSY_NS)
		return true;
	for (uint32_t i = 0; i < writer->thread_count; i++) {
		const struct ring *const r = writer->sources[i]->ring;

		/* relaxed: see count_lost(), record.c. */
		if (ring_wait_is_pending(r) ||
		    atomic_load_explicit(&r->lost_count,
					 memory_order_relaxed) != 0)
			return false;
	}
	return true;
}

/*
 * Is a dormant process about to end?  A process that said so and still exists a
 * second later goes on.
 */
static bool
is_ending_dormant(uint64_t now)
{
	/* seq_cst: see writer_end_dormant(). */
	if (!writer->is_dormant ||
	    !atomic_load_explicit(&writer->is_ending, memory_order_seq_cst)) {
		writer->ending_since_ns = 0;
		return false;
	}
	if (writer->ending_since_ns == 0)
		writer->ending_since_ns = now;
	if (now - writer->ending_since_ns < WRITER_HOLD_NS)
		return true;
	writer->ending_since_ns = 0;
	/* As in resume(). */
	control_close();
	atomic_store_explicit(&writer->is_ending, false, memory_order_relaxed);
	return false;
}

/* Nothing is recorded: sleep until an order or a request comes. */
static bool
sleep_dormant(uint32_t wake)
{
	if (remaining_threads_none(&writer->exit_status))
		return false;
	control_sleep(&writer->wake.word, wake,
		      sys_clock_ns(CLOCK_MONOTONIC) - writer->start_ns >
				      CONTROL_AFTER_NS
			      ? IDLE_SLEEP_NS
			      : CONTROL_AFTER_NS);
	return true;
}

/* The thread ends: release all that wait for it; return its exit status. */
static int
leave_for_good(void)
{
	control_close();
	process_move(PROCESS_WRITER_OVER);
	/*
	 * If the trace file could not be opened again, the ring file has the
	 * events that the trace lacks, up to now.  Later events are nowhere.
	 */
	if (writer->has_left)
		ringfile_count_hidden();
	else
		ringfile_remove();
	answer();
	wake_set_presence(WAKE_AWAY);
	/* The status of the last thread is that of the process. */
	return writer->exit_status;
}

int
writer_main(void *unused)
{
	bool running = writer_take_up();

	(void)unused;
	while (running) {
		/* acquire: what was done before a wake is seen after it. */
		const uint32_t wake = atomic_load_explicit(
			&writer->wake.word, memory_order_acquire);

		running = serve_request();
		if (!running)
			break;
		resume();
		serve_follow();
		serve_rings();
		const uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);

		if (is_holding(now)) {
			sys_futex_wait(&writer->wake.word, wake, 10 * TICK_NS);
			continue;
		}
		const bool is_settled =
			now - writer->start_ns > CONTROL_AFTER_NS;

		writer_serve_client();
		/* Ancestors may end at any time: read them now. */
		if (is_settled)
			header_complete();
		control_serve(now, is_settled && !is_ending_dormant(now));
		if (writer_serve_departure() || writer_leave_if_idle(now, wake))
			return 0;
		if (writer->is_dormant) {
			running = sleep_dormant(wake);
			continue;
		}
		running = writer_round() ? rest(wake) : writer_fail();
	}
	return leave_for_good();
}
