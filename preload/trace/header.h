/* SPDX-License-Identifier: MIT */
/*
 * header.h - the header comment: a description of the process and the machine
 *
 * The thread that starts the trace builds the header, once per process; the
 * writer thread then adds the lines of each segment.  All buffers are static,
 * since the thread that starts the trace may have a small stack.
 */
#ifndef HEADER_H
#define HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hatf/recorder/config.h"
#include "preload/trace/output.h"

/*
 * The parent of a forked child.  If 'pid' is 0, this process is not the child
 * of a fork.
 */
struct header_parent {
	uint64_t pid;
	const char *trace; /* "" if the parent had no trace */
	/* Number of logical events in the parent's trace before the fork. */
	uint64_t event;
	bool is_exact; /* is 'event' exact, or an estimate? */
	/* number of the fork among the parent's forks; 0: unknown */
	uint64_t fork;
};

/*
 * Return the environment.  If libc has not set 'environ' yet, read the
 * environment from the kernel.
 */
char *const *header_environment(void);

/* Return the values from which the names of the trace's files are built. */
const struct output_names *header_names(void);

struct header_text {
	const char *text; /* not NUL-terminated */
	size_t nbytes;
};

/*
 * The library's constructor calls this twice: at its beginning with the
 * program's arguments, and at its end with NULL.  Between the two calls, the
 * header takes the command line from 'argv' and not from the kernel.
 */
void header_note_arguments(char *const argv[]);

/*
 * Find the program or library that defines the allocator's malloc(), which the
 * recorder's malloc() calls.  Call this before the process forks, because this
 * function takes a lock of the loader, which another thread may hold during a
 * fork.
 */
void header_note_allocator(void);

/*
 * Build the lines that all segments share, from the state at the start of the
 * recording; 'start_ns' is time 0 of the trace on CLOCK_MONOTONIC.
 */
void header_build(const struct config *config,
		  const struct header_parent *parent, uint64_t start_ns);

/*
 * Only the thread that does the writer's work calls this.  Add more lines that
 * all segments share: the ancestors of the process and, if there is a ring
 * file, the name of the ring file.  Further calls do nothing until
 * header_build() is called again.  header_build() does not add these lines,
 * because reading the ancestors takes longer than building all other lines.
 */
void header_complete(void);

/*
 * Return the header comment of one segment.  The comment ends with 'lines',
 * which belong to this segment alone; 'nbytes' is their length, at most
 * HEADER_LINES_NBYTES.  The result is valid until the next call of
 * header_extend(), header_complete() or header_build().  If there is a writer
 * thread, only that thread may call this.
 */
#define HEADER_LINES_NBYTES 1024
struct header_text header_extend(const char *lines, size_t nbytes);

#endif /* HEADER_H */
