/* SPDX-License-Identifier: MIT */
/*
 * record_check.h - the check with which 'hatf record' ends, see checking.h
 */
#ifndef RECORD_CHECK_H
#define RECORD_CHECK_H

#include "tools/limits/checking.h"
#include "tools/recording/collect.h"

/* Do the options ask for a check? */
bool record_check_is_wanted(const struct checking *checking);

/*
 * Like checking_settle(), for the options of 'hatf record'.  'has_limits' says
 * whether --check was given.
 */
const char *record_check_settle(struct checking *checking, bool has_limits);

/*
 * Read the baseline, if there is one, before the command runs, so that the user
 * learns of a wrong file at once.  On failure print a message and return false.
 */
bool record_check_try_baseline(const struct checking *checking);

/*
 * Check the traces of the command and its descendants, and print the result to
 * standard error.  Return the exit status.
 */
int record_check_run(const struct checking *checking,
		     const struct collection *c);

#endif /* RECORD_CHECK_H */
