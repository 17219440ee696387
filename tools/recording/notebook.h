/* SPDX-License-Identifier: MIT */
/*
 * notebook.h - collect the notes of traced processes
 *
 * The command and its descendants write notes (hatf/recorder/notes.h): each
 * process writes one when it begins a trace, or when it cannot be traced.  If a
 * note names a trace that does not exist although its process has ended,
 * conclude that the trace was in memory only, and that the process ended
 * abruptly.  Not thread-safe.
 */
#ifndef NOTEBOOK_H
#define NOTEBOOK_H

#include "tools/recording/collect.h"
#include "tools/recording/launch.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The start of a trace: its process and its time. */
struct notebook_begin {
	uint64_t pid, start_ns;
	size_t trace; /* index in the collection, if the trace is in it */
};

/* A list of starts of traces. */
struct notebook_begins {
	struct notebook_begin *begin;
	size_t count, cap;
};

struct notebook {
	/* path of the file of notes; empty: there is none */
	char path[PATH_MAX];
	int fd;
	/* only traces named by this template can count as lost */
	const char *out;
	/* the user was told that the command itself runs untraced */
	bool own_is_reported;
	/*
	 * Results of notebook_read(), sorted: "EXE" for each lost trace, and
	 * "WHY TAB EXE" for each untraced process, as in their notes.  The
	 * notebook owns the strings.
	 */
	char **lost, **untraced;
	size_t lost_count, untraced_count;
	/*
	 * Sorted list of the traces that exist or may exist later: those in the
	 * collection, those named by a template other than 'out', and those
	 * that a running process may still write.
	 */
	struct notebook_begins known;
	/*
	 * a trace of the command's own process is lost, even if 'lost' does not
	 * list it
	 */
	bool own_is_lost;
};

/*
 * Create the file of notes, and set the environment variable that tells traced
 * processes its path.  Only traces named by the absolute template 'out' can
 * count as lost.  If the file or the variable cannot be set up, continue
 * without notes.
 */
void notebook_begin(struct notebook *n, const char *out);

/*
 * Read the notes after the command has ended, and remove the file of notes.
 * Mark the traces in 'c' that have a note, and find the traces of the command's
 * descendants (descendants.h).
 *
 * Also list the lost traces.  These have a note that names the template 'out',
 * but are not in 'c' although their processes have ended.  If 'c' has no trace
 * of the command's own process, do not list the lost traces of this process,
 * because absence_explain() reports them.
 */
void notebook_read(struct notebook *n, struct collection *c,
		   const struct launch *l);

/*
 * Mark in 'c' the traces at whose end the process executed a program that left
 * no trace.  Call this after notebook_read() and mend_traces().
 */
void notebook_find_vanished(const struct notebook *n, struct collection *c);

/*
 * Print one line about the processes that left no trace and one about the
 * untraced processes.
 */
void notebook_report(const struct notebook *n);

void notebook_end(struct notebook *n);

#endif /* NOTEBOOK_H */
