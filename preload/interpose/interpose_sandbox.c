/* SPDX-License-Identifier: MIT */
/*
 * interpose_sandbox.c - prctl(3), syscall(3) and vfork(3)
 *
 * libc has no function for seccomp(2).  So a program installs a filter on its
 * system calls by prctl(3) or, like libseccomp, by syscall(3).  By prctl(3), a
 * program can also divert its system calls to a signal handler.  syscall(3) can
 * also fork, exec, end the process and give up privileges.  The entry points
 * inspect the arguments and jump to libc's function, or to a function of ours
 * that makes the call.  The target then sees the same arguments, stack and
 * return address as if the program had called it directly (jump.h).
 */

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "preload/confine/privileges.h"
#include "preload/confine/sandbox.h"
#include "preload/control/writer_sleep.h"
#include "preload/interpose/jump.h"
#include "preload/interpose/means.h"
#include "preload/interpose/namespaces.h"
#include "preload/process/confinement.h"
#include "preload/process/end.h"
#include "preload/process/fork.h"
#include "preload/process/signals.h"
#include "preload/record/real.h"
#include "preload/record/record.h"
#include "preload/record/thread.h"
#include "preload/state/process_state.h"
#include "preload/sys/export.h"
#include "preload/sys/filter.h"
#include "preload/sys/say.h"
#include "preload/sys/sys.h"
#include "preload/writer/remaining_threads.h"
#include "preload/writer/writer.h"

/* The low half of an argument that the kernel reads as unsigned int. */
#define WORD(x) ((uint32_t)(x))

/* <sys/prctl.h> has these names since Linux 5.11. */
#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF	     0
#endif

/*
 * Would the kernel accept a filter with this operation and these flags?  The
 * kernel refuses unknown flags.  It also refuses a caller that could use a
 * filter to trick a setuid program.  To find out, make the call with an
 * unreadable filter.  The kernel reads the filter last, so EFAULT means that
 * everything else is in order.  Filters that are already installed act on this
 * test call exactly as they will act on the program's call.
 */
static bool
would_accept_filter(long number, uint64_t first, uint64_t second)
{
	const struct sock_fprog unreadable = {
		.len = 1,
		.filter = (struct sock_filter *)(uintptr_t)-4096,
	};

	return syscall(number, first, second, &unreadable, 0, 0) == -1 &&
	       errno == EFAULT;
}

/*
 * Stop each activity of the recorder for which a new filter would kill the
 * process.  'harm' is a set of SANDBOX_ bits.  'all_threads' means that the
 * filter will apply to all threads of the process.
 */
static void
avoid_harm(unsigned harm, bool all_threads)
{
	const enum process_scope scope = process_scope();

	filter_expect();
	say_expect_filter(false);
	/*
	 * confinement_set() makes the writer thread now, since it may be
	 * impossible to make the thread under the filter.
	 */
	confinement_set((harm & SANDBOX_CREDENTIALS) != 0);
	if ((harm & ~(unsigned)SANDBOX_WRITER_REFUSED) != 0)
		end_with_programs();
	if ((harm & SANDBOX_PROGRAM) != 0 ||
	    (all_threads && (harm & SANDBOX_WRITER) != 0) ||
	    (scope == PROCESS_SCOPE_NEW && (harm & SANDBOX_START) != 0))
		end_for_sandbox("the program installs a system call filter "
				"that forbids recording");
	else if ((harm & SANDBOX_START) != 0)
		end_with_children();
	if ((harm & SANDBOX_WAKE) != 0) {
		writer_sleep_end_signals();
		thread_end_handovers();
	}
	if ((harm & SANDBOX_SIGACTION) != 0)
		signals_leave_actions();
	if ((harm & SANDBOX_CONTROL) != 0)
		end_control(all_threads || remaining_threads_single());
	/*
	 * Call this last: the functions above may print messages, but after
	 * this call say() prints nothing if the filter kills the process for
	 * printing.
	 */
	say_expect_filter((harm & SANDBOX_SAY) != 0);
}

static void
expect_strict(void)
{
	if (process_scope() == PROCESS_SCOPE_UNTRACED)
		return;
	avoid_harm(SANDBOX_PROGRAM | SANDBOX_START, false);
	remaining_threads_end_looks();
}

