/* SPDX-License-Identifier: MIT */
/*
 * sandbox.h - filters that a program puts on its own system calls
 *
 * From then on the kernel may end the program for a call of ours.  A filter
 * that comes by prctl(2) or seccomp(2) is tried on our calls before it is in
 * force (interpose_sandbox.c); one by which we would do harm ends the trace
 * first.
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

/* Where a filter would do harm. */
enum sandbox_harm {
	SANDBOX_PROGRAM = 1, /* on threads of the program, while they record */
	SANDBOX_WRITER = 2,  /* in the writer, if it is for all threads */
	SANDBOX_CONTROL = 8, /* in the writer, when it takes orders */
	SANDBOX_WAKE = 16,   /* on threads of the program, by tgkill(2) */
	SANDBOX_CREDENTIALS = 32,    /* on threads that ask for their own privileges */
	SANDBOX_WRITER_REFUSED = 64,   /* in the writer, which could not write any more */
	SANDBOX_START = 4,   /* when the trace of a forked child starts */
	SANDBOX_SIGACTION = 128, /* on threads of the program: rt_sigaction(2) */
	SANDBOX_SAY = 256,     /* on threads of the program, with a message */
};

/*
 * Which of these this filter would do; 'program' is the struct sock_fprog that
 * the program has given, and may be anything.  0 also for what the kernel will
 * refuse.
 */
unsigned sandbox_harm(const void *program);

/*
 * Copy from an address that the program gives, and that may be wrong; false if
 * it is.  Where the kernel does not do it for us the address is believed.
 */
bool sandbox_copy(void *to, const void *from, size_t nbytes);

#endif /* SANDBOX_H */
