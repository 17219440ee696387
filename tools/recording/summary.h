/* SPDX-License-Identifier: MIT */
/*
 * summary.h - what 'hatf record' says of the traces that there are
 *
 * It says what these traces tell, and no more: a process that left neither a
 * trace nor a note is not known of.
 */
#ifndef SUMMARY_H
#define SUMMARY_H

#include "tools/recording/collect.h"

/*
 * " (+ 1 trace before exec, 3 traces of child processes, nothing lost in
 * these)", or "" if there are none.
 */
void summary_describe_others(const struct collection *c, char *buf, size_t cap);

/*
 * The line about the traces of the command's own process, of which there is at
 * least one.  False if one is not complete.
 */
bool summary_report_own(const struct collection *c);

/* Say which traces of child processes are not complete; true if none is. */
bool summary_check_children(const struct collection *c);

#endif /* SUMMARY_H */
