/* SPDX-License-Identifier: MIT */
/*
 * notebook.h - collect the notes of traced processes
 *
 * Each process of the tree writes a note when its trace starts, or that it has
 * no trace (hatf/recorder/notes.h).  If a trace was noted but does not exist,
 * the trace was only in the memory of a process that ended early and abruptly.
 * Not thread-safe.
 */
#ifndef NOTEBOOK_H
#define NOTEBOOK_H

#include "tools/recording/collect.h"
#include "tools/recording/launch.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The start of a trace: the process and the time. */
struct notebook_begin {
	uint64_t pid, start_ns;
	size_t trace; /* index in the collection, if the trace is there */
};

/* Starts of traces, in order after sorting. */
struct notebook_begins {
	struct notebook_begin *begin;
	size_t count, cap;
};

struct notebook {
	/* path of the file of notes; empty: there is none */
	char path[PATH_MAX];
	int fd;
	const char *out; /* only notes with this HATFTRACE_OUT count */
	/* the user knows that the command itself runs untraced */
	bool own_is_reported;
	/* Results of notebook_read(), sorted; the strings are owned. */
	char **lost, **untraced;
	size_t lost_count, untraced_count;
	/*
	 * traces that exist here or elsewhere, or that a running process may
	 * still write
	 */
	struct notebook_begins known;
	/* 'lost' includes an image of the command's own process */
	bool own_is_lost;
};

/*
 * Create the file of notes about traces of the absolute template 'out' and set
 * the environment variable with its name.  If this fails, continue without
 * notes.
 */
void notebook_begin(struct notebook *n, const char *out);

/*
 * Read the notes after the command has ended: find the traces that were noted,
 * are not in 'c' and whose process has ended.  A trace of the command's own
 * process counts only if that process has another trace.  Mark the noted traces
 * in 'c' as descendants of the command.
 */
void notebook_read(struct notebook *n, struct collection *c,
		   const struct launch *l);

/*
 * Call after notebook_read() and mend_traces(): mark in 'c' the traces whose
 * process then executed a program that left no trace.
 */
void notebook_find_vanished(const struct notebook *n, struct collection *c);

/*
 * Print one line about the processes that left no trace and one about the
 * untraced processes.
 */
void notebook_report(const struct notebook *n);

void notebook_end(struct notebook *n);

#endif /* NOTEBOOK_H */
