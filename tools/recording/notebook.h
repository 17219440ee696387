/* SPDX-License-Identifier: MIT */
/*
 * notebook.h - the notes of the traced processes, and what follows from them
 *
 * Each process of the tree notes that its trace starts, or that it has none
 * (recorder/notes.h).  A trace that was started and does not exist was only in
 * the memory of its process, which ended early and abruptly.
 */
#ifndef NOTEBOOK_H
#define NOTEBOOK_H

#include "tools/recording/collect.h"
#include "tools/recording/launch.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which trace: the process that began it, and when. */
struct notebook_begin {
	uint64_t pid, start_ns;
	size_t trace; /* its place in the collection, if it is there */
};

/* In order, once they are sorted. */
struct notebook_begins {
	struct notebook_begin *begin;
	size_t count, cap;
};

struct notebook {
	char path[PATH_MAX]; /* empty: there is none */
	int fd;
	const char *out;   /* HATFTRACE_OUT of those that count */
	bool own_is_noted; /* that the command's own process runs untraced */
	/* Found by notebook_read(); texts to be freed, sorted. */
	char **lost, **untraced;
	size_t lost_count, untraced_count;
	struct notebook_begins known; /* which are here, elsewhere or not yet */
	bool own_is_lost; /* an image of the command's own process is among them */
};

/* Make the file of notes about traces of the absolute template 'out', and name
 * it in the environment.  Without that file nothing is known. */
void notebook_begin(struct notebook *n, const char *out);

/*
 * Read it, once all is over: what has started, is not in 'c' and does not live.
 * The command's own process is among it only if it has another trace.  What is
 * noted and in 'c' is a descendant of the command there.
 */
void notebook_read(struct notebook *n, struct collection *c,
		   const struct launch *l);

/*
 * After that, and mend_traces(): note in 'c' after which traces their processes
 * executed a program that has left nothing there.
 */
void notebook_find_vanished(const struct notebook *n, struct collection *c);

/* Say, in one line each, which processes left nothing, and which ran untraced. */
void notebook_report(const struct notebook *n);

void notebook_end(struct notebook *n);

#endif /* NOTEBOOK_H */
