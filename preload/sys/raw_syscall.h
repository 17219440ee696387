/* SPDX-License-Identifier: MIT */
/*
 * raw_syscall.h - the system call instruction, and its result in libc's form
 *
 * raw_syscall.c and own_syscall.c use this.  Our library exports syscall() and
 * prctl() to intercept the program's calls.  For our own calls, own_syscall.c
 * therefore defines both functions under other names (-Dsyscall=own_syscall in
 * the Makefile).
 */
#ifndef RAW_SYSCALL_H
#define RAW_SYSCALL_H

#include <errno.h>
#include <sys/syscall.h>

#if defined(__x86_64__)

static inline long
raw_syscall_call(long number, long a, long b, long c, long d, long e, long f)
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

#elif defined(__aarch64__)

static inline long
raw_syscall_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

#else
#error "no system call instruction is known for this processor"
#endif

/* Convert the kernel's result to -1 with errno, as libc does. */
static inline long
raw_syscall_result(long result)
{
	if ((unsigned long)result < -4095ul)
		return result;
	errno = (int)-result;
	return -1;
}

#endif /* RAW_SYSCALL_H */
