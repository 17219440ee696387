/* SPDX-License-Identifier: MIT */
/* confinement.c - see confinement.h */

#include "preload/process/confinement.h"

#include <errno.h>
#include <sys/types.h>

#include "preload/confine/privileges.h"
#include "preload/process/end.h"
#include "preload/record/process_state.h"
#include "preload/record/wake.h"
#include "preload/sys/sys.h"
#include "preload/writer/writer.h"

/* Not wiped in a child, which inherits the filters. */
static bool cannot_ask;	   /* filters kill a thread that reads privileges */
static int own_filter_pid; /* process whose writer has its own filters */

void
confinement_set(bool asking_kills)
{
	if (asking_kills)
		cannot_ask = true;
	process_move(PROCESS_CONFINED);
	if (process_is_tracing() && process_is_own())
		wake_make_writer();
}

/* Give the writer the privileges '*p'; if that fails, end the trace. */
static void
have_followed(bool known, const struct privileges *p)
{
	if (!known || !writer_follow(p))
		end_for_sandbox("the program gives up privileges, "
				"and the writer thread cannot");
}

/* Give the writer the caller's privileges, and a new root or rules. */
static void
follow(pid_t root_tid, int ruleset)
{
	struct privileges p;
	bool known;

	/*
	 * Check this first, without using errno: see real_resolve_others().  A
	 * writer that is made later has the privileges of its maker.
	 */
	if (!process_is_tracing() || !process_is_own() || !wake_has_writer())
		return;

	const int saved_errno = errno;
	const uint64_t mask = sys_block_signals();

	if (cannot_ask) {
		have_followed(false, NULL);
	} else {
		known = privileges_read(&p);
		p.root_tid = root_tid;
		p.ruleset = ruleset;
		have_followed(known, &p);
		privileges_fini(&p);
	}
	sys_restore_signals(mask);
	errno = saved_errno;
}

void
confinement_after_privileges(void)
{
	follow(0, -1);
}

void
confinement_after_chroot(void)
{
	follow(sys_tid(), -1);
}

void
confinement_after_landlock(int ruleset)
{
	follow(0, ruleset);
}

void
confinement_before_filter(const void *filter)
{
	const int saved_errno = errno;
	const struct privileges p = { .filter = filter };

	/* Without a filter, the program's call will fail. */
	if (filter == NULL || !process_is_tracing() || !process_is_own())
		return;
	/* By process: in a child, the maker of the writer has the filters. */
	own_filter_pid = sys_pid();
	have_followed(true, &p);
	errno = saved_errno;
}

bool
confinement_has_own_filter(void)
{
	return own_filter_pid == sys_pid();
}
