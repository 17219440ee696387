/* SPDX-License-Identifier: MIT */
/*
 * writer_calls.c - requests of the program's threads to the writer
 *
 * A thread of the program stores its request, wakes the writer, and waits for
 * the answer.
 */

#include <errno.h>
#include <sched.h>

#include "preload/confine/hidden_thread.h"
#include "preload/control/control.h"
#include "preload/control/writer_sleep.h"
#include "preload/record/record.h"
#include "preload/record/ringfile.h"
#include "preload/state/own_slot.h"
#include "preload/state/process_state.h"
#include "preload/sys/file.h"
#include "preload/sys/filter.h"
#include "preload/sys/say.h"
#include "preload/sys/sys.h"
#include "preload/writer/begin.h"
#include "preload/writer/writer_state.h"

/*
 * If the calling thread is the initial thread and its ring is in memory only,
 * return the ring, which the writer can move into the ring file.  Else return
 * NULL.
 */
static struct ring *
own_ring(void)
{
	const struct thread *const t = thread_self;

	return thread_is_attached(t) && t->id == 0 && t->ring->offset == 0
		       ? t->ring
		       : NULL;
}

/*
 * Explain why the calling thread could not make the writer thread; 'error' is
 * the errno.  A thread with the policy SCHED_DEADLINE gets the same error as a
 * process at its limit of threads.  If the flag SCHED_RESET_ON_FORK is set, the
 * policy does not prevent new threads.  Under a filter of system calls, do not
 * ask for the policy, since the filter may kill the process for the call.
 */
static const char *
explain(int error)
{
	if (error == EAGAIN && !filter_is_expected() &&
	    !filter_is_installed() &&
	    syscall(SYS_sched_getscheduler, 0) == SCHED_DEADLINE)
		return "a thread with the policy SCHED_DEADLINE cannot make "
		       "threads";
	return say_errno(error);
}

/* Make the writer thread.  On failure, report this and return false. */
static bool
make_writer(void)
{
	struct output *const o = &writer->trace.output;

	if (!begin_prepare())
		return false;
	/*
	 * The descriptor of the trace's file, if writer_finish_brief() has left
	 * the file open; else -1.
	 */
	const int fd = o->fd;

	writer->adopt = own_ring();
	const bool done = hidden_thread_start(writer_main, NULL,
					      fd >= 0 ? &fd : writer->held,
					      fd >= 0 ? 1 : writer->held_count);
	if (!done)
		say("cannot start the writer thread: %s; not tracing",
		    explain(errno));
	/*
	 * Close the descriptor in the program's descriptor table, because the
	 * new thread has its own copy.
	 */
	if (fd >= 0)
		syscall(SYS_close, fd);
	return done;
}

static const struct wake_calls wake_calls = {
	.make = make_writer,
	.interrupt = writer_sleep_interrupt,
	.note_killed = ringfile_count_unattached,
};

void
writer_open_calls(void)
{
	wake_init(&writer->wake, &wake_calls);
}

void
writer_make_early(void)
{
	if (!process_is_tracing() || !process_is_own())
		return;
	/*
	 * Do not make the writer thread of a dormant process, which has no file
	 * to open and may need to be single-threaded.  But prepare the tables
	 * now: the preparation reads /proc, which the program's next call may
	 * hide.
	 */
	if (record_is_dormant())
		writer_get_ready();
	else
		wake_make_writer();
}

/*
 * Wait at most this long for the answer to WRITER_DEPART_ASKED.  The writer
 * answers sooner unless it waits for a disk.
 */
#define LOOK_MAX_NS NS_PER_SEC

/*
 * Wait for the writer's answer to the request to leave.  Return true if the
 * writer thread is gone.
 */
