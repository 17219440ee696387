/* SPDX-License-Identifier: MIT */
/*
 * short_report.h - what a program did with its heap, in three lines
 *
 * 'hatf record' prints it after its line about the trace: the peak, what lives
 * at the end, what was allocated, each with its largest call site; and the
 * command that shows more.
 */
#ifndef SHORT_REPORT_H
#define SHORT_REPORT_H

#include "tools/recording/collect.h"

/* A larger trace is not read; 32 million events take about this much. */
#define SHORT_REPORT_NBYTES_MAX ((uint64_t)64 << 20)

/*
 * Print the report of the last trace of the command's own process to standard
 * error, or why there is none.  Nothing is printed without such a trace, and if
 * it is incomplete.
 */
void short_report_print(const struct collection *c);

#endif /* SHORT_REPORT_H */
