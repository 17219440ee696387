/* SPDX-License-Identifier: MIT */
/*
 * notes.h - what the processes of a traced tree note for 'hatf record'
 *
 * A process that ends abruptly in its first moments leaves no trace, and
 * neither does one that cannot be traced.  So that 'hatf record' knows of them,
 * it makes a file and names it in HATFTRACE_NOTES; each process appends one
 * line to it when its trace starts, or when it finds that there will be none:
 *
 *	begin PID START OUT EXE
 *	untraced PID WHY TAB EXE
 *
 * PID and START are the header's "pid" and "start_monotonic", OUT is
 * notes_hash() of HATFTRACE_OUT, and EXE is the executable's base name, to the
 * end of the line.
 */
#ifndef NOTES_H
#define NOTES_H

#include <stdint.h>

#define NOTES_VARIABLE "HATFTRACE_NOTES"

#define NOTES_BEGIN    "begin "
#define NOTES_UNTRACED "untraced "

/* A number for a text: FNV-1a with 64 bits. */
static inline uint64_t
notes_hash(const char *text)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	return h;
}

#endif /* NOTES_H */
