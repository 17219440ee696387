/* SPDX-License-Identifier: MIT */
/*
 * interpose_namespaces.c - unshare(2) and setns(2)
 *
 * Three things about namespaces concern the writer thread.  A process with a second
 * thread gets no user namespace, so that thread leaves before the call, with its files
 * kept open, and comes back after it.  A process that has unshared its PID
 * namespace can make no thread, so that must be there.  And a thread in another mount
 * namespace has a root directory of its own, through which the program could reach
 * files that it has left behind, so the writer takes on the program's.
 */

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "confinement.h"
#include "export.h"
#include "lifecycle.h"
#include "namespaces.h"
#include "real.h"
#include "sys.h"
#include "writer.h"

/* ioctl_ns(2): the CLONE_NEW... of a descriptor. */
#define GET_NAMESPACE_TYPE 0xb703ul

/* For these the process must have one thread; unshare(2), setns(2). */
#define ALONE (CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM)

static bool
is_traced(void)
{
	return lifecycle_is_tracing() && lifecycle_is_own();
}

/* One of the two calls; 'fd' is setns(2)'s. */
typedef int enter_call(int fd, int types);

static int
call_unshare(int fd, int types)
{
	(void)fd;
	return real.unshare(types);
}

static int
call_setns(int fd, int types)
{
	return real.setns(fd, types);
}

/*
 * Have the writer thread gone, where it would be the second one; true: it is, and comes
 * back by writer_return().
 */
static bool
leave_alone(int types)
{
	if ((types & ALONE) == 0) {
		lifecycle_have_writer();
		return false;
	}
	if (!writer_is_here() || !lifecycle_is_single())
		return false;
	if (writer_depart(true))
		return true;
	lifecycle_end_for_sandbox("the program must have one thread for a "
				  "user namespace, and the writer thread "
				  "cannot come back");
	return false;
}

/*
 * The call with 'given', which is for these 'types' of namespaces.  In two steps where
 * one needs the process without the writer, and the other is the last moment to make it.
 */
static int
enter(enter_call *call, int fd, int given, int types)
{
	const bool both =
		(given & CLONE_NEWUSER) != 0 && (given & CLONE_NEWPID) != 0;
	int saved_errno = errno, result;
	const uint64_t mask = sys_block_signals();
	const bool is_away = leave_alone(types);

	errno = saved_errno;
	result = call(fd, both ? given & ~CLONE_NEWPID : given);
	saved_errno = errno;
	if (is_away)
		writer_return();
	else if (result == 0 && both)
		lifecycle_have_writer();
	/* Whoever is made after the call has what the caller has. */
	if (result == 0 && !is_away && (types & CLONE_NEWNS) != 0 &&
	    writer_is_here())
		confinement_after_chroot();
	errno = saved_errno;
	if (result == 0 && both)
		result = call(fd, CLONE_NEWPID);
	sys_restore_signals(mask);
	return result;
}

EXPORT int
unshare(int flags)
{
	real_resolve_rest();
	return is_traced() ? enter(call_unshare, -1, flags, flags)
			   : real.unshare(flags);
}

EXPORT int
setns(int fd, int types)
{
	int saved_errno, type = types;

	real_resolve_rest();
	if (!is_traced())
		return real.setns(fd, types);
	saved_errno = errno;
	if (type == 0)
		type = (int)syscall(SYS_ioctl, fd, GET_NAMESPACE_TYPE);
	errno = saved_errno;
	/* What is no namespace is refused. */
	return type > 0 ? enter(call_setns, fd, types, type)
			: real.setns(fd, types);
}

long
namespaces_by_number(long number, long a, long b, long c, long d, long e,
		     long f)
{
	(void)c;
	(void)d;
	(void)e;
	(void)f;
	return number == SYS_unshare ? unshare((int)a) : setns((int)a, (int)b);
}
