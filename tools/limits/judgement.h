/* SPDX-License-Identifier: MIT */
/*
 * judgement.h - hold the figures of processes against limits
 *
 * Give the figures of one process after the other, then end.  Memory is
 * O(limits + findings), and only so many findings of a limit are kept.  One
 * thread uses a judgement.
 */
#ifndef JUDGEMENT_H
#define JUDGEMENT_H

#include "tools/compare/condition.h"
#include "tools/limits/figures.h"
#include "tools/limits/limit.h"
#include "tools/ui/figure.h"

/* The findings of a rule that are kept, those with the largest values. */
#define FINDINGS_MAX 100

/* What exceeds a limit, or, if nothing does, comes closest to it. */
struct finding {
	char *process; /* its name, escaped; NULL: the tree */
	char *trace;   /* its last file, escaped; NULL: the tree */
	char *row;     /* escaped; NULL: the whole process */
	struct figures_place place;
	uint64_t value;
	char *message; /* the finding in a sentence */
};

/* A limit, or a condition on the growth since a baseline, and what it found. */
struct rule {
	char *text;   /* "site parse_* live-at-end 0" */
	char *origin; /* "heap.limits:3"; NULL: a baseline's condition */
	bool has_worst;
	struct finding worst; /* if nothing exceeds the rule */
	struct figure worst_text;
	struct finding *findings;
	size_t finding_count; /* of those kept */
	uint64_t exceeded_count;
};

struct judgement {
	const struct limits *limits;
	struct rule *rules; /* for each limit one, then the conditions */
	size_t rule_count;
	unsigned scopes; /* that figures_read() needs to have */
	uint64_t process_count;
	/* The sums of all processes; 'single' is the largest. */
	struct measured tree;
	uint64_t tree_single;
	char **faults; /* why traces are incomplete */
	size_t fault_count;
	bool no_memory;
};

/* Begin; 'limits' stays the caller's.  False: no memory. */
bool judgement_begin(struct judgement *j, const struct limits *limits);

/* Does a limit need call stacks? */
bool judgement_needs_stacks(const struct judgement *j);

/* Hold a process against all limits.  False: no memory. */
bool judgement_add(struct judgement *j, const struct figures *figures);

/*
 * Add a rule for each condition that was asked of a baseline.  Call after the
 * comparison was judged.  False: no memory.
 */
bool judgement_add_conditions(struct judgement *j,
			      const struct condition *condition,
			      const struct comparison *comparison);

/* After the last process: hold the sums against the limits of the tree. */
bool judgement_end(struct judgement *j);

/* How many rules are exceeded. */
size_t judgement_exceeded(const struct judgement *j);

void judgement_free(struct judgement *j);

#endif /* JUDGEMENT_H */
