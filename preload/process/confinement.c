/* SPDX-License-Identifier: MIT */
/* confinement.c - see confinement.h */

#include "preload/process/confinement.h"

#include <errno.h>
#include <sys/types.h>

#include "preload/confine/privileges.h"
#include "preload/process/end.h"
#include "preload/record/wake.h"
#include "preload/state/process_state.h"
#include "preload/sys/sys.h"
#include "preload/writer/writer.h"

/*
 * The following variables are not wiped in the child of a fork, since the child
 * inherits the filters.
 */
static bool cannot_ask; /* filters kill a thread that reads its privileges */
/* id of the process whose writer has its own filters; 0: none */
static int own_filter_pid;

void
confinement_set(bool asking_kills)
{
	if (asking_kills)
		cannot_ask = true;
	process_move(PROCESS_CONFINED);
	if (process_is_tracing() && process_is_own())
		wake_make_writer();
}

/*
 * Make the writer adopt the privileges '*p'.  If 'known' is false, which means
 * that the privileges could not be read, or if the writer cannot adopt the
 * privileges, end the trace.
 */
static void
have_followed(bool known, const struct privileges *p)
{
	if (!known || !writer_follow(p))
		end_for_sandbox("the writer thread could not adopt the "
				"program's new privileges, root directory or "
				"restrictions");
}

/*
 * Make the writer adopt the caller's privileges.  Also make it adopt the root
 * directory of the thread 'root_tid' unless that is 0, and the Landlock ruleset
 * 'ruleset' unless that is -1.
 */
static void
follow(pid_t root_tid, int ruleset)
{
	struct privileges p;
	bool known;

	/*
	 * Make these checks before the first use of errno
	 * (real_resolve_others() says why).  Without a writer, there is nothing
	 * to do: a later writer gets the privileges of the thread that makes
	 * the writer.
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

	/* If 'filter' is NULL, the program's call will fail, so do nothing. */
	if (filter == NULL || !process_is_tracing() || !process_is_own())
		return;
	/*
	 * Store the process id, not a flag, because a child would inherit the
	 * flag.  The child's writer has no filter of its own: it inherits the
	 * program's filters from the thread that makes it.
	 */
	own_filter_pid = sys_pid();
	have_followed(true, &p);
	errno = saved_errno;
}

bool
confinement_has_own_filter(void)
{
	return own_filter_pid == sys_pid();
}
