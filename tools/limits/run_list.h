/* SPDX-License-Identifier: MIT */
/*
 * run_list.h - the runs whose traces 'hatf diff' reads
 *
 * The segments of one rotated trace together are one run, even if the user
 * lists them one by one.  Any other file is a run of its own.  A directory is a
 * run, too; it must have the traces of exactly one process.
 */
#ifndef RUN_LIST_H
#define RUN_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* One run of a program. */
struct run_traces {
	char **paths; /* paths of all segments in order, or of one file */
	size_t path_count;
	/*
	 * 'paths' are segments of one process, or the only trace in a
	 * directory.
	 */
	bool is_rotated;
};

/* A list of runs; starts as all zeros. */
struct run_list {
	struct run_traces *list;
	size_t count, cap;
};

/*
 * Append the runs of files and directories.  Only the headers and trailers of
 * the files are read.  On failure print a message and return false.
 */
bool run_list_find(struct run_list *runs, char **operands, size_t n);

void run_list_free(struct run_list *runs);

#endif /* RUN_LIST_H */
