/* SPDX-License-Identifier: MIT */
/*
 * mend.h - complete the traces of processes that have ended abruptly
 *
 * A process that ends by a signal, or by a system call of its own as Go's run
 * time does, leaves a trace without a trailer, and its last events in a ring
 * file.
 */
#ifndef MEND_H
#define MEND_H

#include "tools/recording/collect.h"

/*
 * Complete each of these traces that has no trailer and whose process is gone,
 * and note which have a trailer then and what it says, and of which the process
 * goes on; and remove the ring files that processes which had given up
 * privileges could not remove.  How the command itself ended, 'l' tells.
 */
void mend_traces(struct collection *c, const struct launch *l);

#endif /* MEND_H */
