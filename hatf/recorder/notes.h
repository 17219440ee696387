/* SPDX-License-Identifier: MIT */
/*
 * notes.h - the notes that traced processes leave for 'hatf record'
 *
 * A process that is killed in its first moments leaves no trace, and neither
 * does a process that cannot be traced.  To learn of such processes, 'hatf
 * record' creates a file and names it in HATFTRACE_NOTES.  Each process appends
 * one line to this file when it begins to be traced, or when it finds that it
 * cannot be traced:
 *
 *	begin PID START OUT EXE
 *	untraced PID WHY TAB EXE
 *
 * PID and START are "pid" and "start_monotonic" of the trace's header, OUT is
 * notes_hash() of HATFTRACE_OUT, WHY is the reason, TAB is one tab character,
 * and EXE is the base name of the executable, to the end of the line.  A
 * process that first waits for an order to record appends no "begin" line.
 */
#ifndef NOTES_H
#define NOTES_H

#include <stdint.h>

#define NOTES_VARIABLE "HATFTRACE_NOTES"

#define NOTES_BEGIN    "begin "
#define NOTES_UNTRACED "untraced "

/*
 * Return the 64-bit FNV-1a hash of a text.  Any thread may call this pure
 * function.
 */
static inline uint64_t
notes_hash(const char *text)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	return h;
}

#endif /* NOTES_H */
