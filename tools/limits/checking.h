/* SPDX-License-Identifier: MIT */
/* checking.h - compare processes with limits and a baseline */
#ifndef CHECKING_H
#define CHECKING_H

#include "tools/limits/judgement.h"

#include <stdio.h>

enum checking_form {
	CHECKING_TEXT,
	CHECKING_MARKDOWN,
	CHECKING_JSON,
};

/* What to check and how.  The caller owns the strings. */
struct checking {
	struct limits limits;
	const char *baseline; /* path of the file; NULL: none */
	bool update;	      /* write the baseline, do not compare with it */
	struct condition condition; /* the measures that must not grow */
	struct verdict_options verdict;
	struct gather_options gathering;
	enum checking_form form;
	bool has_annotations; /* also print annotations */
	/* if a limit matches nothing, report it as exceeded */
	bool fails_unused;
	const char *junit, *sarif; /* paths of files to write, or NULL */
};

/* Return the options of 'hatf check' without arguments. */
struct checking checking_defaults(void);

/*
 * Are the options of 'hatf check' consistent?  Then set the default of
 * 'condition' and return NULL.  Otherwise return what is wrong with them, as
 * one line for the user.
 */
const char *checking_settle(struct checking *checking);

/*
 * Check all processes and print the result to 'f'.  Return the exit status:
 * EXIT_FINE, EXIT_EXCEEDED, EXIT_INCOMPLETE, or after a message
 * EXIT_BAD_INPUT.
 */
int checking_run(const struct checking *checking,
		 const struct processes *processes, FILE *f);

#endif /* CHECKING_H */
