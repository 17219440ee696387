/* SPDX-License-Identifier: MIT */
/*
 * output.h - the files of a trace: names and descriptors
 *
 * A trace consists of segments, each in its own file.  output_init() runs on a
 * thread of the program, the other functions on the writer thread.  The writer
 * has its own descriptor table, so the program cannot close these descriptors.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/sys/file.h"

/* Values for the conversions of a template. */
struct output_names {
	uint64_t pid;
	const char *path; /* of the executable; "": unknown */
	const char *exe;  /* its base name */
	const char *host;
};

struct output {
	int fd;		     /* -1: no file is open */
	int directory;	     /* of the files; -1: not open */
	uint64_t nbytes;     /* written so far, to this file */
	bool is_torn;	     /* it ends with a part of a failed write */
	struct file_id id;   /* of this file */
	struct file_id root; /* directory of the process, at output_init() */
	/* RLIMIT_NOFILE and RLIMIT_FSIZE, at output_init(). */
	uint64_t file_limit, size_limit;
	uint64_t number; /* the running number of the file's name */
	const char *template;
	const struct output_names *names;
	bool numbers_all;	 /* number the first segment as well */
	char cwd[PATH_MAX];	 /* for a relative template; ends with '/' */
	char path[2 * PATH_MAX]; /* absolute, NUL-terminated */
};

/*
 * Prepare to write to the files that 'template' names: %p pid, %e executable,
 * %h host, %n the first running number from 0 that is free, %s the number of
 * the segment with four digits or more, %% a '%'.  'template' stays the
 * caller's and must outlive '*o'.  The caller sets 'names' before the first
 * file is opened.  Without %s, ".sNNNN" goes before ".hatf" (else before ".gz",
 * else at the end); the first segment gets it only with 'numbers_all'.
 */
void output_init(struct output *o, const char *template, bool numbers_all);

/* Does the template have %p, so that each process has its own file? */
bool output_has_pid(const char *template);

/* Copy '*from', but only the used bytes of its two large buffers. */
void output_copy(struct output *to, const struct output *from);

/*
 * Create the file of a segment.  A name that is taken gets ".1", ".2" and so
 * on.  Mode 0600; closed on exec.  Return 0 or an errno value, with the name
 * that failed in 'path'.  A descriptor that was open before is not closed.
 */
int output_open(struct output *o, uint64_t segment);

/*
 * Text to append to the message about the first output_open() or output_write()
 * that failed: advice to begin the trace earlier, or "" if that would not help.
 */
const char *output_advice(const struct output *o, int error, bool begin_now);

/*
 * Fill in 'path' with a free name, the one that output_open() will try first.
 * Another process may take it before.  Return 0 or ENAMETOOLONG.
 */
int output_find_name(struct output *o, uint64_t segment);

/*
 * Writer thread: open the directory of the file, so that later files go there
 * even if it is renamed.  If the file is not in that directory, keep to the
 * full names.
 */
void output_hold_directory(struct output *o);

/*
 * Writer thread: open, with O_PATH, the folder that contains all files of the
 * trace, directly or below, whatever their numbers.  -1 and errno.
 */
int output_open_root(const struct output *o);

/*
 * Mark both descriptors as closed: the writer thread is about to end, and the
 * kernel then closes them.
 */
void output_forget(struct output *o);

/*
 * Append 'nbytes'.  Return 0 or an errno value.  After an error the file is cut
 * to its old length; if that fails, 'is_torn' is set and the file ends with a
 * part of 'data'.  All signals must be blocked, since RLIMIT_FSIZE raises one.
 */
int output_write(struct output *o, const void *data, size_t nbytes);

/*
 * Open the file of the trace again, which must have the length 'nbytes'.
 * Return the descriptor, or -1 and errno.
 */
int output_reopen_trace(const struct output *o);

/* Has the file been removed? */
bool output_is_removed(const struct output *o);

/* Close the file. */
void output_close(struct output *o);

/* Remove and close a file that has no content yet. */
void output_discard(struct output *o);

/* The file's name without its directory; points into 'path'. */
const char *output_base(const struct output *o);

/*
 * Remove the file of an earlier segment with this 'number' and 'id', unless its
 * name now belongs to another file.
 */
void output_remove(const struct output *o, uint64_t segment, uint64_t number,
		   const struct file_id *id);

#endif /* OUTPUT_H */
