/* SPDX-License-Identifier: MIT */
/*
 * writer.c - see writer.h
 *
 * This is the main loop of the writer thread: answer requests, make a round
 * (writer_round.c), sleep.  While the program allocates, the thread makes a
 * round about every millisecond, or less often if no processor is idle.  Each
 * round also renews the tick (clock.h).  After some time without events the
 * writer goes idle, and the next event wakes it.
 */

#include <sys/wait.h>

#include "preload/clock/clock.h"
#include "preload/config/environment.h"
#include "preload/control/control.h"
#include "preload/record/memory_limit.h"
#include "preload/record/ring_wait.h"
#include "preload/record/ringfile.h"
#include "preload/state/process_state.h"
#include "preload/sys/sys.h"
#include "preload/trace/header.h"
#include "preload/writer/remaining_threads.h"
#include "preload/writer/writer_state.h"

#define IDLE_AFTER_NS 50000000ull
#define IDLE_SLEEP_NS NS_PER_SEC
/*
 * If the process may continue, the pause after a trailer (WRITER_HOLD_NS) is
 * shortened to this time; see is_holding().
 */
#define HOLD_BUSY_NS 50000000ull
/*
 * A process gets its control socket CONTROL_AFTER_NS after its start.  If the
 * process is dormant, or if 'hatf ctl' has called the writer thread, an order
 * is likely, so the time is CONTROL_CALLED_AFTER_NS.
 */
#define CONTROL_AFTER_NS	500000000ull
#define CONTROL_CALLED_AFTER_NS 100000000ull

/*
 * Return the time at which the process gets its control socket, on
 * CLOCK_MONOTONIC.
 */
static uint64_t
control_due_ns(void)
{
	return writer->start_ns + (writer->is_dormant || writer->is_called
					   ? CONTROL_CALLED_AFTER_NS
					   : CONTROL_AFTER_NS);
}

/*
 * Sleep as control_sleep() does, but at most until the control socket is due.
 */
static void
sleep_until_due(uint32_t wake, uint64_t timeout_ns)
{
	const uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);
	const uint64_t due = control_due_ns();

	if (now <= due && due - now < timeout_ns)
		timeout_ns = due - now + 1;
	control_sleep(&writer->wake.word, wake, timeout_ns);
}

static void
answer(void)
{
	/* release: pairs with the acquire in writer_finish(). */
	atomic_store_explicit(&writer->request, 0, memory_order_release);
	atomic_fetch_add_explicit(&writer->done, 1, memory_order_release);
	sys_futex_wake(&writer->done);
}

/*
 * Answer a request to end the trace.  Return false if the writer's work is
 * over.
 */
static bool
serve_request(void)
{
	/*
	 * acquire: pairs with the exchange in writer_finish().  The writer then
	 * sees everything that the requesting thread published before its
	 * request.
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
	writer->may_jump = end == WRITER_END_ABORT_HANDLED;
	writer_hold();
	answer();
	return end == WRITER_END_EXEC || end == WRITER_END_ABORT_HANDLED;
}

/*
 * A thread of the program that has changed its privileges asks the writer to
 * make the same change.  If there is such a request, make the change and
 * answer.
 */
static void
serve_follow(void)
{
	bool done;

	/* acquire: pairs with the release in writer_follow(). */
	if (atomic_load_explicit(&writer->follow, memory_order_acquire) !=
	    WRITER_FOLLOW_ASKED)
		return;
	/*
	 * The control socket is in the folder of the process's previous user.
	 * Remove this socket.  control_serve() will make another one in the new
	 * user's folder.
	 */
	control_close();
	/*
	 * Under the minimal filter the writer could neither remove the ring
	 * file nor open /proc/self/stat, so do both beforehand.
	 */
	if (writer->follow_to->filter == PRIVILEGES_MINIMAL_FILTER) {
		ringfile_remove();
		remaining_threads_open_stat();
	}
	done = privileges_take_on(writer->follow_to);
	/* release: pairs with the acquire in await_following(). */
	atomic_store_explicit(&writer->follow,
			      done ? WRITER_FOLLOW_DONE : WRITER_FOLLOW_FAILED,
			      memory_order_release);
	sys_futex_wake(&writer->follow);
}

/*
 * Call this when there have been no events for some time.  If the program's
 * threads have ended, end the trace and return false.  Otherwise set the clock
 * idle, and sleep unless an event has come meanwhile.  The next event will
 * start the clock and wake the writer.
 */
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
		if (writer->producers[i]->pos !=
		    ring_head(writer->producers[i]->ring))
			return true;
	sleep_until_due(wake, writer->trace.narrator.in_block ? BLOCK_AGE_NS
							      : IDLE_SLEEP_NS);
	return true;
}

/* Return the number of free words in the fullest ring. */
static uint64_t
least_room(void)
{
	uint64_t least = UINT64_MAX;

	/* writer_commit_and_recycle() empties the list, so fill it again. */
	writer_collect_threads();
	for (uint32_t i = 0; i < writer->thread_count; i++) {
		const struct ring *const r = writer->producers[i]->ring;
		const uint64_t room = ring_limit(r) - ring_head(r);

		if (room < least)
			least = room;
	}
	return least;
}

/*
 * Return how long a tick lasts: the time between two rounds of the writer.
 * 'passed_ns' is the time since the previous call.  If no processor is idle,
 * each round takes some time from the program, so make ticks longer.  But with
 * HATFTRACE_FULL=drop, a full ring loses events, so keep the usual tick.
 */
