/* SPDX-License-Identifier: MIT */
/*
 * summary.h - the report of 'hatf record' about the traces
 *
 * The report covers existing traces only.  'hatf record' does not know about a
 * process that left neither a trace nor a note (notebook.h).
 */
#ifndef SUMMARY_H
#define SUMMARY_H

#include "tools/recording/collect.h"

/*
 * Describe the traces other than the last one of the command's own process, as
 * in " (+ 1 trace before exec, 3 traces of child processes, no events lost in
 * these)".  Write this to 'buf', truncated to 'cap' bytes; "" if there are no
 * other traces.
 */
void summary_describe_others(const struct collection *c, char *buf, size_t cap);

/*
 * Print the line about the last trace of the command's own process, and a line
 * for each earlier trace of this process that is incomplete.  If the name of
 * the last trace was taken, print another line first.  'text' is the absolute
 * template of the names.  The process must have at least one trace.  Return
 * false if any of these traces is incomplete.
 */
bool summary_report_own(const struct collection *c, const char *text);

/*
 * Print a line for each incomplete trace of a child process.  Return true if
 * all traces of child processes are complete.
 */
bool summary_check_children(const struct collection *c);

#endif /* SUMMARY_H */