/*
 * A filter is about to be installed, for the calling thread or for all threads.
 * If the filter is for the calling thread, and this is the only thread of the
 * program, the writer installs the filter now, because the caller may be unable
 * to ask the writer once the caller has the filter.  If the writer could not
 * work under this filter, it installs PRIVILEGES_MINIMAL_FILTER instead.
 */
static void
expect_filter(const void *program, bool all_threads)
{
	const unsigned harm = sandbox_harm(program);
	bool is_single;

	avoid_harm(harm, all_threads);
	is_single = remaining_threads_single();
	if ((harm & SANDBOX_LOOK) != 0)
		remaining_threads_end_looks();
	if (!all_threads && is_single)
		confinement_before_filter(
			(harm & (SANDBOX_WRITER | SANDBOX_CONTROL |
				 SANDBOX_WRITER_REFUSED)) != 0
				? PRIVILEGES_MINIMAL_FILTER
				: program);
	/*
	 * If the writer has a filter of its own, end the trace and the writer,
	 * because the kernel would refuse the program's filter otherwise.
	 */
	else if (all_threads && confinement_has_own_filter())
		end_for_sandbox(
			"the program installs a system call filter for all "
			"threads, and the kernel would refuse it because the "
			"writer thread has a filter of its own");
}

static void
expect_seccomp(uint64_t operation, uint64_t flags, const void *program)
{
	/*
	 * Ignore calls that cannot install a filter.  A library may make such a
	 * call only to test whether the kernel has seccomp(2), and may then
	 * count the threads of the process.  The functions below can make the
	 * writer thread, which would be counted, too.
	 */
	if (WORD(operation) == SECCOMP_SET_MODE_STRICT && WORD(flags) == 0 &&
	    program == NULL)
		expect_strict();
	else if (WORD(operation) == SECCOMP_SET_MODE_FILTER &&
		 program != NULL &&
		 would_accept_filter(SYS_seccomp, operation, flags))
		expect_filter(program,
			      (flags & SECCOMP_FILTER_FLAG_TSYNC) != 0);
}

static void
expect_prctl(uint64_t mode, const void *program)
{
	if (mode == SECCOMP_MODE_STRICT)
		expect_strict();
	else if (mode == SECCOMP_MODE_FILTER && program != NULL &&
		 would_accept_filter(SYS_prctl, PR_SET_SECCOMP, mode))
		expect_filter(program, false);
}

/*
 * The program is about to call prctl(2) with this mode, to divert the system
 * calls of this thread to its handler for SIGSYS.  The kernel would also divert
 * the recorder's calls on the thread, so end the trace.  If the kernel would
 * refuse the mode, do nothing.  To find this out, call prctl(2) with an address
 * outside the process: the kernel checks the address last.
 */
static void
expect_dispatch(uint64_t mode)
{
	if (mode == PR_SYS_DISPATCH_OFF ||
	    syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, mode, 0, 0,
		    (uintptr_t)-4096) != -1 ||
	    errno != EFAULT)
		return;
	/* The message names the trace, so create the file. */
	writer_make_early();
	end_for_sandbox("the program diverts its system calls to a signal "
			"handler");
}

/*
 * The program is about to make the system call 'number', which is seccomp(2) or
 * prctl(2).  Do not touch errno in an untraced process (real_resolve_others()
 * says why).
 */
static void
expect_by_number(uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
	int saved_errno;

	if (process_scope() == PROCESS_SCOPE_UNTRACED)
		return;
	saved_errno = errno;
	if (number == SYS_seccomp)
		expect_seccomp(a, b, (const void *)c);
	else if (WORD(a) == PR_SET_SECCOMP)
		expect_prctl(b, (const void *)c);
	else if (WORD(a) == PR_SET_SYSCALL_USER_DISPATCH)
		expect_dispatch(b);
	errno = saved_errno;
}

/*
 * The functions that JUMP_AFTER() calls.  Each returns the address of the
 * function to jump to, which makes the program's call.
 */
uintptr_t interpose_watch_syscall(uint64_t number, uint64_t a, uint64_t b,
				  uint64_t c);
uintptr_t interpose_watch_prctl(uint64_t option, uint64_t mode,
				uint64_t program);
uintptr_t interpose_watch_vfork(void);

/* Make the call SYS_execve or SYS_execveat.  Return only if the exec fails. */
static long
exec_by_number(long number, long a, long b, long c, long d, long e, long f)
{
	long result;

	end_trace(WRITER_END_EXEC);
	result = real.syscall(number, a, b, c, d, e, f);
	end_resume();
	return result;
}

