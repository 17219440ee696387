/* SPDX-License-Identifier: MIT */
/*
 * confinement.h - make the writer give up the same privileges as the program
 *
 * The entry points that change privileges or the root directory, or install
 * filters (interpose_privileges.c, interpose_namespaces.c,
 * interpose_sandbox.c), call these functions.  The writer thread makes the same
 * change (privileges.h), or the trace ends.  In a process that is not traced,
 * only confinement_set() has an effect: it stores facts that children inherit.
 */
#ifndef CONFINEMENT_H
#define CONFINEMENT_H

#include <stdbool.h>

/*
 * The program is about to install filters or Landlock rules.  Afterwards, the
 * program's threads may be unable to make the writer thread, so make the writer
 * now if the process is traced.  'asking_kills' means that the filters kill a
 * thread that reads its own privileges.  From now on the process has the fact
 * PROCESS_IS_CONFINED.
 */
void confinement_set(bool asking_kills);

/*
 * Call these after the calling thread has changed the privileges or the root
 * directory of the process.  These functions make the writer do the same, and
 * return when the writer has done so, or when the trace has ended.  If the
 * process has no writer, they do nothing, because a later writer gets the
 * privileges of the thread that makes the writer.  They keep errno.
 */
void confinement_after_privileges(void);
void confinement_after_chroot(void);

/*
 * Call these only in a program with a single thread, on that thread.  Call
 * confinement_before_filter() when the thread is about to install a filter.
 * Call confinement_after_landlock() when the thread has restricted itself by
 * Landlock's rules.  'filter' and 'ruleset' are as in struct privileges.  Both
 * functions keep errno.
 */
void confinement_before_filter(const void *filter);
void confinement_after_landlock(int ruleset);

/*
 * Has confinement_before_filter() made the writer of this process install a
 * filter?
 */
bool confinement_has_own_filter(void);

#endif /* CONFINEMENT_H */
