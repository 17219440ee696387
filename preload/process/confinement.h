/* SPDX-License-Identifier: MIT */
/*
 * confinement.h - the writer gives up the same privileges as the program
 *
 * The functions that give up privileges or install filters
 * (interpose_privileges.c, interpose_sandbox.c) call these.  The writer thread
 * takes on the change (privileges.h), or the trace ends.  For threads of the
 * traced process; in others nothing happens.
 */
#ifndef CONFINEMENT_H
#define CONFINEMENT_H

#include <stdbool.h>

/*
 * Filters are about to be installed, under which a thread of the program may
 * not be able to make the writer thread: make it now.  With 'asking_kills' they
 * kill a thread that asks for its own privileges.  From then on
 * process_has(PROCESS_IS_CONFINED).
 */
void confinement_set(bool asking_kills);

/*
 * The calling thread has changed the privileges of the process, or the root
 * directory as well: on return the writer has the same.  Keep errno.
 */
void confinement_after_privileges(void);
void confinement_after_chroot(void);

/*
 * The only thread of the process will get a filter, or has got Landlock's
 * rules; 'filter' and 'ruleset' as in struct privileges.  Keep errno.
 */
void confinement_before_filter(const void *filter);
void confinement_after_landlock(int ruleset);

/* Does the writer have filters that the calling thread lacks? */
bool confinement_has_own_filter(void);

#endif /* CONFINEMENT_H */
