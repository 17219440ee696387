/* SPDX-License-Identifier: MIT */
/*
 * writer_begin.c - map and initialize the writer's memory
 *
 * begin.c calls these functions, on the thread that begins the process's trace
 * or, for a process that begins dormant, later on another thread.
 */

#include "hatf/recorder/config.h"
#include "preload/control/control.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"
#include "preload/trace/header.h"
#include "preload/writer/writer_state.h"

static size_t
tables_nbytes(const struct config *config)
{
	return sizeof(struct writer_tables) + trace_memory_nbytes(config) + 64;
}

size_t
writer_memory_nbytes(const struct config *config)
{
	return sizeof(*writer) + tables_nbytes(config);
}

/*
 * Map the tables if they are not mapped yet.  The child of a fork inherits the
 * mapping, whose contents the kernel has wiped.
 */
static bool
map_tables(const struct config *config)
{
	static struct writer_tables *tables;

	if (tables == NULL)
		tables = memory_map_wiped(tables_nbytes(config));
	if (tables == NULL)
		return false;
	writer->threads = tables->threads;
	writer->producers = tables->producers;
	writer->heap = tables->heap;
	writer->memory = tables->memory;
	return true;
}

bool
writer_reserve(const struct config *config, bool is_child, bool is_dormant)
{
	if (writer == NULL)
		writer = memory_map_wiped(sizeof(*writer));
	if (writer == NULL)
		return false;
	/* relaxed: no other thread uses the writer yet. */
	atomic_store_explicit(&writer->is_dormant, is_dormant,
			      memory_order_relaxed);
	writer->start_ns = sys_clock_ns(CLOCK_MONOTONIC);
	control_init(config->control, header_environment(), writer_obey_order);
	if (is_child)
		writer_note_file();
	return true;
}

bool
writer_prepare(const struct config *config, const struct output *output)
{
	if (!map_tables(config))
		return false;
	trace_open(&writer->trace, config, output,
		   (void *)(((uintptr_t)writer->memory + 63) & ~(uintptr_t)63));
	segment_init(&writer->segment, &writer->trace, config,
		     writer->is_dormant);
	order_init(&writer->order, writer->heap, THREAD_MAX, writer_take_event,
		   &writer->trace.narrator);
	tick_grant_init(&writer->grant);
	writer->last_event_ns = writer->trace.narrator.timeline.ns1;
	writer->trace.narrator.block_since_ns =
		writer->trace.narrator.timeline.ns1;
	writer->is_prepared = true;
	return true;
}
