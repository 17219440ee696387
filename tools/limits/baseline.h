/* SPDX-License-Identifier: MIT */
/*
 * baseline.h - the figures of some runs in a file that a project keeps
 *
 * The file is JSON, with a line for each row, so that a version control system
 * shows what changed:
 *
 * 	{"hatf_baseline": 1, "by": "site", "runs": 3, "program": "app",
 * 	"wrappers": ["xmalloc*"],
 * 	"total": {"peak": [9000, 9010, 9000], "live": 512, ...},
 * 	"rows": {
 * 	"parse (parse.c)": {"allocated": 4096, "allocations": 12},
 * 	...
 * 	}}
 *
 * If all runs have the same number for a measure, the number is written once.
 * If this number is 0, the measure is omitted.  A row is omitted if each of its
 * measures is less than 1/10000 of the same measure in "total".  "program" is
 * omitted if it is unknown, "wrappers" and "raw_stacks" if the user did not set
 * them.
 */
#ifndef BASELINE_H
#define BASELINE_H

#include "tools/compare/comparison.h"

#include <stdbool.h>

struct baseline;

/*
 * Read a baseline.  On failure print a message and return NULL.  The caller
 * frees the result by baseline_close(), which allows NULL.
 */
struct baseline *baseline_open(const char *path);
void baseline_close(struct baseline *b);

/* Return the number of runs: at least 1. */
unsigned baseline_runs(const struct baseline *b);

/*
 * Are the rows of the baseline call sites?  Otherwise each row is a pair of a
 * thread and a size class.
 */
bool baseline_has_sites(const struct baseline *b);

/* Return the name of the program of the runs; NULL if it is unknown. */
const char *baseline_program(const struct baseline *b);

/*
 * Set the wrappers and 'is_raw' of 'view' to those of the baseline, because the
 * names of sites depend on them.  If the user chose other wrappers, or chose
 * --raw-stacks for a baseline that was made without this option, print a
 * message and return false.  The baseline keeps ownership of the wrappers.
 */
bool baseline_fit_view(const struct baseline *b,
		       struct stack_view_options *view);

/*
 * Put the runs into the first columns of a comparison.  On failure print a
 * message and return false.
 */
bool baseline_put(const struct baseline *b, struct comparison *c);

/*
 * Write all columns of a comparison to the file 'path', by output_file_write().
 * Each column must be a run of 'program', which may be NULL.  On failure print
 * a message and return false.
 */
bool baseline_write(const char *path, const struct comparison *c,
		    const char *program, const struct stack_view_options *view);

#endif /* BASELINE_H */