static bool
await_departure(uint32_t asked)
{
	const uint64_t start = sys_clock_ns(CLOCK_MONOTONIC);

	/* acquire: pairs with the release in writer_serve_departure(). */
	while (atomic_load_explicit(&writer->departure, memory_order_acquire) ==
		       asked &&
	       process_is_tracing() && wake_writer_if_here()) {
		if (asked != WRITER_DEPART_FOR_CALL &&
		    sys_clock_ns(CLOCK_MONOTONIC) - start > LOOK_MAX_NS)
			break;
		sys_futex_wait(&writer->departure, asked, 10 * TICK_NS);
	}
	/*
	 * acquire: pairs with the release in writer_serve_departure().  If the
	 * writer is gone, this thread sees the names and the lengths of the
	 * files, which hold_files() needs.
	 */
	if (atomic_load_explicit(&writer->wake.presence,
				 memory_order_acquire) != WAKE_AWAY)
		return false;
	hidden_thread_join();
	return true;
}

/* Open the files of the trace for the next writer. */
static void
hold_files(void)
{
	const struct output *const o = &writer->trace.output;

	writer->held[WRITER_FILE_TRACE] = output_reopen_trace(o);
	writer->held[WRITER_FILE_FOLDER] = file_open_folder(o->path);
	writer->held[WRITER_FILE_RINGS] = ringfile_reopen();
	writer->held[WRITER_FILE_RINGS_FOLDER] = ringfile_reopen_folder();
	writer->held_count = WRITER_FILES;
	for (unsigned i = 0; i < WRITER_FILES; i++)
		writer->held[i] = file_above_standard(writer->held[i]);
}

bool
writer_depart(bool for_call)
{
	const uint32_t asked =
		for_call ? WRITER_DEPART_FOR_CALL : WRITER_DEPART_ASKED;
	uint32_t none = WRITER_DEPART_NONE;
	bool gone;

	/* release: the writer sees what the caller has published. */
	if (!atomic_compare_exchange_strong_explicit(
		    &writer->departure, &none, asked, memory_order_acq_rel,
		    memory_order_relaxed))
		return false;
	gone = await_departure(asked);
	/*
	 * release: another thread may now make a request, even if the writer
	 * has not answered.
	 */
	atomic_store_explicit(&writer->departure, WRITER_DEPART_NONE,
			      memory_order_release);
	/*
	 * If no trace was open when the writer left, there are no files to
	 * open.
	 */
	if (gone && for_call && writer->has_left)
		hold_files();
	return gone;
}

void
writer_return(void)
{
	wake_make_writer();
	for (unsigned i = 0; i < writer->held_count; i++)
		if (writer->held[i] >= 0)
			syscall(SYS_close, writer->held[i]);
	writer->held_count = 0;
}

void
writer_finish(enum writer_end end)
{
	uint32_t none = 0;
	/* acquire: pairs with the release in answer(). */
	const uint32_t done =
		atomic_load_explicit(&writer->done, memory_order_acquire);

	/*
	 * If another thread has already asked, one trailer serves both threads.
	 */
	atomic_compare_exchange_strong_explicit(
		&writer->request, &none, (uint32_t)end + 1,
		memory_order_acq_rel, memory_order_acquire);
	while (process_is_tracing() &&
	       atomic_load_explicit(&writer->done, memory_order_acquire) ==
		       done) {
		wake_writer();
		sys_futex_wait(&writer->done, done, 10 * TICK_NS);
	}
	say_rest();
}

bool
writer_obey(enum writer_order order)
{
	bool done = false;
	uint32_t none = WRITER_ORDER_NONE;

	/*
	 * There is room for only one order, so wait until the writer has
	 * carried out the order of any other thread. release: pairs with the
	 * acquire in writer_serve_client().
	 */
	while (!atomic_compare_exchange_strong_explicit(
		&writer->client_order, &none, order, memory_order_acq_rel,
		memory_order_relaxed)) {
		if (!process_is_tracing())
			return false;
		sys_futex_wait(&writer->client_order, none, 10 * TICK_NS);
		none = WRITER_ORDER_NONE;
	}
	while (process_is_tracing()) {
		wake_writer();
		sys_futex_wait(&writer->client_order, order, 10 * TICK_NS);
		/* acquire: pairs with the release in writer_serve_client(). */
		if (atomic_load_explicit(&writer->client_order,
					 memory_order_acquire) != order)
			break;
	}
	/* relaxed: if another order followed, either result may be returned. */
	done = atomic_load_explicit(&writer->client_done, memory_order_relaxed);
	return done && process_is_tracing();
}