/*
 * Fork by SYS_fork or SYS_clone.  Neither runs the handlers that the program
 * has registered by pthread_atfork().
 */
static long
fork_by_number(long number, long a, long b, long c, long d, long e, long f)
{
	long result;

	fork_before();
	result = real.syscall(number, a, b, c, d, e, f);
	fork_after(result == 0);
	return result;
}

/*
 * Is the call a fork whose child has its own memory and continues on a copy of
 * this stack?  Any other fork must not go through fork_by_number().  On a
 * shared stack, parent and child would both return through the frame of
 * fork_by_number(), and the first to return would overwrite the frame.  If the
 * child gets a new stack, the new stack does not have the frame.
 */
static bool
is_fork(uint64_t number, uint64_t flags, uint64_t stack)
{
#ifdef SYS_fork
	if (number == SYS_fork)
		return true;
#endif
	return number == SYS_clone && (flags & CLONE_VM) == 0 && stack == 0;
}

/*
 * Make the call SYS_landlock_restrict_self.  The rules apply to the calling
 * thread.  If the program has no other thread, the writer adopts the rules.
 */
static long
restrict_by_number(long number, long a, long b, long c, long d, long e, long f)
{
	long result;

	confinement_set(false);
	result = real.syscall(number, a, b, c, d, e, f);
	if (result == 0 && remaining_threads_single())
		confinement_after_landlock((int)a);
	return result;
}

/*
 * Does this call change privileges that the writer must change, too?  chroot(2)
 * does.  Through syscall(2), each of the other calls below changes only the
 * calling thread, so the writer must make the same change only if the program
 * has no other threads.
 */
static bool
changes_privileges(uint64_t number)
{
	switch (number) {
	case SYS_setuid:
	case SYS_setgid:
	case SYS_setreuid:
	case SYS_setregid:
	case SYS_setresuid:
	case SYS_setresgid:
	case SYS_setgroups:
	case SYS_setfsuid:
	case SYS_setfsgid:
	case SYS_capset:
		return process_is_tracing() && remaining_threads_single();
	default:
		return number == SYS_chroot;
	}
}

/* Does the call return the previous id instead of 0 or an error? */
static bool
returns_previous_id(long number)
{
	return number == SYS_setfsuid || number == SYS_setfsgid;
}

static long
privilege_by_number(long number, long a, long b, long c, long d, long e, long f)
{
	long result;

	writer_make_early();
	result = real.syscall(number, a, b, c, d, e, f);
	if (result == 0 && number == SYS_chroot)
		confinement_after_chroot();
	else if (result == 0 || returns_previous_id(number))
		confinement_after_privileges();
	return result;
}

/*
 * Prepare for the system call 'number'.  Return the function that makes this
 * call: a function named ..._by_number(), or libc's syscall().
 */
uintptr_t
interpose_watch_syscall(uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
	real_resolve_others();
	means_watch(number, a, b, c);
	if (number == SYS_seccomp || number == SYS_prctl)
		expect_by_number(number, a, b, c);
	else if (number == SYS_exit_group)
		end_trace(WRITER_END_UNDERSCORE_EXIT);
	else if (number == SYS_exit && process_is_tracing() &&
		 remaining_threads_single())
		end_last_thread();
	if (number == SYS_execve || number == SYS_execveat)
		return (uintptr_t)exec_by_number;
	if (number == SYS_landlock_restrict_self)
		return (uintptr_t)restrict_by_number;
	if (number == SYS_unshare || number == SYS_setns)
		return (uintptr_t)namespaces_by_number;
	if (changes_privileges(number))
		return (uintptr_t)privilege_by_number;
	return is_fork(number, a, b) ? (uintptr_t)fork_by_number
				     : (uintptr_t)real.syscall;
}

uintptr_t
interpose_watch_prctl(uint64_t option, uint64_t mode, uint64_t program)
{
	real_resolve_others();
	expect_by_number(SYS_prctl, option, mode, program);
	return (uintptr_t)real.prctl;
}

uintptr_t
interpose_watch_vfork(void)
{
	real_resolve_others();
	fork_before_vfork();
	return (uintptr_t)real.vfork;
}

JUMP_AFTER("syscall", "interpose_watch_syscall");
JUMP_AFTER("prctl", "interpose_watch_prctl");
JUMP_AFTER("vfork", "interpose_watch_vfork");
