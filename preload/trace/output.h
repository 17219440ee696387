/* SPDX-License-Identifier: MIT */
/*
 * output.h - where the bytes of a trace go
 *
 * Owns the names and the descriptor of the trace, whose segments are files of
 * their own.  output_init() runs on a thread of the program, the rest in the
 * writer thread, whose descriptor table is its own: whatever the program does
 * with its descriptors, these stay.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/sys/file.h"

/* What a template is filled in from. */
struct output_names {
	uint64_t pid;
	const char *path; /* of the executable; "" if not known */
	const char *exe;  /* its base name */
	const char *host;
};

struct output {
	int fd;		     /* -1: no file is open */
	int directory;	     /* of the files; -1: not held */
	uint64_t nbytes;     /* written so far, to this file */
	bool is_torn;	     /* part of what failed is in it */
	struct file_id id;   /* of this file */
	struct file_id root; /* directory of the process, at output_init() */
	/* Of files and of their size, at output_init(). */
	uint64_t file_limit, size_limit;
	uint64_t number; /* by which its name was free */
	const char *template;
	const struct output_names *names;
	bool numbers_all;	 /* the first segment has its number, too */
	char cwd[PATH_MAX];	 /* of a relative template, with a '/' */
	char path[2 * PATH_MAX]; /* absolute, NUL-terminated */
};

/*
 * Prepare to write to what 'template' names: %p pid, %e executable, %h host, %n
 * the first running number from 0 that is free, %s the number of the segment
 * with four digits or more, %% a '%'.  'template' stays the caller's and must
 * last.
 * '*o' has had no file; 'names' are the caller's to set before it has.  Without
 * %s,
 * ".sNNNN" goes before ".hatf" (else before ".gz", else at the end), for the
 * first segment only with 'numbers_all'.
 */
void output_init(struct output *o, const char *template, bool numbers_all);

/*
 * Do the processes of a tree have names of their own by this template: is %p in
 * it?
 */
bool output_has_pid(const char *template);

/* Copy all that is in use of it; its two buffers are four pages long. */
void output_copy(struct output *to, const struct output *from);

/*
 * Create the file of a segment.  A name that is taken gets ".1", ".2" and so
 * on. Mode 0600; closed on exec.  Returns 0 or an errno value, with the name
 * that failed in 'path'; what was open before is forgotten, not closed.
 */
int output_open(struct output *o, uint64_t segment);

/*
 * What to append to the message about a first output_open() or output_write()
 * that failed: that the file would exist if the trace had begun earlier.  "" if
 * it would not.
 */
const char *output_advice(const struct output *o, int error, bool begin_now);

/*
 * Fill in 'path' with the name that output_open() will try first of those that
 * nothing has; somebody may get it before.  Returns 0 or ENAMETOOLONG.
 */
int output_find_name(struct output *o, uint64_t segment);

/*
 * Writer thread: hold on to the directory, so that it may be renamed.  If it is
 * not where the file is, names are used as they are.
 */
void output_hold_directory(struct output *o);

/*
 * Writer thread: the folder in or below which all files of the trace are,
 * whatever their numbers; O_PATH.  -1 and errno.
 */
int output_open_root(const struct output *o);

/* The writer thread is about to end, and its descriptors with it. */
void output_forget(struct output *o);

/*
 * Append.  Returns 0 or an errno value; then the file is as it was before, or,
 * where that cannot be, is torn: has as much of it as there was room for.  All
 * signals must be blocked: a limit on the size of files sends one.
 */
int output_write(struct output *o, const void *data, size_t nbytes);

/* The file of the trace, which must be as long as it was left; likewise. */
int output_reopen_trace(const struct output *o);

/* Has the file no name any more? */
bool output_is_removed(const struct output *o);

/* Close the file; the next may be opened. */
void output_close(struct output *o);

/* Remove the file again, of which nothing has been written. */
void output_discard(struct output *o);

/* The file's name without its directory; points into 'path'. */
const char *output_base(const struct output *o);

/*
 * Remove the file of an earlier segment, which had this 'number' and 'id',
 * unless another one has its name by now.
 */
void output_remove(const struct output *o, uint64_t segment, uint64_t number,
		   const struct file_id *id);

#endif /* OUTPUT_H */