/* Wait until the writer has answered, or has ended. */
static uint32_t
await_following(void)
{
	uint32_t now;

	/* acquire: pairs with the release in serve_follow(), writer.c. */
	while ((now = atomic_load_explicit(&writer->follow,
					   memory_order_acquire)) ==
		       WRITER_FOLLOW_ASKED &&
	       process_is_tracing()) {
		wake_writer();
		sys_futex_wait(&writer->follow, WRITER_FOLLOW_ASKED,
			       10 * TICK_NS);
	}
	return now;
}

bool
writer_follow(const struct privileges *p)
{
	uint32_t none = WRITER_FOLLOW_NONE;
	bool done;

	/* acquire: pairs with the release that ended the previous request. */
	while (!atomic_compare_exchange_weak_explicit(
		&writer->follow, &none, WRITER_FOLLOW_TAKEN,
		memory_order_acquire, memory_order_relaxed)) {
		if (!process_is_tracing())
			return true;
		sys_sleep(TICK_NS / 10);
		none = WRITER_FOLLOW_NONE;
	}
	writer->follow_to = p;
	/* release: pairs with the acquire in serve_follow(), writer.c. */
	atomic_store_explicit(&writer->follow, WRITER_FOLLOW_ASKED,
			      memory_order_release);
	/*
	 * If the writer thread has ended, it has no privileges that must
	 * change.  This case counts as success, too.
	 */
	done = await_following() != WRITER_FOLLOW_FAILED;
	/* release: another thread may now make a request. */
	atomic_store_explicit(&writer->follow, WRITER_FOLLOW_NONE,
			      memory_order_release);
	return done;
}

bool
writer_end_dormant(void)
{
	/*
	 * seq_cst, both accesses: either start_recording() sees 'is_ending', or
	 * this thread sees that recording has begun.  If this thread reads true
	 * from 'is_dormant', any earlier trace is complete, because a process
	 * becomes dormant only when a stop is complete.
	 */
	atomic_store_explicit(&writer->is_ending, true, memory_order_seq_cst);
	if (!atomic_load_explicit(&writer->is_dormant, memory_order_seq_cst))
		return false;
	/* If there is a ring file, the writer must remove it. */
	if (ringfile_path() != NULL)
		return false;
	say_rest();
	control_unlink();
	return true;
}

void
writer_await_gone(void)
{
	hidden_thread_join();
}

void
writer_resume(void)
{
	/* release: pairs with the acquire in resume(). */
	atomic_store_explicit(&writer->resume, 1, memory_order_release);
	/*
	 * acquire: after this loop, the thread sees the new ring file, which is
	 * mapped at the ring's address.
	 */
	while (process_is_tracing() &&
	       atomic_load_explicit(&writer->resume, memory_order_acquire) !=
		       0) {
		wake_writer();
		sys_futex_wait(&writer->resume, 1, 10 * TICK_NS);
	}
}

bool
writer_await_fork(uint64_t ticket, uint64_t timeout_ns,
		  struct writer_place *place_ret)
{
	const uint64_t start = sys_clock_ns(CLOCK_MONOTONIC);
	const size_t i = ticket % NARRATE_FORKS_MAX;

	while (process_is_tracing() &&
	       sys_clock_ns(CLOCK_MONOTONIC) - start < timeout_ns) {
		/* acquire: pairs with the release in writer_take_event(). */
		const uint32_t forks = atomic_load_explicit(
			&writer->forks, memory_order_acquire);

		/* acquire: pairs with the release in narrate_put_fork(). */
		if (atomic_load_explicit(&writer->trace.narrator.fork[i].ticket,
					 memory_order_acquire) == ticket) {
			place_ret->segment =
				writer->trace.narrator.fork[i].segment;
			place_ret->event = writer->trace.narrator.fork[i].event;
			return true;
		}
		wake_writer();
		sys_futex_wait(&writer->forks, forks, TICK_NS / 10);
	}
	return false;
}

void *
writer_answer_bell(void *p)
{
	const int saved_errno = errno;
	const enum bell_call call = own_slot_take();

	if (call != 0) {
		wake_make_writer();
		if (call == BELL_START)
			writer_obey(WRITER_ORDER_START);
	}
	errno = saved_errno;
	return p;
}
