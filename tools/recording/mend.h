/* SPDX-License-Identifier: MIT */
/*
 * mend.h - complete the traces of processes that ended abruptly
 *
 * If a process is killed by a signal, or ends by a direct system call as Go's
 * run time does, its trace has no trailer, and its last events are still in a
 * ring file.
 */
#ifndef MEND_H
#define MEND_H

#include "tools/recording/collect.h"

/*
 * Handle each trace without a trailer.  If its process has ended, complete the
 * trace from the ring file; if its process is still running, mark the trace as
 * running.  Then store in 'c' which traces have a trailer and what the trailers
 * say.  Remove ring files that their processes could not remove after giving up
 * privileges.  'l' says how the command ended.
 */
void mend_traces(struct collection *c, const struct launch *l);

#endif /* MEND_H */
