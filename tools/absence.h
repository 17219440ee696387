/* SPDX-License-Identifier: MIT */
/*
 * absence.h - why has a command left no trace?
 *
 * What happens to the files is watched while the command runs, so that one that was
 * removed or moved can be told from one that was never begun.
 */
#ifndef ABSENCE_H
#define ABSENCE_H

#include "launch.h"

#include <stdbool.h>

struct absence {
	const char *text; /* template */
	int directory;	  /* that it names, opened; -1: unknown */
	int events;	  /* of inotify(7) on that; -1: unknown */
};

/* Watch where the absolute template 'text' puts its files. */
void absence_begin(struct absence *a, const char *text);

void absence_end(struct absence *a);

/*
 * Say why there is no trace of 'command', which nothing stood against and which
 * ended as 'l' says; 'others' is about the traces that there are.  Had it 'begun' one,
 * in its memory?
 */
void absence_tell(const struct absence *a, const char *command,
		  const struct launch *l, const char *others, bool begun);

#endif /* ABSENCE_H */
