/* SPDX-License-Identifier: MIT */
/*
 * judgement.h - compare the figures of processes with limits
 *
 * Add the figures of one process after the other, then call judgement_end().
 * All processes together are called the tree.  Memory is O(limits + findings);
 * a limit keeps at most FINDINGS_MAX findings.  Only one thread may use a
 * judgement.
 */
#ifndef JUDGEMENT_H
#define JUDGEMENT_H

#include "tools/compare/condition.h"
#include "tools/limits/figures.h"
#include "tools/limits/limit.h"
#include "tools/ui/figure.h"

/*
 * Maximum number of findings that a rule keeps.  It keeps those with the
 * largest values.
 */
#define FINDINGS_MAX 100

/*
 * A value that exceeds a limit, or a growth that meets a condition.  As the
 * member 'worst' of a rule: the largest value that does not exceed the limit.
 */
struct finding {
	/*
	 * name of the process, escaped; for a limit of the tree, name of the
	 * process with the largest share; NULL: no process
	 */
	char *process;
	char *trace; /* last file of 'process', escaped; NULL: none */
	/* name of the row, escaped; NULL: the whole process, or the tree */
	char *row;
	struct figures_place place;
	uint64_t value;
	char *message; /* the finding in a sentence */
};

/* A limit, or a condition on the growth since a baseline, with its findings. */
struct rule {
	char *text;	/* such as "site parse_* live-at-end 0" */
	char *origin;	/* such as "heap.limits:3"; NULL: a condition */
	char *baseline; /* path of the baseline, escaped; NULL: a limit */
	bool is_tree;	/* a limit of the tree: of all processes together */
	/* what a finding is, such as "site"; NULL: a condition */
	const char *unit;
	/* for a condition: the number of runs compared with the baseline */
	unsigned run_count;
	/* reported as exceeded, because nothing matches it */
	bool is_unmatched;
	bool has_worst;
	/* The largest of the values that do not exceed the limit. */
	struct finding worst;
	/*
	 * for a limit: the largest of all values that were compared with it;
	 * for a condition: the largest growth that meets it
	 */
	struct figure worst_text;
	/* For a limit of the tree: names the process with the largest share. */
	struct finding share;
	struct finding *findings;
	size_t finding_count; /* number of findings kept */
	uint64_t exceeded_count;
};

struct judgement {
	const struct limits *limits;
	struct rule *rules; /* one for each limit, then the conditions */
	size_t rule_count;
	/* Several processes have the same name, so name their traces, too. */
	bool names_traces;
	/* If a limit matches nothing, report it as exceeded. */
	bool fails_unused;
	uint64_t process_count;
	/* Sums over all processes, and the largest allocation of them all. */
	struct measured tree;
	uint64_t tree_single;
	char *trace; /* last file of the last process, escaped */
	/* for each process with an incomplete trace, what is wrong */
	char **faults;
	size_t fault_count;
	bool no_memory;
};

/*
 * Begin a judgement.  'limits' must stay valid until judgement_free().  Return
 * false if there is no memory.
 */
bool judgement_begin(struct judgement *j, const struct limits *limits);

/*
 * Return the scopes of the limits that apply to the process: a bit, 1 << scope,
 * for each.
 */
unsigned judgement_scopes(const struct judgement *j,
			  const struct process *process);

/* Does a limit that applies to the process need call stacks? */
bool judgement_needs_stacks(const struct judgement *j,
			    const struct process *process);

/*
 * Compare a process with the limits that apply to it, and add its figures to
 * the sums for the limits of the tree.  Return false if there is no memory.
 */
bool judgement_add(struct judgement *j, const struct figures *figures);

/*
 * Add a rule for each condition on the growth since a baseline.  'baseline' is
 * the path of the baseline's file.  The caller must have called
 * comparison_judge() for the comparison.  'figures' are the figures of a new
 * run; they give the places of rows in the source.  Return false if there is no
 * memory.
 */
bool judgement_add_conditions(struct judgement *j,
			      const struct condition *condition,
			      const struct comparison *comparison,
			      const char *baseline,
			      const struct figures *figures);

/*
 * After the last process, compare the sums with the limits of the tree and, if
 * 'fails_unused' is set, report limits that match nothing.  Return false if
 * there is no memory.
 */
bool judgement_end(struct judgement *j);

/* Return the number of rules that are exceeded. */
size_t judgement_exceeded(const struct judgement *j);

void judgement_free(struct judgement *j);

#endif /* JUDGEMENT_H */
