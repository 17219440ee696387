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

/*
 * Write functions, files and lines into the complete traces of the command and
 * of its descendants, as 'hatf symbolize' does.  If this fails for a trace,
 * that trace stays unchanged, and a message states the reason.  After a signal
 * that asks this process to end, leave the rest of the traces as they are, and
 * say so.  With 'is_verbose', print a line for each object without debug
 * information.
 */
void naming_symbolize(const struct collection *c, bool is_verbose);

#endif /* NAMING_H */
