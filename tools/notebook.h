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

#include "collect.h"
#include "launch.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct notebook {
	char path[PATH_MAX]; /* empty: there is none */
	int fd;
	const char *out;  /* HATFTRACE_OUT of those that count */
	bool own_is_told; /* that the command's own process runs untraced */
	/* Found by notebook_read(); texts to be freed, sorted. */
	char **lost, **untraced;
	size_t lost_count, untraced_count;
	bool own_is_lost; /* an image of the command's own process is among them */
};

/* Make the file of notes about traces of the absolute template 'out', and name
 * it in the environment.  Without that file nothing is known. */
void notebook_begin(struct notebook *n, const char *out);

/*
 * Read the notes when the command has ended: find the traces that were started,
 * are not in 'c', and whose processes do not live.  That of the command's own
 * process counts only if the process has another trace.
 */
void notebook_read(struct notebook *n, const struct collection *c,
		   const struct launch *l);

/* Say, in one line each, which processes left nothing, and which ran
 * untraced. */
void notebook_tell(const struct notebook *n);

void notebook_end(struct notebook *n);

#endif /* NOTEBOOK_H */
