/* SPDX-License-Identifier: MIT */
/*
 * hot_line.h - the variables that every event reads, in one cache line
 *
 * If a program needs the processor's caches for itself, each cache line that an
 * event touches costs time twice: the event waits for the line, and the line
 * replaces a line that the program needs.  Variables that are read at every
 * event and written rarely therefore share a cache line, although they belong
 * to different files.  The linker puts all variables marked HOT_LINE next to
 * each other.  One of them must be aligned to a cache line.
 */
#ifndef HOT_LINE_H
#define HOT_LINE_H

#define HOT_LINE __attribute__((section("hot_line")))

#endif /* HOT_LINE_H */
