/* SPDX-License-Identifier: MIT */
/*
 * means.h - calls that take away what a trace needs to begin
 *
 * A trace has its file and its writer only when a process has had some events.  If the
 * program is about to lower a limit, to mount something or to share its root directory
 * with a child, the trace begins before.
 */
#ifndef MEANS_H
#define MEANS_H

#include <stdint.h>

/*
 * The program is about to make the system call 'number'; 'a' to 'c' are its first
 * arguments.  Nothing that is thread-local is touched unless the process is traced.
 */
void means_watch(uint64_t number, uint64_t a, uint64_t b, uint64_t c);

/* It is about to make a child by clone(2). */
void means_watch_clone(uint64_t flags);

#endif /* MEANS_H */
