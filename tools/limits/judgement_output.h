/* SPDX-License-Identifier: MIT */
/*
 * judgement_output.h - print a judgement
 *
 * Names of a judgement are escaped, so a terminal can show them.  Errors of
 * the stream are the caller's to find.
 */
#ifndef JUDGEMENT_OUTPUT_H
#define JUDGEMENT_OUTPUT_H

#include "tools/limits/judgement.h"

#include <stdbool.h>
#include <stdio.h>

/* A line for each rule, and the findings below it. */
void judgement_print_text(FILE *f, const struct judgement *j);

/* A table of the rules and a list of the findings. */
void judgement_print_markdown(FILE *f, const struct judgement *j);

/*
 * A workflow command for each finding, "::error file=F,line=N::TEXT", which
 * GitHub shows beside the source.  The place is the site, or else the limit.
 */
void judgement_print_annotations(FILE *f, const struct judgement *j);

/*
 * The XML that CI systems know as JUnit's: a test case for each rule, skipped
 * if nothing matches it, and one for the traces being complete.
 */
void judgement_print_junit(FILE *f, const struct judgement *j);

/* One JSON object; its keys are in hatf-check(1).  False: no memory. */
bool judgement_print_json(FILE *f, const struct judgement *j);

/*
 * SARIF 2.1.0 (OASIS): a rule for each limit, a result for each finding.
 * Paths below the current directory are relative to it.  False: no memory.
 */
bool judgement_print_sarif(FILE *f, const struct judgement *j);

/* Where a finding is shown: at its site, or else at its limit. */
struct judgement_spot {
	char file[4096]; /* relative to the current directory if below it */
	uint64_t line;	 /* 0: unknown */
};

/* False: there is no place in a file. */
bool judgement_find_spot(const struct rule *r, const struct finding *f,
			 struct judgement_spot *spot);

#endif /* JUDGEMENT_OUTPUT_H */
