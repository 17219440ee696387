/* SPDX-License-Identifier: MIT */
/*
 * descendants.h - find the traces of a command's descendants
 *
 * Headers are untrusted: any number of traces may name the same process as an
 * ancestor.  Even then, the search takes only O(n log n) for n traces.  Not
 * thread-safe.
 */
#ifndef DESCENDANTS_H
#define DESCENDANTS_H

#include "tools/recording/collect.h"

#include <stdbool.h>

/*
 * Among the traces of processes other than the command, move those of the
 * command's descendants to the front, in the same order as before, and count
 * them.
 *
 * A trace belongs to a descendant in three cases:
 * - A note (notebook.h) names the trace.
 * - Its header names the command, or a descendant found before, as an ancestor.
 * - It is another trace of a descendant found before.
 * All other traces are from unrelated programs, which may write to the same
 * directory at the same time.
 *
 * Return false, with the collection unchanged, if out of memory.
 */
bool descendants_find(struct collection *c, const struct launch *l);

#endif /* DESCENDANTS_H */
