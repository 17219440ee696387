/* SPDX-License-Identifier: MIT */
/*
 * output.h - the files of a trace: names and descriptors
 *
 * A trace consists of segments, each in its own file.  The functions run on the
 * writer thread, or on the thread of the program that does the writer's work
 * (writer_brief.c).  output_init(), output_copy() and output_has_pid() may run
 * on any thread of the program.  output_reopen_trace() may also run on a thread
 * of the program while there is no writer thread.  The writer has its own
 * descriptor table, so the program cannot close the descriptors of the files.
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
	const char *path; /* path of the executable; "": unknown */
	const char *exe;  /* base name of the executable */
	const char *host;
};

struct output {
	int fd;		   /* -1: no file is open */
	int directory;	   /* directory of the files; -1: not open */
	uint64_t nbytes;   /* bytes written so far to this file */
	bool is_torn;	   /* the file ends with a part of a failed write */
	struct file_id id; /* identity of this file */
	/* Root directory of the process, at output_init(). */
	struct file_id root;
	/* RLIMIT_NOFILE and RLIMIT_FSIZE, at output_init(). */
	uint64_t file_limit, size_limit;
	uint64_t number; /* the running number in the file's name */
	const char *template;
	const struct output_names *names;
	/*
	 * the name of the first file has the segment number, as the names of
	 * later files do
	 */
	bool numbers_all;
	/*
	 * Working directory, with '/' at its end, for a relative template.  "":
	 * the directory is unknown, or the template is absolute.
	 */
	char cwd[PATH_MAX];
	/* NUL-terminated; absolute, unless the working directory is unknown */
	char path[2 * PATH_MAX];
};

/*
 * Prepare to write to the files that 'template' names.  Its conversions are:
 *
 *	%p	process id
 *	%e	name of the executable
 *	%h	name of the host
 *	%n	a running number, 0 or more, chosen so that the name is free
 *	%s	number of the segment, with four digits or more
 *	%%	a '%'
 *
 * If the template has no %s, ".sNNNN" is inserted before ".hatf".  If the
 * template has no ".hatf" either, ".sNNNN" is inserted before ".gz" at the end,
 * or else appended.  Without %s, the name of the first segment has ".sNNNN"
 * only if 'numbers_all' is set.
 *
 * The caller owns 'template', which must outlive '*o', and sets 'o->names'
 * before it opens the first file.
 */
void output_init(struct output *o, const char *template, bool numbers_all);

/* Does the template have %p, so that each process has its own file? */
bool output_has_pid(const char *template);

/* Copy '*from'.  Of its two large buffers, copy only the used bytes. */
void output_copy(struct output *to, const struct output *from);

/*
 * Create the file of a segment.  If a regular file with the name of the segment
 * exists, increase the running number until the name is free.  The number is in
 * the place of %n.  If the template has no %n, the number is in a suffix: ".1",
 * ".2" and so on.  The file has mode 0600 and is closed on exec.  Return 0 or
 * an errno value (EEXIST: a file that is not regular has the name).  After an
 * error 'path' has the name that failed.  If 'o->fd' is open, this function
 * does not close it.
 */
int output_open(struct output *o, uint64_t segment);

/*
 * Return a text to append to the message about the first output_open() or
 * output_write() that failed.  The text advises the user to begin the trace
 * earlier.  The text is "" if an earlier beginning would not help.
 */
const char *output_advice(const struct output *o, int error, bool begin_now);

/*
 * Fill in 'path' with a free name, the one that output_open() will try first.
 * Another process may take this name before output_open() does.  Return 0 or
 * ENAMETOOLONG.
 */
int output_find_name(struct output *o, uint64_t segment);

/*
 * The writer thread calls this.  Open the directory of the trace's current
 * file.  Later files then go there even if the directory is renamed.  If the
 * directory's name contains %n, or if the current file is no longer in the
 * directory, continue to use full names.
 */
void output_hold_directory(struct output *o);

/*
 * The writer thread calls this.  Open, with O_PATH, the folder that contains
 * all files of the trace, directly or in folders below it.  Return the
 * descriptor, or -1 with errno.
 */
int output_open_root(const struct output *o);

/*
 * Mark the descriptors of the file and of its directory as closed.  The writer
 * thread is about to end, and the kernel will close them.
 */
void output_forget(struct output *o);

/*
 * Append the 'nbytes' bytes of 'data'.  Return 0 or an errno value.  After an
 * error the file is cut to its old length.  If the file cannot be cut,
 * 'is_torn' is set and the file ends with a part of 'data'.  All signals must
 * be blocked, since a write beyond RLIMIT_FSIZE raises SIGXFSZ.
 */
int output_write(struct output *o, const void *data, size_t nbytes);

/*
 * Open the file of the trace again.  The file must have the length 'o->nbytes'.
 * Return the descriptor, or -1 with errno.
 */
int output_reopen_trace(const struct output *o);

/* Has the file of the trace been removed? */
bool output_is_removed(const struct output *o);

/* Close the file. */
void output_close(struct output *o);

/* Remove the open file, and close it. */
void output_discard(struct output *o);

/* Return the file's name without its directory: a pointer into 'path'. */
const char *output_base(const struct output *o);

/*
 * Remove the file of the earlier segment 'segment'.  'number' is the running
 * number in the file's name.  If the name no longer belongs to the file
 * 'id', do nothing.
 */
void output_remove(const struct output *o, uint64_t segment, uint64_t number,
		   const struct file_id *id);

#endif /* OUTPUT_H */
