/* SPDX-License-Identifier: MIT */
/*
 * writer_begin.c - the writer's memory, and what is in it before the first round
 *
 * The thread that starts the process's trace calls it, by way of begin.c.
 */

#include "hatf/recorder/config.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"
#include "preload/trace/header.h"
#include "preload/writer/control.h"
#include "preload/writer/writer_state.h"

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
writer_reserve(const struct config *config, bool is_child, bool is_dormant)
{
	if (!map_memory(config->level))
		return false;
	/* relaxed: no other thread knows of the writer yet. */
	atomic_store_explicit(&writer->is_dormant, is_dormant,
			      memory_order_relaxed);
	writer->start_ns = sys_clock_ns(CLOCK_MONOTONIC);
	control_init(config->control, header_environment(), writer_obey_order);
	if (is_child)
		writer_note_file();
	return true;
}

void
writer_prepare(const struct config *config, const struct output *output)
{
	trace_open(&writer->trace, config, output,
		   (void *)(((uintptr_t)writer->memory + 63) & ~(uintptr_t)63));
	segment_init(&writer->segment, &writer->trace, config,
		     writer->is_dormant);
	order_init(&writer->order, writer->heap, THREAD_MAX, writer_take_event,
		   &writer->trace.narrator);
	grant_init(&writer->grant);
	writer->last_event_ns = writer->trace.narrator.line.ns1;
	writer->trace.narrator.block_since_ns = writer->trace.narrator.line.ns1;
	writer->is_prepared = true;
}
