/* SPDX-License-Identifier: MIT */
/*
 * writer_presence.c - the writer thread comes, leaves, and comes back
 *
 * At first the thread makes the trace file, unless the process is dormant or a
 * thread of the program has made the file.  The thread leaves in two cases:
 *
 * - There have been no events for some time, or the program is about to count
 *   its threads.  The thread leaves only if all rings are in the ring file, so
 *   that a kill loses no events.
 * - A thread of the program is about to make a call for which the process must
 *   be single-threaded.  Some rings may then be in memory only.
 *
 * Before the thread leaves, it writes all events that it has taken out of the
 * rings to the file, and checks that the files can be opened again.  Later
 * events wait in the rings.  The kernel closes the thread's descriptors.  A
 * later writer thread opens the same files again by their names.
 */

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "preload/clock/clock.h"
#include "preload/config/ancestry.h"
#include "preload/config/environment.h"
#include "preload/control/control.h"
#include "preload/record/ringfile.h"
#include "preload/state/own_slot.h"
#include "preload/state/process_state.h"
#include "preload/sys/file.h"
#include "preload/sys/processors.h"
#include "preload/sys/say.h"
#include "preload/sys/sys.h"
#include "preload/trace/header.h"
#include "preload/writer/remaining_threads.h"
#include "preload/writer/writer_state.h"

/* Leave after this time without events and without a client. */
#define LEAVE_AFTER_NS (2 * NS_PER_SEC)

/*
 * To empty the rings, make at most this many rounds, while the thread that has
 * asked the writer to leave waits.
 */
#define SETTLE_ROUNDS 3u

/* -------------------------------------------------------- the thread begins */

/*
 * Count the rings that stay in memory only.  Recovery needs the number, since a
 * kill loses the events in these rings.
 */
static void
count_hidden_rings(void)
{
	writer_collect_threads();
	for (uint32_t i = 0; i < writer->thread_count; i++)
		if (writer->producers[i]->ring->offset == 0 &&
		    writer->producers[i]->ring != writer->adopt)
			ringfile_count_hidden();
}

/* Make the trace file.  On failure, report this and return false. */
static bool
open_trace(void)
{
	struct output *const o = &writer->trace.output;
	const int error = output_open(o, 0);

	if (error == EEXIST)
		say("%s: exists but is not a regular file; not tracing",
		    o->path);
	else if (error != 0)
		say("%s: %s; not tracing%s", o->path, say_errno(error),
		    output_advice(o, error, environment_own()->begin_now));
	return error == 0;
}

/* Put the first commit into the ring file, then the initial thread's ring. */
static void
begin_rings(void)
{
	writer_limit_reach();
	count_hidden_rings();
	/*
	 * Commit before the ring is moved into the ring file.  Once the ring is
	 * there, recovery appends to the trace the events that the ring has
	 * after the last commit.
	 */
	writer_read_clock();
	writer_commit_rings();
	/*
	 * On a busy machine, keep the ring small.  New pages take time, and
	 * evict the program's data from the caches.
	 */
	if (writer->adopt != NULL)
		ringfile_adopt(writer->adopt, !writer->trace.load.is_contended);
}

/*
 * Take over the trace file that a thread of the program has made
 * (writer_brief.c).
 */
static void
take_over(void)
{
	struct output *const o = &writer->trace.output;

	output_hold_directory(o);
	ringfile_open(environment_own(), o->path, writer->adopt != NULL);
	begin_rings();
}

/* Make the files of the trace.  On failure, report this and return false. */
static bool
begin(void)
{
	struct output *const o = &writer->trace.output;

	if (!open_trace())
		return false;
	/*
	 * Under a filter, do not call processors_are_busy(), because the filter
	 * might not allow its system calls.
	 */
	trace_begin_load(&writer->trace, !process_has(PROCESS_IS_CONFINED) &&
						 processors_are_busy());
	output_hold_directory(o);
	ancestry_read();
	ringfile_open(environment_own(), o->path, writer->adopt != NULL);
	header_complete();
	writer_note_file();
	/* Write the header at once, so that there is a trace from now on. */
	if (!segment_begin_first(&writer->segment)) {
		output_discard(o);
		ringfile_remove();
		return false;
	}
	begin_rings();
	return true;
}

/*
 * The trace file cannot be opened again, because of the errno value 'error'.
 * Write no trailer to this file, and write the events in the rings to another
 * file.  Return false if the trace cannot continue.
 */
