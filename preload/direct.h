/* SPDX-License-Identifier: MIT */
/*
 * direct.h - the system call instruction, and what libc makes of its result
 *
 * For direct.c, and for call.c, whose two functions have names of their own
 * (-Dsyscall=direct_syscall, Makefile) since we stand in front of libc's.
 */
#ifndef DIRECT_H
#define DIRECT_H

#include <errno.h>
#include <sys/syscall.h>

#if defined(__x86_64__)

static inline long
direct_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10),
			   "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#else
#error "no system call instruction is known for this processor"
#endif

/* As libc gives it to its callers. */
static inline long
direct_result(long result)
{
	if ((unsigned long)result < -4095ul)
		return result;
	errno = (int)-result;
	return -1;
}

#endif /* DIRECT_H */
