/* SPDX-License-Identifier: MIT */
/*
 * begin.h - prepare a trace, in two steps
 *
 * After the settings are read, the first step checks that there is enough
 * memory, and maps the memory that every process needs.  The second step
 * prepares the rest: the clock, the values for the names of the files, the
 * header, and the writer's tables.
 *
 * A process that records from the start takes both steps at once.  A process
 * that begins dormant takes the second step when it gets its first order, or
 * earlier if the program is about to make a change after which the step could
 * fail (writer_make_early()).  Most such processes never take the second step.
 */
#ifndef BEGIN_H
#define BEGIN_H

#include <stdbool.h>

#include "preload/trace/header.h"

/*
 * Prepare to write notes (note_writer.h).  Call this even in a process that
 * will not be traced, since notes name such processes, too.
 */
void begin_notes(void);

/* Read the settings.  Return false if this process must not be traced. */
bool begin_read(void);

/*
 * Take the first step.  '*parent' is copied, except for the string
 * 'parent->trace', which must stay valid.  'is_first' is false in a process
 * that a traced process has forked.  'is_dormant' means that the process does
 * not record at once.  If there is no memory, report this and return false.
 */
bool begin_reserve(const struct header_parent *parent, bool is_first,
		   bool is_dormant);

/*
 * Take the second step, unless it has been taken.  Only one thread at a time
 * may call this: the thread that starts the process's trace or, later, the
 * thread for which wake_claim() has returned true.  If there is no memory,
 * report this and return false.
 */
bool begin_prepare(void);

#endif /* BEGIN_H */
