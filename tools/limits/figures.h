/* SPDX-License-Identifier: MIT */
/*
 * figures.h - the values of one process for all measures of limits
 *
 * The figures of a rotated trace combine those of its segments: the highest
 * peak, the largest allocation, the live blocks at the end of the last segment,
 * and the sums of all other figures.  Blocks that a forked child inherits
 * belong to its parent and do not count.  Only one thread may use a 'struct
 * figures'.
 */
#ifndef FIGURES_H
#define FIGURES_H

#include "tools/compare/comparison.h"
#include "tools/limits/limit.h"
#include "tools/limits/processes.h"

/* The place in the source that allocates; strings may be NULL. */
struct figures_place {
	char *site; /* name of the site, as in 'hatf stat' */
	char *file; /* path of the source file, as in the debug information */
	uint64_t line;
};

struct figures {
	const struct process *process;
	/*
	 * The rows of LIMIT_PROCESS, and of each scope that figures_read() was
	 * asked for.
	 */
	struct comparison rows[LIMIT_SCOPE_COUNT];
	uint64_t single;	/* size of the largest allocation */
	uint64_t single_stack;	/* id of this allocation's stack; 0: none */
	bool lacks_stacks;	/* a trace has allocations, but no stacks */
	struct gathering *last; /* census of the last segment */
	/* Why a trace is incomplete; NULL: all are complete. */
	char *fault;
};

/*
 * Read the traces of a process.  'scopes' has a bit, 1 << scope, for each scope
 * of rows that is needed.  On failure print a message and return false.  The
 * caller frees the figures by figures_free() in either case.
 */
bool figures_read(struct figures *f, const struct process *process,
		  unsigned scopes, const struct gather_options *options);

/*
 * Compute the value of 'measure', which must not be LIMIT_SINGLE, from the
 * measured values.
 */
uint64_t figures_measure(const struct measured *m, enum limit_measure measure);

/*
 * Find the place with the largest amount of a measure, in the whole process or,
 * if 'row_name' is not NULL, in that row.  The place is unknown if 'scope' is
 * LIMIT_THREAD or LIMIT_HEAP, or if the trace is rotated and 'measure' is not
 * LIMIT_LIVE.  All strings of an unknown place are NULL.  The caller frees the
 * strings by figures_place_free().
 */
struct figures_place figures_find_place(const struct figures *f,
					enum limit_scope scope,
					const char *row_name,
					enum limit_measure measure);
void figures_place_free(struct figures_place *place);

void figures_free(struct figures *f);

#endif /* FIGURES_H */
