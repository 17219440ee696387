/* SPDX-License-Identifier: MIT */
/*
 * short_report.h - the heap usage of a program in three lines
 *
 * 'hatf record' prints this report after its line about the trace.  The report
 * shows the peak, the live bytes at the end and the allocated bytes, each with
 * its largest call site, and names a command that shows more.  If a child
 * process has a larger trace, the report also names that trace.
 */
#ifndef SHORT_REPORT_H
#define SHORT_REPORT_H

#include "tools/recording/collect.h"

struct stack_view_options; /* tools/sites/stack_view.h */

/*
 * Maximum size, in bytes, of a trace for which a report is made.  32 million
 * events take about this many bytes.
 */
#define SHORT_REPORT_NBYTES_MAX ((uint64_t)64 << 20)

/*
 * Print the report of the last trace of the command's own process to standard
 * error.  'view' chooses the frames that may be sites.  If the trace cannot be
 * read, print the reason.  For a segment after the first, or for a trace of
 * more than SHORT_REPORT_NBYTES_MAX, omit the figures, and print only the lines
 * that name commands.  Print nothing if there is no such trace, or if the trace
 * is incomplete.
 */
void short_report_print(const struct collection *c,
			const struct stack_view_options *view);

#endif /* SHORT_REPORT_H */
