/* SPDX-License-Identifier: MIT */
/*
 * writer_place.c - the current trace file, its segment and its event count
 *
 * Only the thread that does the writer's work changes these values.  Any thread
 * may read them, also in the child of a fork.
 */

#include <string.h>

#include "preload/sys/memory.h"
#include "preload/writer/writer_state.h"

/*
 * This array is not wiped in the child of a fork, since the child's header
 * names the parent's file.  A fork may happen during a rotation; therefore one
 * slot has the current segment, and the writer fills the other one before it
 * changes 'file_idx'.
 */
MEMORY_LARGE static struct file {
	uint64_t segment;
	char path[sizeof(((struct output *)NULL)->path)];
} files[2];
static _Atomic uint32_t file_idx;
static _Atomic uint64_t event_count; /* number of events in the segment */

void
writer_note_file(void)
{
	/*
	 * relaxed: only one thread at a time does the writer's work and writes
	 * 'file_idx', and this thread has synchronized with the thread that did
	 * the work before.
	 */
	const uint32_t next =
		!atomic_load_explicit(&file_idx, memory_order_relaxed);
	const char *const path = writer->trace.output.path;

	files[next].segment = writer->segment.number;
	memcpy(files[next].path, path, strlen(path) + 1);
	atomic_store_explicit(&event_count, 0, memory_order_relaxed);
	/* release: pairs with the acquire in current_file(). */
	atomic_store_explicit(&file_idx, next, memory_order_release);
}

void
writer_note_events(uint64_t n)
{
	/* relaxed: the value need not be exact. */
	atomic_store_explicit(&event_count, n, memory_order_relaxed);
}

static const struct file *
current_file(void)
{
	/* acquire: pairs with the release in writer_note_file(). */
	return &files[atomic_load_explicit(&file_idx, memory_order_acquire)];
}

struct writer_place
writer_place(void)
{
	return (struct writer_place){
		.segment = current_file()->segment,
		.event = atomic_load_explicit(&event_count,
					      memory_order_relaxed),
	};
}

const char *
writer_path(uint64_t segment)
{
	const struct file *const current = current_file();
	const struct file *const other = &files[current == files];

	return other->segment == segment && other->path[0] != '\0' &&
			       current->segment != segment
		       ? other->path
		       : current->path;
}
