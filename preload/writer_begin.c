/* SPDX-License-Identifier: MIT */
/*
 * writer_begin.c - the writer before there is a writer thread
 *
 * It is prepared with the first event of the process.  If the process ends before it
 * needs the thread, the thread of the program with which it ends does the work: it makes
 * the trace file, writes header, events and trailer, and closes it.  That takes a
 * fraction of the time of making a thread, a ring file and a socket, and of waiting for
 * them.  The work is the same as in the writer thread (writer.c), on that thread's stack
 * and with its privileges.  What differs is that the file is in the program's own table
 * of descriptors meanwhile, above the standard ones and closed on exec.
 */

#include <string.h>

#include "control.h"
#include "header.h"
#include "lifecycle.h"
#include "memory.h"
#include "ringfile.h"
#include "say.h"
#include "spawn.h"
#include "sys.h"
#include "writer_state.h"

size_t
writer_memory_nbytes(int level)
{
	return sizeof(*writer) + trace_memory_nbytes(level) + 64;
}

static bool
map_memory(int level)
{
	/* A child of a fork finds the mapping of its parent, wiped. */
	if (writer == NULL)
		writer = memory_map_wiped(writer_memory_nbytes(level));
	return writer != NULL;
}

bool
writer_prepare(const struct config *config, const struct output *output,
	       bool is_dormant)
{
	if (!map_memory(config->level)) {
		say("out of memory; not tracing");
		return false;
	}
	trace_open(&writer->trace, config, output,
		   (void *)(((uintptr_t)writer->memory + 63) & ~(uintptr_t)63));
	segment_init(&writer->segment, &writer->trace, config, is_dormant);
	/* relaxed: no other thread knows of the writer yet. */
	atomic_store_explicit(&writer->is_dormant, is_dormant,
			      memory_order_relaxed);
	writer_note_file();
	order_init(&writer->order, writer->heap, THREAD_MAX, writer_take_event,
		   &writer->trace.narrator);
	writer->start_ns = writer->trace.narrator.line.start_ns;
	control_init(config->control, header_environment(), writer_obey_order);
	grant_init(&writer->grant);
	writer->last_event_ns = writer->trace.narrator.line.ns1;
	writer->trace.narrator.block_since_ns = writer->trace.narrator.line.ns1;
	return true;
}

uint64_t
writer_start_ns(void)
{
	return writer->start_ns;
}

/* Short processes --------------------------------------------------------- */

struct brief {
	enum writer_end end;
	bool is_done;
};

/* Make the file; false: it cannot be, which the writer thread is to find out and say. */
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

static int
write_trace(void *argument)
{
	struct brief *const b = argument;
	struct output *const o = &writer->trace.output;

	b->is_done = open_trace();
	if (!b->is_done)
		return 0;
	/* This thread's time up to here is the program's. */
	writer->segment.cpu_ns = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	writer->trace.is_brief = true;
	header_complete();
	writer_note_file();
	if (segment_begin_first(&writer->segment))
		writer_end_trace(b->end);
	else
		output_discard(o);
	writer->trace.is_brief = false;
	return 0;
}

/* Only the thread that has it from here on may be the writer, or make one. */
static bool
claim(void)
{
	uint32_t away = WRITER_AWAY;

	/* acq_rel: as in writer_summon(). */
	return atomic_compare_exchange_strong_explicit(
		&writer->presence, &away, WRITER_COMING, memory_order_acq_rel,
		memory_order_acquire);
}

static void
unclaim(void)
{
	/* release: as set_presence(), writer.c. */
	atomic_store_explicit(&writer->presence, WRITER_AWAY,
			      memory_order_release);
	sys_futex_wake(&writer->presence);
}

/*
 * An exec may fail, and the trace go on: then the writer thread, which is made by
 * writer_resume(), takes over the file, which an exec that succeeds closes.
 */
static void
leave_trace(enum writer_end end)
{
	if (end == WRITER_END_EXEC && writer->segment.is_open) {
		writer_hold();
		return;
	}
	output_close(&writer->trace.output);
	lifecycle_set_off();
}

/*
 * Must the header tell where the rings are?  They have a file only if an exec fails,
 * and then the header is written.  Beside the trace they are found without.
 */
static bool
must_name_rings(enum writer_end end)
{
	return end == WRITER_END_EXEC &&
	       strchr(lifecycle_config()->rings, '/') != NULL;
}

bool
writer_finish_brief(enum writer_end end)
{
	struct brief brief = { .end = end };
	struct privileges_lowered before;

	/* relaxed: a dormant process has a ring file for the writer to remove. */
	if (atomic_load_explicit(&writer->is_dormant, memory_order_relaxed) ||
	    must_name_rings(end))
		return false;
	/* acquire: what the program's other threads have published is seen. */
	if (thread_id_count() != 1 || writer->segment.is_open || !claim())
		return false;
	privileges_lower(&before);
	if (spawn_run_here(write_trace, &brief) && brief.is_done)
		leave_trace(end);
	privileges_raise(&before);
	unclaim();
	return brief.is_done;
}
