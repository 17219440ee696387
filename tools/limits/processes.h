/* SPDX-License-Identifier: MIT */
/* processes.h - the processes whose traces 'hatf check' reads */
#ifndef PROCESSES_H
#define PROCESSES_H

#include "tools/trace/process_tree.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * One image of a process (process_tree.h).  The operands, and the tree in
 * 'struct processes', own the strings.
 */
struct process {
	/*
	 * base name of the executable; if it is unknown, the path of the trace
	 */
	const char *name;
	bool is_named;	    /* 'name' is the name of the executable */
	const char **paths; /* paths of the trace or of its segments */
	size_t path_count;
};

/* A list of processes; starts as all zeros. */
struct processes {
	struct process *list;
	size_t count, cap;
	struct tree tree;
};

/*
 * Find the processes of files and directories.  Segments of one process make
 * one entry.  Each operand that is a pipe, a snapshot or a file without a HATF
 * header counts as a process of its own.  Fail if a file in a directory is
 * named like a trace but is not one.  On failure print a message and return
 * false.
 */
bool processes_find(struct processes *p, char **operands, size_t n);

void processes_free(struct processes *p);

#endif /* PROCESSES_H */
