/* SPDX-License-Identifier: MIT */
/*
 * judgement_output.h - print a judgement
 *
 * Names of a judgement are escaped, so a terminal can show them.  The caller
 * checks the stream for errors.
 */
#ifndef JUDGEMENT_OUTPUT_H
#define JUDGEMENT_OUTPUT_H

#include "tools/limits/judgement.h"

#include <stdbool.h>
#include <stdio.h>

/* Print a line for each rule, the findings below it, and a summary. */
void judgement_print_text(FILE *f, const struct judgement *j);

/*
 * Print a table of the rules, a list of the findings and incomplete traces, and
 * a summary.
 */
void judgement_print_markdown(FILE *f, const struct judgement *j);

/*
 * Print a workflow command for each finding, "::error file=F,line=N::TEXT",
 * which GitHub shows beside the source.  The place comes from
 * judgement_find_spot().  Also print a command without a place for each
 * incomplete trace.
 */
void judgement_print_annotations(FILE *f, const struct judgement *j);

/*
 * Print XML in JUnit's format, which CI systems read.  The XML contains a test
 * case for each rule.  If nothing matches a limit, the limit's case is
 * marked as skipped or, with 'fails_unused', as failed.  One more test case has
 * an error if a trace is incomplete.
 */
void judgement_print_junit(FILE *f, const struct judgement *j);

/*
 * Print one JSON object; hatf-check(1) lists its keys.  Return false if there
 * is no memory.
 */
bool judgement_print_json(FILE *f, const struct judgement *j);

/*
 * Print SARIF 2.1.0 (OASIS): a rule for each limit and each condition, and a
 * result for each finding.  Limits that differ only in their amounts are one
 * rule.  GitHub wants a location in each result, so a finding for which
 * judgement_find_spot() finds no spot has the path of a trace as its location.
 * Paths of source files below the current
 * directory are relative to this directory.  Return false if there is no
 * memory.
 */
bool judgement_print_sarif(FILE *f, const struct judgement *j);

/*
 * The place to show for a finding.  It is the first of these that is known:
 *
 *	1. the source line of the finding's site, if the source file is in the
 *	   current directory or below
 *	2. the line of the limit in a file of limits
 *	3. the file of the baseline
 *	4. the source file of the finding's site, wherever it is
 */
struct judgement_spot {
	/*
	 * The path of a source file in the current directory or below is
	 * relative to this directory.
	 */
	char file[4096];
	uint64_t line; /* 0: unknown */
};

/* Find the spot of a finding.  Return false if there is none. */
bool judgement_find_spot(const struct rule *r, const struct finding *f,
			 struct judgement_spot *spot);

#endif /* JUDGEMENT_OUTPUT_H */