static bool
continue_elsewhere(int error)
{
	struct narrate_trailer end = { .name = NULL };

	say("%s: %s; the trace continues in another file",
	    writer->trace.output.path, say_errno(error));
	writer_read_clock();
	writer_sum_up(&end);
	output_hold_directory(&writer->trace.output);
	if (!segment_abandon(&writer->segment, &end))
		return false;
	writer_note_file();
	if (!writer_define_stacks() || !trace_commit(&writer->trace))
		return false;
	writer_commit_rings();
	return true;
}

/*
 * The trace has not ended, but its files are closed.  Open the files again, or
 * take over the descriptors 'held'.  Return false if the trace cannot continue.
 */
static bool
have_files(const int *held)
{
	struct output *const o = &writer->trace.output;

	o->fd = held[WRITER_FILE_TRACE];
	if (o->fd < 0)
		o->fd = file_above_standard(output_reopen_trace(o));
	if (o->fd < 0)
		return continue_elsewhere(errno);
	o->directory = held[WRITER_FILE_FOLDER];
	if (o->directory < 0)
		output_hold_directory(o);
	return true;
}

static bool
come_back(void)
{
	static const int none[WRITER_FILES] = { -1, -1, -1, -1 };
	const int *const held = writer->held_count != 0 ? writer->held : none;

	ringfile_come_back(held[WRITER_FILE_RINGS],
			   held[WRITER_FILE_RINGS_FOLDER]);
	if (writer->has_left && !have_files(held))
		return false;
	writer->has_left = false;
	if (!writer->is_dormant)
		writer_limit_reach();
	return true;
}

/* Open the files of the trace, or make them if the trace has none yet. */
static bool
have_trace(void)
{
	if (writer->is_dormant || writer->has_left)
		return come_back();
	if (!writer->segment.is_open)
		return begin();
	take_over();
	return true;
}

bool
writer_take_up(void)
{
	enum bell_call call;

	remaining_threads_init();
	writer->is_limited = false;
	writer_begin_work();
	if (!have_trace())
		return false;
	writer->quiet_since_ns = sys_clock_ns(CLOCK_MONOTONIC);
	writer->rested_ns = writer->quiet_since_ns;
	call = own_slot_take();
	writer->is_called = writer->is_called || call != 0;
	control_stop_listening();
	control_begin();
	wake_set_presence(WAKE_HERE);
	writer_obey_bell(call);
	return true;
}

/* -------------------------------------------------------- the thread leaves */

/* Are all published events in the trace file, and is no fork under way? */
static bool
is_settled(void)
{
	if (writer->trace.narrator.in_block || writer->trace.error != 0 ||
	    writer->order.blocked != NULL || writer->order.open_count != 0 ||
	    writer->fork_count != 0)
		return false;
	writer_collect_threads();
	for (uint32_t i = 0; i < writer->thread_count; i++)
		if (writer->producers[i]->pos !=
		    ring_head(writer->producers[i]->ring))
			return false;
	return true;
}

/*
 * Could a later writer thread open the files of the trace?  If 'complete' is
 * set, each ring must be in the ring file (ringfile_can_leave()).
 */
static bool
can_reopen(bool complete)
{
	int fd;

	if (!ringfile_can_leave(complete))
		return false;
	if (writer->is_dormant)
		return true;
	fd = output_reopen_trace(&writer->trace.output);
	if (fd >= 0)
		syscall(SYS_close, fd);
	return fd >= 0;
}

/*
 * Could a thread of the program make another writer thread?  The answer is no
 * if the process has a filter of system calls, which might forbid it.  The
 * answer is also no if children of the process will be in another PID
 * namespace, because the kernel then makes no thread for the process.  In that
 * case /proc/self/ns/pid_for_children is missing or names the other namespace.
 */
static bool
can_return(void)
{
	struct stat own, for_children;

	return !process_has(PROCESS_IS_CONFINED) &&
	       fstatat(AT_FDCWD, "/proc/self/ns/pid", &own, 0) == 0 &&
	       fstatat(AT_FDCWD, "/proc/self/ns/pid_for_children",
		       &for_children, 0) == 0 &&
	       own.st_ino == for_children.st_ino;
}

/* Must the thread stay although there are no events? */
static bool
must_stay(void)
{
	const struct config *const c = environment_own();

	return writer->has_no_bell || c->begin_now || !can_return() ||
	       (!writer->is_dormant &&
		(c->rotate_ns != 0 || remaining_threads_several(true)));
}

