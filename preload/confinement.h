/* SPDX-License-Identifier: MIT */
/*
 * confinement.h - what the program may do less than before, and the writer with it
 *
 * The functions that give up privileges or put filters on (interpose_privileges.c,
 * interpose_sandbox.c) tell it here; the writer thread takes it on (privileges.h), or
 * the trace ends.  For threads of the traced process; in others nothing happens.
 */
#ifndef CONFINEMENT_H
#define CONFINEMENT_H

#include <stdbool.h>

/*
 * Filters are about to come, under which a thread of the program may not be able to
 * make the writer thread: have it now.  With 'asking_kills' they kill a thread that
 * asks for its own privileges.  From then on confinement_is_set().
 */
void confinement_set(bool asking_kills);
bool confinement_is_set(void);

/*
 * The calling thread has changed the privileges of the process, or the root
 * directory as well: from here on the writer has no others.  Keep errno.
 */
void confinement_after_privileges(void);
void confinement_after_chroot(void);

/*
 * The only thread of the process will get a filter, or has got Landlock's rules;
 * 'filter' and 'ruleset' as in struct privileges.  Keep errno.
 */
void confinement_before_filter(const void *filter);
void confinement_after_landlock(int ruleset);

/* Has the writer got filters that the calling thread's others do not come from? */
bool confinement_has_own_filter(void);

#endif /* CONFINEMENT_H */
