/* SPDX-License-Identifier: MIT */
/*
 * output.h - where the bytes of a trace go
 *
 * Owns the name and the descriptor of the trace.  output_open() runs on a thread
 * of the program, the rest in the writer thread, whose descriptor table is its
 * own: whatever the program does with its descriptors, this one stays.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output {
	int fd;
	uint64_t nbytes;	 /* written so far */
	char path[2 * PATH_MAX]; /* absolute, NUL-terminated */
};

/* What a template is filled in from. */
struct output_names {
	uint64_t pid;
	const char *exe; /* base name */
	const char *host;
};

/*
 * Create the file that 'template' names: %p pid, %e executable, %h host, %n the
 * first running number from 0 that is free, %% a '%'.  A name that is taken gets
 * ".1", ".2" and so on.  Mode 0600.  The descriptor has a high number and is
 * closed on exec.  On failure says so in one line and returns false.
 */
bool output_open(struct output *o, const char *template,
		 const struct output_names *names);

/*
 * Append.  Returns 0 or an errno value; then as much of it as there was room for
 * is in the file, where a reader finds every record before the cut.  All signals
 * must be blocked: a limit on the size of files sends one.
 */
int output_write(struct output *o, const void *data, size_t nbytes);

/* Has the file no name any more? */
bool output_is_removed(const struct output *o);

/* Remove the file again, of which nothing has been written. */
void output_discard(struct output *o);

#endif /* OUTPUT_H */
