/* SPDX-License-Identifier: MIT */
/*
 * load.c - the library's constructor
 *
 * No other file calls into this one.  If the constructor of another library has
 * allocated before, start.c has already started the trace.
 */

#include <errno.h>

#include "preload/config/follow.h"
#include "preload/config/note_writer.h"
#include "preload/heaps/dlopened.h"
#include "preload/heaps/nested_calls.h"
#include "preload/process/attach.h"
#include "preload/process/sanitizer.h"
#include "preload/process/start.h"
#include "preload/record/real.h"
#include "preload/record/record.h"
#include "preload/record/thread.h"
#include "preload/state/process_state.h"
#include "preload/sys/sys.h"
#include "preload/trace/header.h"
#include "preload/writer/begin.h"

/*
 * Start the trace here, so that even a program without heap events has a trace.
 * If an earlier constructor has allocated, the trace has already started.
 */
static void
start_at_load(void)
{
	const uint64_t mask = sys_block_signals();

	start_register_handlers();
	real_resolve_others();
	dlopened_patch();
	nested_calls_patch();
	/*
	 * Attach the initial thread now.  Otherwise another thread might
	 * allocate and be attached first.
	 */
	if (start_if_new() && !record_is_dormant() &&
	    !thread_is_attached(thread_self) && sys_tid() == process_pid())
		attach_thread(0, 0);
	follow_mark(environ);
	sys_restore_signals(mask);
}

static __attribute__((constructor)) void
construct(int argc, char *argv[])
{
	const int saved_errno = errno;

	header_note_arguments(argc > 0 ? argv : NULL);
	if (sanitizer_is_here()) {
		process_move(PROCESS_IMPOSSIBLE);
		follow_mark(environ);
		sanitizer_step_aside();
		begin_notes();
		note_writer_untraced("with a sanitizer's run-time");
	} else {
		start_at_load();
	}
	header_note_arguments(NULL);
	errno = saved_errno;
}
