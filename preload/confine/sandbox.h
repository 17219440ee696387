/* SPDX-License-Identifier: MIT */
/*
 * sandbox.h - filters that a program installs on its own system calls
 *
 * Once a filter is in force, the kernel may kill the program for a system call
 * of the recorder.  So before the program installs a filter by prctl(2) or
 * seccomp(2), interpose_sandbox.c tries the filter on the recorder's calls.
 * The recorder then stops each activity for which the filter would kill the
 * process.  If recording is impossible without such an activity, the trace ends
 * before the program installs the filter.
 *
 * Any thread of the program may call these functions.  They may change errno.
 */
#ifndef SANDBOX_H
#define SANDBOX_H

#include <linux/audit.h>
#include <stdbool.h>
#include <stddef.h>

#if defined(__x86_64__)
#define SANDBOX_ARCH AUDIT_ARCH_X86_64
#else
#define SANDBOX_ARCH AUDIT_ARCH_AARCH64
#endif

/*
 * The activities of the recorder that a filter would harm.  Each value except
 * SANDBOX_WRITER_REFUSED means that the filter kills the process or the thread,
 * or sends SIGSYS, for a system call that the recorder makes in this activity.
 */
enum sandbox_harm {
	/* harm to threads of the program while they record */
	SANDBOX_PROGRAM = 1,
	/* harm to the writer thread, if the filter applies to it */
	SANDBOX_WRITER = 2,
	/* harm at the start of the trace of a forked child */
	SANDBOX_START = 4,
	/* harm to the writer when it takes orders */
	SANDBOX_CONTROL = 8,
	/* harm to threads of the program when they call tgkill(2) */
	SANDBOX_WAKE = 16,
	/*
	 * harm to threads of the program when they read their own credentials
	 */
	SANDBOX_CREDENTIALS = 32,
	/*
	 * the writer could not work, because the filter's result for one of
	 * 'essential_calls' (sandbox.c) is not SECCOMP_RET_ALLOW
	 */
	SANDBOX_WRITER_REFUSED = 64,
	/* harm to threads of the program when they call rt_sigaction(2) */
	SANDBOX_SIGACTION = 128,
	/*
	 * harm to threads of the program when they print a message of the
	 * recorder
	 */
	SANDBOX_SAY = 256,
	/*
	 * harm to threads of the program while they read /proc to count threads
	 */
	SANDBOX_LOOK = 512,
};

/*
 * Return the harm that a filter would do: values of enum sandbox_harm, or-ed.
 * 'program' is the address of the struct sock_fprog that the program passes to
 * the kernel, and may be invalid.  Return 0 for a filter without harm, and for
 * a filter with an invalid address or length, which the kernel will refuse.  If
 * there is no memory to try the filter, return SANDBOX_PROGRAM | SANDBOX_START.
 */
unsigned sandbox_harm(const void *program);

/*
 * Copy 'nbytes' bytes, at least 8, from an address that the program has passed
 * and that may be invalid.  Return false if the address is invalid.  If a
 * filter refuses rt_sigprocmask(2), every address except NULL counts as valid,
 * and an invalid address then crashes the program.
 */
bool sandbox_copy(void *to, const void *from, size_t nbytes);

#endif /* SANDBOX_H */
