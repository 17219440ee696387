/* SPDX-License-Identifier: MIT */
/* processes.h - the processes of the traces that 'hatf check' is given */
#ifndef PROCESSES_H
#define PROCESSES_H

#include "tools/trace/process_tree.h"

#include <stdbool.h>
#include <stddef.h>

/* One image of a process.  The strings belong to the list. */
struct process {
	const char *name;   /* of the executable without folders, or the file */
	const char **paths; /* traces: several if the trace was rotated */
	size_t path_count;
};

/* Begins as all zeros. */
struct processes {
	struct process *list;
	size_t count, cap;
	struct tree tree;
};

/*
 * Find the processes of files and directories.  Segments of one process make
 * one entry; a file that no recorder of ours wrote is a process of its own.
 * On failure print a message and return false.
 */
bool processes_find(struct processes *p, char **operands, size_t n);

void processes_free(struct processes *p);

#endif /* PROCESSES_H */
