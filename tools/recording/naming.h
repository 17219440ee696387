/* SPDX-License-Identifier: MIT */
/* naming.h - add function names to the frames of the recorded traces */
#ifndef NAMING_H
#define NAMING_H

#include "tools/recording/collect.h"

/*
 * Does the recorder take call stacks by default?  It does so in builds for
 * x86-64.
 */
bool naming_has_stacks(void);

/* Which programs and libraries without debug information to report. */
enum naming_report {
	NAMING_REPORT_NONE,
	NAMING_REPORT_COMMAND, /* only the command's own program */
	NAMING_REPORT_ALL
};

/*
 * Write functions, files and lines into the finished traces of the command and
 * of its descendants, as 'hatf symbolize' does.  If this fails for a trace,
 * that trace stays unchanged, and a message states the reason.  After a signal
 * that asks this process to end, leave the remaining traces unchanged and print
 * a message.  For each object that 'report' chooses and that has no debug
 * information, print a line with its build id.
 */
void naming_symbolize(const struct collection *c, enum naming_report report);

#endif /* NAMING_H */