static uint64_t
tick_ns(uint64_t passed_ns)
{
	if (!writer->trace.load.is_contended || environment_own()->drop)
		return TICK_NS;
	return load_policy_shared_sleep_ns(writer->order.event_count, passed_ns,
					   least_room());
}

/*
 * Sleep until there may be work.  Return false if the program's threads have
 * ended.
 */
static bool
rest(uint32_t wake)
{
	const uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);
	const uint64_t passed_ns = now - writer->rested_ns;
	uint64_t woke_ns;
	bool goes_on = true;

	writer->rested_ns = now;
	/* acquire: see serve_request(). */
	if (atomic_load_explicit(&writer->request, memory_order_acquire) != 0)
		return true;
	if (now - writer->last_event_ns > IDLE_AFTER_NS &&
	    writer->order.blocked == NULL)
		goes_on = go_idle(wake);
	else
		sys_futex_wait(&writer->wake.word, wake, tick_ns(passed_ns));
	woke_ns = sys_clock_ns(CLOCK_MONOTONIC);
	load_policy_note_sleep(&writer->trace.load, woke_ns - now);
	/*
	 * After a long pause of the program, measure the rate of its events
	 * from the end of the pause.
	 */
	if (woke_ns - now > IDLE_AFTER_NS)
		writer->rested_ns = woke_ns;
	return goes_on;
}

/*
 * Serve the threads that wait for a ring, for memory or for room in a ring.
 * Also extend the pool of threads ahead of need.
 */
static void
serve_rings(void)
{
	ringfile_make_spares();
	memory_limit_answer();
	thread_pool_extend();
	writer_collect_threads();
	writer_extend_rings();
}

/* If a thread reports that an exec has failed, continue the trace. */
static void
resume(void)
{
	/* acquire: pairs with the release in writer_resume(). */
	if (atomic_load_explicit(&writer->resume, memory_order_acquire) == 0)
		return;
	/*
	 * The socket may have been removed because the process was expected to
	 * end.  After this call, the next control_serve() makes a new socket.
	 */
	control_close();
	/* relaxed: only the writer thread reads 'is_ending'. */
	atomic_store_explicit(&writer->is_ending, false, memory_order_relaxed);
	writer_collect_threads();
	/*
	 * The ring file was removed before the exec, because a successful exec
	 * would have left it behind.  The kernel gives no new name to a file
	 * that has none left.  Therefore make a new file and move the ring into
	 * it.  This is possible only if there is a single ring: the ring of the
	 * thread that waits in writer_resume().  Other producers cannot be
	 * stopped, and would lose the words that they store between the copy
	 * and the new mapping.
	 */
	if (writer->thread_count == 1 && !writer->is_dormant) {
		ringfile_renew(writer->producers[0]->ring,
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
 * Is the writer in the pause after a trailer (writer_resume())?  After an
 * abort() whose signal the program handles, the pause is shorter if producers
 * wait for room or have dropped events, because the handler may have jumped out
 * of abort().
 */
static bool
is_holding(uint64_t now)
{
	/*
	 * relaxed: only the thread that does the writer's work writes
	 * 'hold_until_ns'.  If another thread did this work before,
	 * wake_claim() makes the value from that thread visible.
	 */
	const uint64_t until = atomic_load_explicit(&writer->hold_until_ns,
						    memory_order_relaxed);

	if (until <= now)
		return false;
	if (!writer->may_jump || until - now > WRITER_HOLD_NS - HOLD_BUSY_NS)
		return true;
	for (uint32_t i = 0; i < writer->thread_count; i++) {
		const struct ring *const r = writer->producers[i]->ring;

		/* relaxed: see count_lost(), record_steps.c. */
		if (ring_wait_is_pending(r) ||
		    atomic_load_explicit(&r->lost_count,
					 memory_order_relaxed) != 0)
			return false;
	}
	return true;
}

/*
 * Is a dormant process about to end?  If the process still exists a second
 * after writer_end_dormant(), assume that it continues.
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
	/*
	 * The socket may have been removed because the process was expected to
	 * end.  After this call, the next control_serve() makes a new socket.
	 */
	control_close();
	atomic_store_explicit(&writer->is_ending, false, memory_order_relaxed);
	return false;
}

/*
 * Call this while nothing is recorded.  Sleep until an order or a request
 * comes, but for a second at most.  Return false if the program's threads have
 * ended.
 */
static bool
sleep_dormant(uint32_t wake)
{
	if (remaining_threads_none(&writer->exit_status))
		return false;
	sleep_until_due(wake, IDLE_SLEEP_NS);
	return true;
}

/*
 * Call this when the writer thread ends.  Wake all threads that wait for the
 * writer.  Return the exit status of the writer thread.
 */
static int
leave_for_good(void)
{
	control_close();
	process_move(PROCESS_WRITER_OVER);
	/*
	 * If the trace file could not be opened again, keep the ring file,
	 * which has events that the trace lacks.  Later events are in neither
	 * file.
	 */
	if (writer->has_left)
		ringfile_count_hidden();
	else
		ringfile_remove();
	answer();
	wake_set_presence(WAKE_AWAY);
	/*
	 * If no other thread is left, the value returned becomes the exit
	 * status of the process.
	 */
	return writer->exit_status;
}

int
writer_main(void *unused)
{
	bool running = writer_take_up();

	(void)unused;
	while (running) {
		/* acquire: pairs with the release in wake_writer_if_here(). */
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
		const bool is_settled = now > control_due_ns();

		writer_serve_client();
		/*
		 * Read the list of ancestors now, since an ancestor may end at
		 * any time, and would then be missing.
		 */
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
