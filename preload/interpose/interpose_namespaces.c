/* SPDX-License-Identifier: MIT */
/*
 * interpose_namespaces.c - unshare(2) and setns(2)
 *
 * Three things about namespaces concern the writer thread.  A process with a
 * second thread gets no user namespace, so the writer leaves before the call,
 * with its files kept open, and comes back after it.  A process that has
 * unshared its PID namespace can make no thread, so the writer must exist
 * before.  And a thread that stays in the old mount namespace still has the old
 * root directory, through which the program could reach files that it has given
 * up, so the writer takes on the program's root.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "preload/interpose/namespaces.h"
#include "preload/process/confinement.h"
#include "preload/process/end.h"
#include "preload/record/process_state.h"
#include "preload/record/real.h"
#include "preload/record/wake.h"
#include "preload/sys/export.h"
#include "preload/sys/sys.h"
#include "preload/writer/remaining_threads.h"
#include "preload/writer/writer.h"

/* ioctl_ns(2): the CLONE_NEW... of a descriptor. */
#define GET_NAMESPACE_TYPE 0xb703ul

/* For these the process must have one thread; unshare(2), setns(2). */
#define ALONE (CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM)

static bool
is_traced(void)
{
	return process_is_tracing() && process_is_own();
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
 * Where the writer thread would be the second one, have it leave.  True: it has
 * left, and writer_return() must be called.
 */
static bool
leave_alone(int types)
{
	if ((types & ALONE) == 0) {
		writer_make_early();
		return false;
	}
	if (!wake_has_writer() || !remaining_threads_single())
		return false;
	if (writer_depart(true))
		return true;
	end_for_sandbox("the program must have one thread for a "
			"user namespace, and the writer thread "
			"cannot come back");
	return false;
}

/*
 * Are children in another PID namespace?  Then the kernel refuses a third.
 * Until the first of them there is no file of it.
 */
static bool
has_other_pids(void)
{
	struct stat own, for_children;

	if (fstatat(AT_FDCWD, "/proc/self/ns/pid", &own, 0) != 0)
		return false;
	return fstatat(AT_FDCWD, "/proc/self/ns/pid_for_children",
		       &for_children, 0) == 0
		       ? own.st_ino != for_children.st_ino
		       : errno == ENOENT;
}

/*
 * Make the call with 'given', which is for these 'types' of namespaces.  In two
 * steps for a user and a PID namespace: the first needs the process without the
 * writer, and after the second no writer can be made.
 */
static int
enter(enter_call *call, int fd, int given, int types)
{
	int saved_errno = errno, result;
	const bool both = (given & CLONE_NEWUSER) != 0 &&
			  (given & CLONE_NEWPID) != 0 && !has_other_pids();
	const uint64_t mask = sys_block_signals();
	const bool is_away = leave_alone(types);

	errno = saved_errno;
	result = call(fd, both ? given & ~CLONE_NEWPID : given);
	saved_errno = errno;
	if (is_away)
		writer_return();
	else if (result == 0 && both)
		writer_make_early();
	/* A writer that is made after the call has the caller's root. */
	if (result == 0 && !is_away && (types & CLONE_NEWNS) != 0 &&
	    wake_has_writer())
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
	real_resolve_others();
	return is_traced() ? enter(call_unshare, -1, flags, flags)
			   : real.unshare(flags);
}

EXPORT int
setns(int fd, int types)
{
	int saved_errno, type = types;

	real_resolve_others();
	if (!is_traced())
		return real.setns(fd, types);
	saved_errno = errno;
	if (type == 0)
		type = (int)syscall(SYS_ioctl, fd, GET_NAMESPACE_TYPE);
	errno = saved_errno;
	/* The kernel refuses a descriptor that is no namespace. */
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
