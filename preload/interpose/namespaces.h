/* SPDX-License-Identifier: MIT */
/*
 * namespaces.h - unshare(2) and setns(2) that a program calls by syscall(2)
 *
 * interpose_namespaces.c defines the function.
 */
#ifndef NAMESPACES_H
#define NAMESPACES_H

/*
 * Act as syscall(2) for SYS_unshare or SYS_setns.  Arguments, result and errno
 * are the same as for syscall(2).  Any thread of the program may call this.
 */
long namespaces_by_number(long number, long a, long b, long c, long d, long e,
			  long f);

#endif /* NAMESPACES_H */
