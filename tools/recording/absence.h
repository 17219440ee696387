/* SPDX-License-Identifier: MIT */
/*
 * absence.h - why has a command left no trace?
 *
 * The files are watched while the command runs, to distinguish a trace that was
 * removed or moved from one that was never begun.
 */
#ifndef ABSENCE_H
#define ABSENCE_H

#include "tools/recording/launch.h"

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
 * Say why there is no trace of 'command', which could have been traced and
 * which ended as 'l' says.  'others' describes the traces that there are;
 * 'begun': the command had begun a trace, in its memory.
 */
void absence_explain(const struct absence *a, const char *command,
		     const struct launch *l, const char *others, bool begun);

#endif /* ABSENCE_H */
