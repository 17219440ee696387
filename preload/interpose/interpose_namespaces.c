/* SPDX-License-Identifier: MIT */
/*
 * interpose_namespaces.c - unshare(2) and setns(2)
 *
 * Four kinds of namespaces concern the writer thread:
 *
 * - User: a process with a second thread cannot get a user namespace.  The
 *   writer thread ends before the call, its files stay open, and a new writer
 *   starts after the call.
 * - PID: a process that has unshared its PID namespace cannot make a thread.
 *   The writer thread starts before the call.
 * - Mount: a thread that stays in the old mount namespace keeps the old root
 *   directory, through which the program could reach files that it has given
 *   up.  The writer adopts the program's root.
 * - Network, IPC, UTS and cgroup: if the writer thread stayed in the old
 *   namespace, an intruder could use that namespace through the writer.  The
 *   writer thread ends before the call, and a new writer starts after the call,
 *   in the new namespace.
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
#include "preload/record/real.h"
#include "preload/record/wake.h"
#include "preload/state/process_state.h"
#include "preload/sys/export.h"
#include "preload/sys/sys.h"
#include "preload/writer/remaining_threads.h"
#include "preload/writer/writer.h"

/* NS_GET_NSTYPE of ioctl_ns(2): the CLONE_NEW... type of a namespace. */
#define GET_NAMESPACE_TYPE 0xb703ul

/*
 * With these flags, unshare(2) and setns(2) fail unless the process has one
 * thread.
 */
#define NEEDS_ONE_THREAD \
	(CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM)

/*
 * Only the calling thread, and the threads that it makes later, enter a new
 * namespace of these types.  Other threads stay in the old namespace.
 */
#define SHARED (CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

static bool
is_traced(void)
{
	return process_is_tracing() && process_is_own();
}

/* call_unshare() or call_setns(); only setns(2) uses 'fd'. */
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
 * Prepare the writer thread for a call that enters namespaces of these types.
 *
 * - If one of the types is not in SHARED, such as a PID or mount namespace, and
 *   the call does not need a process with one thread, make the writer.  (Do
 *   nothing if there is a writer or the process is dormant.)
 *
 * - If the call needs a process with one thread, the writer must end, because
 *   the call would fail otherwise.  If one of the types is in SHARED, the
 *   writer must end, too, because it would stay in the namespace that the
 *   program leaves.  If the writer could not restart after the call, end the
 *   trace.  Exception: if the program has several threads, do none of this.
 *
 * Return true if the writer has ended and can restart.  The caller must then
 * call writer_return() after the call.
 */
static bool
prepare_writer(int types)
{
	if ((types & NEEDS_ONE_THREAD) == 0 && (types & ~SHARED) != 0)
		writer_make_early();
	if ((types & (NEEDS_ONE_THREAD | SHARED)) == 0 || !wake_has_writer() ||
	    !remaining_threads_single())
		return false;
	if (writer_depart(true))
		return true;
	end_for_sandbox((types & NEEDS_ONE_THREAD) != 0
				? "the program makes a call that requires a "
				  "single-threaded process, so the writer "
				  "thread must end, and it could not restart "
				  "after the call"
				: "the program enters another namespace, and "
				  "the writer thread could not enter it");
	return false;
}

/*
 * Will children be in a different PID namespace from this process?  If they
 * will, the kernel refuses another unshare(2) of the PID namespace.  ENOENT for
 * 'pid_for_children' means yes, since a new namespace has no file until its
 * first process exists.
 */
static bool
has_other_pids(void)
{
	struct stat own, for_children;

	/*
	 * Under a filter, do not call fstatat(), since the filter may kill the
	 * process for this call.
	 */
	if (process_has(PROCESS_IS_CONFINED) ||
	    fstatat(AT_FDCWD, "/proc/self/ns/pid", &own, 0) != 0)
		return false;
	return fstatat(AT_FDCWD, "/proc/self/ns/pid_for_children",
		       &for_children, 0) == 0
		       ? own.st_ino != for_children.st_ino
		       : errno == ENOENT;
}

/*
 * Call unshare(2) or setns(2) with the argument 'given'.  'types' are the types
 * of the namespaces that the call enters.  If 'given' asks for a PID namespace
 * and for another namespace that the process must enter without the writer,
 * make two calls, because the writer cannot be made after the PID namespace has
 * changed.  The first call enters the other namespace.  Then make the writer.
 * The second call enters the PID namespace.
 */
static int
enter(enter_call *call, int fd, int given, int types)
{
	int saved_errno = errno, result;
	const uint64_t mask = sys_block_signals();
	const bool is_away = prepare_writer(types);
	const bool both = (given & CLONE_NEWPID) != 0 &&
			  (is_away || (given & CLONE_NEWUSER) != 0) &&
			  !has_other_pids();

	errno = saved_errno;
	result = call(fd, both ? given & ~CLONE_NEWPID : given);
	saved_errno = errno;
	if (is_away)
		writer_return();
	else if (result == 0 && both)
		writer_make_early();
	/*
	 * A writer that was made after the call already has the caller's root.
	 */
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
	/* If 'fd' is not a namespace, let the kernel refuse the call. */
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
