/* SPDX-License-Identifier: MIT */
/*
 * writer_brief.c - write the trace of a short process without a writer thread
 *
 * The first event of the process prepares the writer.  If the process ends
 * before it needs the writer thread, the thread of the program that ends the
 * process does the writer's work.  This thread makes the trace file, writes the
 * header, the events and the trailer, and closes the file.  All this takes only
 * a fraction of the time that it would take to make a thread, a ring file and a
 * socket.
 *
 * The thread of the program does the same work as the writer thread
 * (writer_round.c), on the writer's stack and with the writer's privileges.
 * One thing differs: during this work the trace file has a descriptor in the
 * program's descriptor table.  Its number is above those of the standard
 * descriptors, and an exec closes it.
 */

#include <errno.h>
#include <string.h>

#include "preload/config/environment.h"
#include "preload/confine/hidden_thread.h"
#include "preload/state/process_state.h"
#include "preload/sys/file.h"
#include "preload/sys/sys.h"
#include "preload/trace/header.h"
#include "preload/writer/begin.h"
#include "preload/writer/writer_state.h"

/* See is_tiny(). */
#define TINY_WORDS 320u

struct brief {
	enum writer_end end;
	bool is_done;
};

/*
 * Make the trace file.  Return false on failure.  The writer thread will then
 * try again and report the reason.
 */
static bool
open_trace(void)
{
	struct output *const o = &writer->trace.output;

	if (output_open(o, 0) == 0)
		return true;
	o->number = 0;
	o->path[0] = '\0';
	return false;
}

/*
 * Do the rings have so few words that the trace fits in one block of the file
 * system even if the encoder places metadata without a search?  The search
 * would take as long as all other encoding, and touch more pages of memory.
 */
static bool
is_tiny(void)
{
	uint64_t words = 0;

	writer_collect_threads();
	for (uint32_t i = 0; i < writer->thread_count; i++)
		words += ring_head(writer->producers[i]->ring);
	return words <= TINY_WORDS;
}

static int
write_trace(void *argument)
{
	struct brief *const b = argument;
	struct output *const o = &writer->trace.output;

	b->is_done = open_trace();
	if (!b->is_done)
		return 0;
	writer_begin_work();
	trace_set_brief(&writer->trace, true, is_tiny());
	header_complete();
	writer_note_file();
	if (segment_begin_first(&writer->segment))
		writer_end_trace(b->end);
	else
		output_discard(o);
	trace_set_brief(&writer->trace, false, false);
	writer_end_work();
	return 0;
}

void
writer_get_ready(void)
{
	const int saved_errno = errno;
	const uint64_t mask = sys_block_signals();

	if (!writer_is_prepared() && wake_claim()) {
		begin_prepare();
		wake_set_presence(WAKE_AWAY);
	}
	sys_restore_signals(mask);
	errno = saved_errno;
}

/*
 * Close the file and record nothing more, unless the process is about to exec.
 * An exec that succeeds closes the file itself.  After an exec that fails, the
 * trace continues.  writer_resume() then makes the writer thread, which takes
 * over the file.
 */
static void
leave_trace(enum writer_end end)
{
	if (end == WRITER_END_EXEC && writer->segment.is_open) {
		writer_hold();
		return;
	}
	output_close(&writer->trace.output);
	process_move(PROCESS_WRITER_OVER);
}

/*
 * Must the header name a ring file?  A header that the calling thread writes
 * usually names none, because this thread makes no ring file.  But if the
 * process is about to exec and the exec fails, the writer thread makes a ring
 * file later.  If the header names no ring file, recovery looks for one only in
 * the folder of the trace.  Therefore the header must name the ring file if
 * HATFTRACE_RINGS names another folder.
 */
static bool
must_name_rings(enum writer_end end)
{
	return end == WRITER_END_EXEC &&
	       strchr(environment_own()->rings, '/') != NULL;
}

bool
writer_finish_brief(enum writer_end end)
{
	struct brief brief = { .end = end };
	struct privileges_saved before;

	/*
	 * relaxed: only a hint.  If a dormant process calls this function, it
	 * has a ring file, which only the writer thread can remove.  Therefore
	 * leave the work to that thread.
	 */
	if (atomic_load_explicit(&writer->is_dormant, memory_order_relaxed) ||
	    must_name_rings(end))
		return false;
	/* wake_claim() makes the work of an earlier writer visible. */
	if (thread_id_count() != 1 || writer->segment.is_open || !wake_claim())
		return false;
	privileges_lower(&before);
	if (hidden_thread_run_here(write_trace, &brief) && brief.is_done)
		leave_trace(end);
	privileges_restore(&before);
	wake_set_presence(WAKE_AWAY);
	return brief.is_done;
}

static int
write_late_end(void *unused)
{
	struct output *const o = &writer->trace.output;

	(void)unused;
	o->fd = file_above_standard(output_reopen_trace(o));
	if (o->fd >= 0)
		segment_end_late(&writer->segment, &writer->late_end);
	output_close(o);
	return 0;
}

void
writer_end_late(void)
{
	struct privileges_saved before;
	uint64_t mask;
	int saved_errno;

	/*
	 * In a sandbox or under a filter of system calls, do nothing, since the
	 * system calls for the file could end the process.
	 */
	if (writer == NULL || process_has(PROCESS_IS_SANDBOXED) ||
	    process_has(PROCESS_IS_CONFINED))
		return;
	/*
	 * relaxed: only a hint, since the exchange below decides.  In the child
	 * of a fork the flag is false, because the kernel has wiped 'writer'.
	 */
	if (!atomic_load_explicit(&writer->has_late_end,
				  memory_order_relaxed) ||
	    !process_is_own())
		return;
	saved_errno = errno;
	mask = sys_block_signals();
	if (wake_claim()) {
		privileges_lower(&before);
		/* acquire: pairs with the release in end_failed(). */
		if (atomic_exchange_explicit(&writer->has_late_end, false,
					     memory_order_acquire))
			hidden_thread_run_here(write_late_end, NULL);
		privileges_restore(&before);
		wake_set_presence(WAKE_AWAY);
	}
	sys_restore_signals(mask);
	errno = saved_errno;
}
