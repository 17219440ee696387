/* SPDX-License-Identifier: MIT */
/* own_syscall.c - our own syscall(2) and prctl(2); see raw_syscall.c */

#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "preload/sys/raw_syscall.h"

/*
 * Always read six arguments, the most that a system call has.  If the caller
 * passed fewer, the other values are old contents of registers or of the
 * caller's stack.  The kernel ignores these values, but a sanitizer may report
 * the read.
 */
#define TAKES_MORE __attribute__((no_sanitize("address")))

TAKES_MORE long
syscall(long number, ...)
{
	long a[6];
	va_list list;

	va_start(list, number);
	for (size_t i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	return raw_syscall_result(
		raw_syscall_call(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

TAKES_MORE int
prctl(int option, ...)
{
	long a[4];
	va_list list;

	va_start(list, option);
	for (size_t i = 0; i < 4; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	return (int)raw_syscall_result(
		raw_syscall_call(SYS_prctl, option, a[0], a[1], a[2], a[3], 0));
}
