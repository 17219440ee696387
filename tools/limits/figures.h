/* SPDX-License-Identifier: MIT */
/*
 * figures.h - what one process has of each measure that a limit can be for
 *
 * The figures of a rotated trace are those of its segments together: the
 * highest peak, what lives at the end of the last segment, and the sums of all
 * else.  Blocks that a forked child inherits are its parent's, and do not
 * count.  One thread uses figures.
 */
#ifndef FIGURES_H
#define FIGURES_H

#include "tools/compare/comparison.h"
#include "tools/limits/limit.h"
#include "tools/limits/processes.h"

/* Where in the source memory comes from; strings may be NULL. */
struct figures_place {
	char *site; /* as 'hatf stat' names a site */
	char *file; /* as the debug information has the path */
	uint64_t line;
};

struct figures {
	const struct process *process;
	/* By enum limit_scope; those that no limit needs are empty. */
	struct comparison rows[LIMIT_SCOPE_COUNT];
	uint64_t single; /* size of the largest allocation */
	uint64_t single_stack;
	bool lacks_stacks;	/* a trace has allocations and no call stack */
	struct gathering *last; /* of the last segment */
	char *fault;		/* why a trace is incomplete; NULL: it is not */
};

/*
 * Read the traces of a process.  'scopes' has a bit, 1 << scope, for each scope
 * of rows that is needed.  On failure print a message and return false.  The
 * caller frees the figures by figures_free() in either case.
 */
bool figures_read(struct figures *f, const struct process *process,
		  unsigned scopes, const struct gather_options *options);

/* The values of a row, which may be the 'total' of a comparison. */
struct measured figures_combine(const struct comparison *c,
				const struct comparison_row *row);

/* A measure that is made from values; not LIMIT_SINGLE. */
uint64_t figures_measure(const struct measured *m, enum limit_measure measure);

/*
 * Find the place of most of a measure: of all, or with a row's name of that
 * row.  Only the last segment is searched.  The caller frees the strings by
 * figures_place_free(); all are NULL if nothing is known.
 */
struct figures_place figures_find_place(const struct figures *f,
					enum limit_scope scope,
					const char *row_name,
					enum limit_measure measure);
void figures_place_free(struct figures_place *place);

void figures_free(struct figures *f);

#endif /* FIGURES_H */
