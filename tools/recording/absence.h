/* SPDX-License-Identifier: MIT */
/*
 * absence.h - explain why a command left no trace
 *
 * Watch the directory of the traces while the command runs.  This distinguishes
 * a trace that was removed or renamed from a trace that was never created.
 */
#ifndef ABSENCE_H
#define ABSENCE_H

#include "tools/recording/launch.h"

#include <stdbool.h>

struct absence {
	const char *text; /* template of the traces' names; borrowed */
	/* descriptor of the template's directory; -1: unknown */
	int directory;
	/* inotify(7) descriptor for the directory; -1: unknown */
	int events;
};

/*
 * Start to watch the directory of the absolute template 'text', by which traces
 * are named.  'text' must stay valid.
 */
void absence_begin(struct absence *a, const char *text);

void absence_end(struct absence *a);

/*
 * Print why 'command', which could have been traced, left no trace.  'l' says
 * how the command ended.  The message ends with 'others', the text of
 * summary_describe_others() about other traces.  'begun' is true if the command
 * had begun a trace in memory.
 */
void absence_explain(const struct absence *a, const char *command,
		     const struct launch *l, const char *others, bool begun);

#endif /* ABSENCE_H */
