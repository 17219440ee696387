/* SPDX-License-Identifier: MIT */
/* naming.h - give the frames of the recorded traces their functions */
#ifndef NAMING_H
#define NAMING_H

#include "tools/recording/collect.h"

/*
 * Does this build, on this machine, record call stacks unless the user says
 * otherwise?
 */
bool naming_has_stacks(void);

/*
 * Write functions, files and lines into the complete traces of the command and
 * of its descendants, as 'hatf symbolize' does.  A trace of which that fails
 * stays as it is, and a line says why.  With 'is_verbose', a line names each
 * object without debug information.
 */
void naming_symbolize(const struct collection *c, bool is_verbose);

#endif /* NAMING_H */
