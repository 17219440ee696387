/* SPDX-License-Identifier: MIT */
/*
 * header.h - the header comment: a description of the process and the machine
 *
 * The thread that starts the trace builds the header, once per process; the
 * writer thread then completes it for each segment.  All buffers are static,
 * since the thread that makes the first allocation may have a small stack.
 */
#ifndef HEADER_H
#define HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hatf/recorder/config.h"
#include "preload/trace/output.h"

/* The parent of a forked child; 'pid' 0: this process is no such child. */
struct header_parent {
	uint64_t pid;
	const char *trace; /* "": the parent had no trace */
	uint64_t event;	   /* logical events of its trace before the fork */
	bool is_exact;	   /* 'event' is exact, not estimated */
	uint64_t fork;	   /* number of the fork in the parent; 0: unknown */
};

/* The environment, read from the kernel if libc has not set it yet. */
char *const *header_environment(void);

/* The values that go into the names of the trace's files. */
const struct output_names *header_names(void);

struct header_text {
	const char *text; /* not NUL-terminated */
	size_t nbytes;
};

/*
 * The library's constructor passes the program's arguments, and NULL before it
 * returns.  In between, the header takes the command line from 'argv' and not
 * from the kernel.
 */
void header_note_arguments(char *const argv[]);

/*
 * Find the object whose malloc() ours calls.  Call it before the process forks:
 * it takes a lock of the loader, which another thread may hold at a fork.
 */
void header_note_allocator(void);

/*
 * Build the lines that all segments share, from the state at the start of the
 * recording; 'start_ns' is time 0 of the trace on CLOCK_MONOTONIC.
 */
void header_build(const struct config *config,
		  const struct header_parent *parent, uint64_t start_ns);

/*
 * Once: add the lineage and the name of the ring file, if any.  Reading the
 * lineage takes longer than building all other lines, so it waits until a file
 * is about to be written.  Writer thread.
 */
void header_complete(void);

/*
 * The comment of one segment, with 'lines' of its own, at most
 * HEADER_LINES_NBYTES; valid until the next call of any of these functions.
 * Writer thread, once it exists.
 */
#define HEADER_LINES_NBYTES 1024
struct header_text header_extend(const char *lines, size_t nbytes);

#endif /* HEADER_H */
