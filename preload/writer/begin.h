/* SPDX-License-Identifier: MIT */
/*
 * begin.h - what has to be there before a trace begins
 *
 * In two steps.  The first reads the settings and sees that there is memory.
 * The second sets up the rest: the clock, the names, the header, the writer's
 * tables.  A process that begins to record at once takes both.  One that begins
 * dormant takes the second with the first order that it gets, which in most
 * processes never comes.
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
 * Take the first step.  The process 'is_dormant', and has this parent, which is
 * copied but for the name of its trace; 'is_first': it is no child of a fork
 * that was traced.  False: no memory, which has been said.
 */
bool begin_reserve(const struct header_parent *parent, bool is_first,
		   bool is_dormant);

/*
 * Take the second step, unless it has been taken.  One thread at a time: the
 * one that starts the process's trace, or makes the writer thread.  False: as
 * above.
 */
bool begin_prepare(void);

#endif /* BEGIN_H */
