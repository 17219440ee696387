/* SPDX-License-Identifier: MIT */
/*
 * interpose_namespaces.c - unshare(2) and setns(2)
 *
 * Three things about namespaces concern the writer thread.  A process with a second
 * thread gets no user namespace, so that thread must not be there; then the trace
 * ends before the call, if it has begun.  A process that has unshared its PID
 * namespace can make no thread, so that must be there.  And a thread in another mount
 * namespace has a root directory of its own, through which the program could reach
 * files that it has left behind, so the writer takes on the program's.
 */

#include <errno.h>
#include <sched.h>
#include <stdbool.h>

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

static void
prepare(int types)
{
	if ((types & ALONE) == 0)
		lifecycle_have_writer();
	else if (writer_is_here() && lifecycle_is_single())
		lifecycle_end_for_sandbox("the program must have one thread "
					  "for a user namespace");
}

static void
follow(int types)
{
	if ((types & CLONE_NEWNS) != 0 && writer_is_here())
		confinement_after_chroot();
}

static int
unshare_traced(int flags)
{
	const bool both =
		(flags & CLONE_NEWUSER) != 0 && (flags & CLONE_NEWPID) != 0;
	int result;

	prepare(flags);
	/* In two steps, with the writer made between them. */
	result = real.unshare(both ? flags & ~CLONE_NEWPID : flags);
	if (result == 0 && both) {
		lifecycle_have_writer();
		result = real.unshare(CLONE_NEWPID);
	}
	if (result == 0)
		follow(flags);
	return result;
}

EXPORT int
unshare(int flags)
{
	real_resolve_rest();
	return is_traced() ? unshare_traced(flags) : real.unshare(flags);
}

EXPORT int
setns(int fd, int types)
{
	int saved_errno = errno, type = types, result;

	real_resolve_rest();
	if (!is_traced())
		return real.setns(fd, types);
	if (type == 0)
		type = (int)syscall(SYS_ioctl, fd, GET_NAMESPACE_TYPE);
	errno = saved_errno;
	if (type > 0)
		prepare(type);
	result = real.setns(fd, types);
	if (result == 0 && type > 0)
		follow(type);
	return result;
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
