/* SPDX-License-Identifier: MIT */
/*
 * collect.h - the traces that a command has left
 *
 * libhatftrace.so names its files by what only it knows (the executable, a number
 * when a name is taken), so the files are found by pattern and recognised by
 * their headers: process id, parents, and a process that is not older.
 */
#ifndef COLLECT_H
#define COLLECT_H

#include "tools/recording/launch.h"

#include <stddef.h>

/* Parent, process that forked it, and ancestors that a header names. */
#define COLLECT_ANCESTORS_MAX 10

struct collected_trace {
	char *path;
	char *exe; /* executable, "" if not known */
	uint64_t pid;
	uint64_t from[COLLECT_ANCESTORS_MAX]; /* processes that it comes from */
	unsigned from_count;
	uint64_t start_ns;     /* CLOCK_MONOTONIC */
	uint64_t pid_start_ns; /* of the process, see started.h; 0: unknown */
	uint64_t unit_ns;      /* of times, see scan_unit_ns() */
	/* Of a segment, what those before it have come to; else 0. */
	uint64_t segment, events_before, lost_before, bytes_before;
	bool is_noted; /* by a process of the tree, see notebook.h */
	bool is_late;  /* as its header says: begun after the process */
	bool has_trailer;
	bool is_complete; /* as its trailer says */
	bool has_execed;  /* likewise: the process went on as another program */
	bool has_stopped; /* likewise: it ended by an order */
	bool is_mended;	  /* the trailer is ours, see mend.h */
	bool is_running;  /* its process goes on, see mend.h */
	bool has_vanished; /* 'has_execed' to nothing, see notebook.h */
};

/* What was found, in order of start. */
struct collection {
	struct collected_trace *traces;
	size_t count, cap;
	size_t own_count;	 /* of the command's process itself */
	size_t descendant_count; /* of processes that come from it */
};

/* Find what the command 'l' has written by the absolute template 'text'.  False
 * without memory. */
bool collect(struct collection *c, const char *text, const struct launch *l);

/*
 * Find the descendants again, once some have been noted: in a PID namespace the
 * numbers in their headers do not lead to the command.
 */
void collect_noted(struct collection *c, const struct launch *l);

void collect_free(struct collection *c);

/* How many of the last traces of the command's own process are segments of one. */
size_t collect_segments(const struct collection *c);

/* What the summary says about one trace, with the segments before it. */
struct collect_summary {
	uint64_t event_count, lost_count, file_nbytes;
	uint64_t duration_ns;
	bool has_duration;
	bool complete;	 /* all is there, as 'hatf info' has it */
	char error[80];	 /* why it ended early, as its trailer says; or empty */
	char fault[256]; /* why it cannot be read to a good end; or empty */
};

/* From the trailer, or if there is none by reading the trace.  False if it
 * cannot be read at all, which has been said then. */
bool collect_summary(const struct collected_trace *trace,
		     struct collect_summary *ret);

#endif /* COLLECT_H */
