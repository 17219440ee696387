/* SPDX-License-Identifier: MIT */
/*
 * descendants.h - find the traces of a command's descendants
 *
 * The command's children write the traces, so any number of traces may claim
 * any parents.  The work is O(n log n) in the number of traces.  Not
 * thread-safe.
 */
#ifndef DESCENDANTS_H
#define DESCENDANTS_H

#include "tools/recording/collect.h"

#include <stdbool.h>

/*
 * Move the traces of the command's descendants to the front of those of other
 * processes, in the same order as before, and count them.  A trace is one of
 * them if it has a note, or if its process or one of the ancestors in its
 * header is the command or has a trace that is one of them.  The rest are
 * traces of unrelated programs, which may write to the same directory at the
 * same time.
 *
 * Return false, with the collection unchanged, if out of memory.
 */
bool descendants_find(struct collection *c, const struct launch *l);

#endif /* DESCENDANTS_H */
