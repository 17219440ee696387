/* SPDX-License-Identifier: MIT */
/*
 * jotter.h - append lines for 'hatf record' to the file that it has named
 *
 * The lines are in hatf/recorder/notes.h.  A file that is not there, is another
 * user's or is not regular gets none; nothing of this can fail for the program.  On a
 * thread of the program or in the writer thread; keeps errno no better than a system
 * call.
 */
#ifndef JOTTER_H
#define JOTTER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * First: the environment that may name the file.  False: nobody takes notes.  Else the
 * name of the executable is to follow.  Both are copied.
 */
bool jotter_init(char *const environment[]);
void jotter_set_exe(const char *exe);

/* This process's trace starts, with time 0 at 'start_ns', named by 'out'. */
void jotter_begin(uint64_t start_ns, const char *out);

/* It will have none.  False: nobody takes notes, and it is to be said otherwise. */
bool jotter_untraced(const char *why);

/* Does somebody read this process's trace who can say what it lacks? */
bool jotter_has_reader(void);

#endif /* JOTTER_H */
