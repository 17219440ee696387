/* SPDX-License-Identifier: MIT */
/*
 * complaints.h - messages about processes that cannot carry out an order
 * (prefix: complaint_)
 *
 * Each message is one line.  The line names the process, gives the reason and,
 * if the user can do something about the reason, says what.
 */
#ifndef COMPLAINTS_H
#define COMPLAINTS_H

#include "tools/control/tracer_client.h"

#include <sys/types.h>

/*
 * The process has not answered.  'e' is the errno value that explains this.
 */
void complaint_no_answer(const struct tracer_answer *r, int e);

/* The process is dormant, and 'order' needs a process that records. */
void complaint_not_recording(pid_t pid, const char *order);

/* The process has had too few events for a trace. */
void complaint_too_few_events(pid_t pid);

#endif /* COMPLAINTS_H */
