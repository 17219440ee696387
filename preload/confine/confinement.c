/* SPDX-License-Identifier: MIT */
/* confinement.c - see confinement.h */

#include "preload/confine/confinement.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "preload/confine/privileges.h"
#include "preload/lifecycle.h"
#include "preload/sys/sys.h"
#include "preload/writer/writer.h"

/* None of these is wiped in a child, which has the filters, too. */
static _Atomic bool is_confined; /* there are filters */
static bool cannot_ask;		 /* ... that kill for asking for privileges */
static int own_filter_pid;	 /* where the writer has filters of its own */

bool
confinement_is_set(void)
{
	/* relaxed: a writer that must stay has been made before. */
	return atomic_load_explicit(&is_confined, memory_order_relaxed);
}

void
confinement_set(bool asking_kills)
{
	if (asking_kills)
		cannot_ask = true;
	atomic_store_explicit(&is_confined, true, memory_order_relaxed);
	if (lifecycle_is_tracing() && lifecycle_is_own())
		writer_summon();
}

/* Have the writer take on '*p'; if it cannot, end the trace. */
static void
have_followed(bool known, const struct privileges *p)
{
	if (!known || !writer_follow(p))
		lifecycle_end_for_sandbox("the program gives up privileges, "
					  "and the writer thread cannot");
}

/* Have the writer take on the caller's privileges, and a new root or rules. */
static void
follow(pid_t root_of, int ruleset)
{
	struct privileges p;
	bool known;

	/* First, and without errno: see real_resolve_rest().  A writer that is
	 * made later has the privileges of the thread that makes it. */
	if (!lifecycle_is_tracing() || !lifecycle_is_own() || !writer_is_here())
		return;

	const int saved_errno = errno;
	const uint64_t mask = sys_block_signals();

	if (cannot_ask) {
		have_followed(false, NULL);
	} else {
		known = privileges_read(&p);
		p.root_of = root_of;
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

	/* The call will fail without a filter. */
	if (filter == NULL || !lifecycle_is_tracing() || !lifecycle_is_own())
		return;
	/* In a child, the thread that makes the writer has the filters, too. */
	own_filter_pid = sys_pid();
	have_followed(true, &p);
	errno = saved_errno;
}

bool
confinement_has_own_filter(void)
{
	return own_filter_pid == sys_pid();
}
