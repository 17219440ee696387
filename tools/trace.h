/* SPDX-License-Identifier: MIT */
/*
 * trace.h - one trace, read from end to end as events
 *
 * What info, verify and record share: open, read in batches with progress
 * shown, and sort out how it ended.
 */
#ifndef TRACE_H
#define TRACE_H

#include "hatf.h"
#include "progress.h"

/* Events a batch. */
#define TRACE_BATCH 1024

struct trace {
	const char *path;
	struct hatf_reader *reader;
	struct hatf_events *events;
	struct progress progress;
	enum hatf_status status; /* of the last read */
	struct hatf_event batch[TRACE_BATCH];
};

/* Open 'path', or say why not and return false. */
bool trace_open(struct trace *t, const char *path);

/*
 * Read the next batch; returns how many events are in 'batch'.  0 is the end,
 * good or bad: trace_fault() tells.
 */
size_t trace_read(struct trace *t);

/*
 * After the last trace_read(): NULL if the trace was read to its end and says
 * that it is complete, or else why not, in 'buf'.
 */
const char *trace_fault(const struct trace *t, char *buf, size_t nbytes);

void trace_close(struct trace *t);

/* Nanoseconds that a time of 1 stands for, by the header's word for the unit;
 * 0 if times mean nothing. */
uint64_t trace_unit_ns(const char *unit);

/* last - first in ns.  False if the trace has no usable times. */
bool trace_duration_ns(const struct trace *t, uint64_t *ns_ret);

#endif /* TRACE_H */
