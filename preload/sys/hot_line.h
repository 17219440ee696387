/* SPDX-License-Identifier: MIT */
/*
 * hot_line.h - the variables that every event reads, in one cache line
 *
 * A program that needs the processor's caches for itself pays for each cache
 * line that an event touches, twice: the event waits for the line, and the line
 * takes the place of one of the program's.  Variables that are read at every
 * event and written rarely therefore share a cache line, although they belong
 * to different files: the linker puts those with this attribute next to each
 * other.  One of them must be aligned to a cache line.
 */
#ifndef HOT_LINE_H
#define HOT_LINE_H

#define HOT_LINE __attribute__((section("hot_line")))

#endif /* HOT_LINE_H */
