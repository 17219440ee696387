/* SPDX-License-Identifier: MIT */
/*
 * collect.h - find the traces that a command wrote
 *
 * The names of the files depend on values that only libhatftrace.so knows: the
 * name of the executable, and the number that the library appends if a file
 * name is taken.  Therefore find files by a pattern, and check the process id,
 * the parents and the start of the process in their headers.  The process must
 * not be older than the command.  Not thread-safe.
 */
#ifndef COLLECT_H
#define COLLECT_H

#include "tools/recording/launch.h"

#include <stddef.h>

/*
 * Use at most this many of the processes that a header names as parent, as
 * forking process or as ancestor.
 */
#define COLLECT_ANCESTORS_MAX 10

struct collected_trace {
	char *path;
	char *exe; /* path of the executable, "" if unknown */
	uint64_t pid;
	/* process ids of parents and ancestors */
	uint64_t from[COLLECT_ANCESTORS_MAX];
	unsigned from_count;
	uint64_t start_ns; /* start of the trace, by CLOCK_MONOTONIC */
	/* start of the process, see started.h; 0: unknown */
	uint64_t pid_start_ns;
	/* nanoseconds per time unit of the trace, see scan_unit_ns() */
	uint64_t unit_ns;
	/*
	 * The number of this segment, from 0, and the sums over all earlier
	 * segments.
	 */
	uint64_t segment, events_before, lost_before, bytes_before;
	bool is_noted; /* a note names the trace, see notebook.h */
	bool is_late;  /* the header states that recording started late */
	bool has_trailer;
	bool is_complete; /* the trailer states that the trace is complete */
	/* a copy of the trace can say all that the trailer says */
	bool can_be_copied;
	/* the trailer says that the process executed another program */
	bool has_execed;
	bool has_stopped; /* the trailer says that recording was stopped */
	bool is_mended;	  /* mend_traces() wrote the trailer, see mend.h */
	bool is_running;  /* the process is still running, see mend.h */
	/* after this trace, the process executed a program that left none */
	bool has_vanished;
};

/*
 * The traces of the command's own process come first, in the order of their
 * start.  The traces of all other processes follow, in the order of their
 * paths.  descendants_find() divides the traces of other processes into two
 * parts: first the traces of descendants, in the order of process id, start and
 * segment, then unrelated traces, in the order of the paths.
 */
struct collection {
	struct collected_trace *traces;
	size_t count, cap;
	/* number of traces of the command's own process */
	size_t own_count;
	/*
	 * number of files with traces of the command's descendants; 0 before
	 * descendants_find()
	 */
	size_t descendant_count;
};

/*
 * Find the traces whose names match the absolute template 'text', but skip
 * traces of processes that are older than the command 'l'.  Return false if out
 * of memory.  The caller frees 'c' with collect_free().
 */
bool collect(struct collection *c, const char *text, const struct launch *l);

void collect_free(struct collection *c);

/* Count the segments of the last trace of the command's own process. */
size_t collect_segments(const struct collection *c);

/*
 * If the name of a trace is taken, for example "out.gz", the recorder appends a
 * number: "out.gz.1".  If this happened to the last trace of the command's own
 * process, and the file "out.gz" is not a trace of this run, return "out.gz",
 * which the caller frees.  Otherwise, or if out of memory, return NULL.  'text'
 * is as for collect().  There must be a trace of the command's own process.
 */
char *collect_taken_name(const struct collection *c, const char *text);

/*
 * Figures of one trace, including the figures of its earlier segments.  If an
 * earlier segment has lost events, 'complete' is false.
 */
struct collect_summary {
	uint64_t event_count, lost_count, file_nbytes;
	uint64_t duration_ns;
	bool has_duration;
	bool complete; /* the trace has all events, as 'hatf info' judges */
	/* why the trace ended early, as its trailer says, or empty */
	char error[80];
	/*
	 * why the trace could not be read to its end, or which calls bypassed
	 * the recorder, or empty
	 */
	char fault[256];
};

/*
 * Get the figures from the trailer.  Read the whole trace if there is no
 * trailer, or if the trailer says that the trace is incomplete, but not why.
 * If the trace cannot be read at all, print an error message and return false.
 */
bool collect_summary(const struct collected_trace *trace,
		     struct collect_summary *ret);

#endif /* COLLECT_H */
