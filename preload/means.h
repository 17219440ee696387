/* SPDX-License-Identifier: MIT */
/*
 * means.h - calls that take away what a trace needs to begin
 *
 * A trace has its file and its writer only when a process has had some events.  If the
 * program is about to lower a limit or to mount something, the trace begins before.
 *
 * Not before a child by clone(2) that shares its root directory, and may change it: the
 * zygote of Chromium makes one, and insists on being alone.
 */
#ifndef MEANS_H
#define MEANS_H

#include <stdint.h>

/*
 * The program is about to make the system call 'number'; 'a' to 'c' are its first
 * arguments.  Nothing that is thread-local is touched unless the process is traced.
 */
void means_watch(uint64_t number, uint64_t a, uint64_t b, uint64_t c);

#endif /* MEANS_H */
