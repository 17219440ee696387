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
 * Write the number of traces of child processes, "3 traces of child processes
 * in 7 of 20 segments", to 'buf', truncated to 'cap' bytes.  All segments of a
 * process are one trace.
 */
void summary_count_children(const struct collection *c, char *buf, size_t cap);

/*
 * Report the traces of the command's own process, which must have at least one.
 * Print these lines:
 * - a line for each incomplete trace before the last one;
 * - if the last trace has a number because its name was taken
 *   (collect_taken_name()), a line about this number;
 * - a line about the last trace.
 * 'text' is the absolute template of the names.  Return false if any of these
 * traces is incomplete.
 */
bool summary_report_own(const struct collection *c, const char *text);

/*
 * Print a line for each incomplete trace of a child process.  Return true if
 * all traces of child processes are complete.
 */
bool summary_check_children(const struct collection *c);

#endif /* SUMMARY_H */
