/* SPDX-License-Identifier: MIT */
/*
 * header.h - the header comment: what is to be known of process and machine
 *
 * Called once per process, before it has a writer; all buffers are static,
 * since the thread that happens to make the first allocation may have a small
 * stack.
 */
#ifndef HEADER_H
#define HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hatf/recorder/config.h"
#include "preload/trace/output.h"

/* Of the child of a fork; 'pid' 0: this is none. */
struct header_parent {
	uint64_t pid;
	const char *trace; /* empty: it had none */
	uint64_t event;	   /* logical events of its trace before the fork */
	bool is_exact;
	uint64_t fork; /* which of its forks; 0: not known */
};

/* The environment; read from the system if libc has not got it yet. */
char *const *header_environment(void);

/* For the name of the file. */
const struct output_names *header_names(void);

struct header_text {
	const char *text; /* not NUL-terminated */
	size_t nbytes;
};

/*
 * What the program is about to be called with, while a constructor of ours
 * runs, and NULL at its end.  In between no one needs to ask the kernel for it.
 */
void header_note_arguments(char *const argv[]);

/*
 * Note the object whose malloc() we stand in front of: before the process
 * forks, since it takes a lock of the loader's.
 */
void header_note_allocator(void);

/*
 * Build what the comments of all segments have in common, as it is when
 * recording starts; 'start_ns' is time 0 of the trace on CLOCK_MONOTONIC.
 */
void header_build(const struct config *config,
		  const struct header_parent *parent, uint64_t start_ns);

/*
 * Add, once, the lineage and the name of the ring file, if there is one.
 * Reading the lineage takes longer than building all the rest, and only a file
 * needs it.  Writer thread.
 */
void header_complete(void);

/*
 * The comment of one segment, with 'lines' of its own, at most
 * HEADER_LINES_NBYTES; valid until the next call of any of these.  Writer
 * thread, once there is one.
 */
#define HEADER_LINES_NBYTES 1024
struct header_text header_extend(const char *lines, size_t nbytes);

#endif /* HEADER_H */
