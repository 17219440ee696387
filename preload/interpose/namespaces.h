/* SPDX-License-Identifier: MIT */
/*
 * namespaces.h - unshare(2) and setns(2) by their numbers
 */
#ifndef NAMESPACES_H
#define NAMESPACES_H

/* As syscall(2): 'number' is SYS_unshare or SYS_setns. */
long namespaces_by_number(long number, long a, long b, long c, long d, long e,
			  long f);

#endif /* NAMESPACES_H */
