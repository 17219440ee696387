/* SPDX-License-Identifier: MIT */
/*
 * means.h - calls that take away what a trace needs to begin
 *
 * A process has a trace file and a writer only after some events.  If the
 * program is about to lower a limit or to mount something, the trace begins
 * before that.
 *
 * It does not begin before a clone(2) of a child that shares the root
 * directory, and may change it: the zygote of Chromium makes such a child, and
 * must be alone.
 */
#ifndef MEANS_H
#define MEANS_H

#include <stdint.h>

/*
 * The program is about to make the system call 'number'; 'a' to 'c' are its
 * first arguments.  Nothing that is thread-local is touched unless the process
 * is traced.
 */
void means_watch(uint64_t number, uint64_t a, uint64_t b, uint64_t c);

#endif /* MEANS_H */