/*
 * Call this when the writer thread is about to end, before it changes its
 * presence.  After that change, a thread of the program may make the next
 * writer.  The kernel will close the descriptors of the ending writer, so
 * forget their numbers here: the next writer must not use them.
 */
static void
prepare_to_leave(void)
{
	writer_end_work();
	output_forget(&writer->trace.output);
	writer->has_left = !writer->is_dormant;
	/*
	 * relaxed: wake_is_wanted() uses this time only to decide when a new
	 * writer is due, so a late store does no harm.
	 */
	atomic_store_explicit(&writer->wake.away_since_ns, 0,
			      memory_order_relaxed);
}

static bool
is_idle(uint64_t now)
{
	if (control_is_busy())
		writer->quiet_since_ns = now;
	/*
	 * An order may have come after 'now'.  'quiet_since_ns' is then later
	 * than 'now', so do not subtract it.
	 */
	if (now <= writer->quiet_since_ns + LEAVE_AFTER_NS)
		return false;
	/*
	 * acquire: is_settled() sees all events that were published before the
	 * clock became idle.
	 */
	return writer->is_dormant ||
	       (now - writer->last_event_ns > LEAVE_AFTER_NS &&
		atomic_load_explicit(&clock_tick, memory_order_acquire) ==
			CLOCK_IDLE &&
		is_settled());
}

/*
 * Take orders by the bell (own_slot.h) instead of the socket, unless the
 * process takes no more orders.  Return false if no bell is possible.
 */
static bool
have_bell(void)
{
	if (!control_is_over() && !control_listen(true))
		writer->has_no_bell = true;
	return !writer->has_no_bell;
}

/* The thread stays after all: undo prepare_to_leave() and have_bell(). */
static void
stay(int fd, int directory)
{
	writer->trace.output.fd = fd;
	writer->trace.output.directory = directory;
	writer->has_left = false;
	writer_begin_work();
	control_stop_listening();
}

bool
writer_leave_if_idle(uint64_t now, uint32_t wake)
{
	const int fd = writer->trace.output.fd;
	const int directory = writer->trace.output.directory;
	uint32_t away = WAKE_AWAY;

	if (!is_idle(now) || must_stay() || !can_reopen(!writer->is_dormant) ||
	    !have_bell())
		return false;
	prepare_to_leave();
	/* seq_cst, both: see wake_writer_if_here(). */
	atomic_store_explicit(&writer->wake.presence, WAKE_AWAY,
			      memory_order_seq_cst);
	/*
	 * If wake.word has changed, there may be new work, so try to stay.  If
	 * the exchange then fails, a thread of the program is already about to
	 * make another writer, so leave nevertheless.
	 */
	if (atomic_load_explicit(&writer->wake.word, memory_order_seq_cst) ==
		    wake ||
	    !atomic_compare_exchange_strong_explicit(
		    &writer->wake.presence, &away, WAKE_HERE,
		    memory_order_seq_cst, memory_order_seq_cst))
		return true;
	stay(fd, directory);
	return false;
}

/*
 * Write all events in the rings to the file.  Return false if a write fails, or
 * if new events keep coming.
 */
static bool
settle(void)
{
	for (unsigned i = 0; i < SETTLE_ROUNDS && !writer->is_dormant; i++) {
		if (!writer_round() || !writer_commit_and_recycle())
			return false;
		clock_set_idle();
		if (is_settled())
			return true;
	}
	return writer->is_dormant;
}

static bool
may_depart(bool for_call)
{
	if (!settle())
		return false;
	if (for_call)
		return can_return() && can_reopen(false);
	return !must_stay() && can_reopen(!writer->is_dormant) && have_bell();
}

bool
writer_serve_departure(void)
{
	/* acquire: pairs with the release in writer_depart(). */
	const uint32_t asked =
		atomic_load_explicit(&writer->departure, memory_order_acquire);
	bool departs;

	if (asked != WRITER_DEPART_ASKED && asked != WRITER_DEPART_FOR_CALL)
		return false;
	departs = may_depart(asked == WRITER_DEPART_FOR_CALL);
	if (departs) {
		control_close();
		prepare_to_leave();
	}
	/* release, both: pair with the acquire loads in await_departure(). */
	if (departs)
		atomic_store_explicit(&writer->wake.presence, WAKE_AWAY,
				      memory_order_release);
	atomic_store_explicit(&writer->departure, WRITER_DEPART_NONE,
			      memory_order_release);
	sys_futex_wake(&writer->departure);
	return departs;
}
