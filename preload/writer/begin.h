/* SPDX-License-Identifier: MIT */
/*
 * begin.h - the set-up before a trace begins
 *
 * In two steps.  The first reads the settings and checks that there is memory.
 * The second sets up the rest: the clock, the names, the header, the writer's
 * tables.  A process that records from the start takes both.  A process that
 * begins dormant takes the second with its first order, which most processes
 * never get.
 */
#ifndef BEGIN_H
#define BEGIN_H

#include <stdbool.h>

#include "preload/trace/header.h"

/*
 * Be ready to take notes, also of a process that is not to be traced
 * (note_writer.h).
 */
void begin_notes(void);

/* Read the settings.  False: this process is not to be traced. */
bool begin_read(void);

/*
 * Take the first step.  'parent' is copied, except the name of its trace, which
 * must last.  'is_first': the process is no child of a traced process by a
 * fork. 'is_dormant': it does not record at once.  False: no memory; reported.
 */
bool begin_reserve(const struct header_parent *parent, bool is_first,
		   bool is_dormant);

/*
 * Take the second step, unless it has been taken.  One thread at a time: the
 * one that starts the process's trace, or the one that makes the writer thread.
 * False: no memory; reported.
 */
bool begin_prepare(void);

#endif /* BEGIN_H */
