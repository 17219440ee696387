/* SPDX-License-Identifier: MIT */
/* attach.c - see attach.h */

#include "preload/process/attach.h"

#include <errno.h>
#include <stddef.h>

#include "preload/clock/clock.h"
#include "preload/process/start.h"
#include "preload/record/record.h"
#include "preload/record/record_order.h"
#include "preload/record/ringfile.h"
#include "preload/record/wake.h"
#include "preload/state/process_state.h"
#include "preload/sys/sys.h"

/*
 * Record the beginning of the calling thread, which is attached to 't' and is
 * not the initial thread.
 */
static void
record_birth(const struct thread *t, bool is_handover, uint64_t parent,
	     uint64_t start_routine)
{
	clock_go_stamped();
	/*
	 * record_event() calls record_enter(), which may be the caller of
	 * attach_thread().  This time record_enter() does not call
	 * attach_thread(), since the thread is attached by now.
	 */
	if (is_handover)
		record_event(EVENT_HANDOVER, 0, t->id, 0, 0);
	record_event(EVENT_THREAD, 0, parent, (uint64_t)t->tid, start_routine);
}

struct thread *
attach_thread(uint64_t parent, uint64_t start_routine)
{
	/*
	 * Make no system call before this check, because each event of a child
	 * that must not be traced calls this function.
	 */
	if (process_is_closed())
		return NULL;

	const int saved_errno = errno;
	const uint64_t mask = sys_block_signals();
	struct thread *t = NULL;
	bool is_handover = false;

	if (start_if_new() && !record_is_dormant()) {
		/*
		 * acquire: pairs with start_recording() of writer_orders.c,
		 * which clears the flag that record_is_dormant() reads.
		 * Everything that start_recording() changes before it clears
		 * the flag is visible from here on.
		 */
		atomic_thread_fence(memory_order_acquire);
		t = thread_attach(process_pid(), &is_handover);
	}
	if (t != NULL && t->id != 0)
		record_birth(t, is_handover, parent, start_routine);
	sys_restore_signals(mask);
	errno = saved_errno;
	return t;
}

struct thread *
attach_nested(struct thread *t)
{
	if (t->nested != NULL)
		return t->nested;

	const int saved_errno = errno;
	const uint64_t mask = sys_block_signals();
	struct thread *nested = NULL;

	if (process_is_tracing()) {
		nested = thread_attach_nested(t);
		/*
		 * The thread may now have several rings.  Only stamps can order
		 * the events of several rings.
		 */
		clock_go_stamped();
	}
	sys_restore_signals(mask);
	errno = saved_errno;
	return nested;
}

/*
 * Is the process recording, has attach_expect_thread() run in it, and does the
 * writer still exist?  If so, attach_expect_thread() needs no system call.
 */
static bool
expects_threads(void)
{
	return process_is_tracing() && !record_is_dormant() &&
	       wake_has_writer() && clock_expects_threads() &&
	       ringfile_expects_thread();
}

bool
attach_expect_thread(void)
{
	if (expects_threads())
		return true;

	const int saved_errno = errno;
	const uint64_t mask = sys_block_signals();
	const bool tracing = start_if_new() && !record_is_dormant();

	if (tracing) {
		wake_make_writer();
		if (!clock_expects_threads())
			record_begin_owners();
		clock_go_stamped();
		ringfile_expect_thread();
	}
	sys_restore_signals(mask);
	errno = saved_errno;
	return tracing;
}
