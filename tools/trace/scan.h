/* SPDX-License-Identifier: MIT */
/*
 * scan.h - one trace, read from end to end as events
 *
 * What info, verify and record share: open, read in batches with progress
 * shown, and sort out how it ended.
 */
#ifndef SCAN_H
#define SCAN_H

#include "hatf/hatf.h"
#include "tools/ui/progress.h"

/* Events a batch. */
#define SCAN_BATCH 1024

struct scan {
	const char *path;
	struct hatf_reader *reader;
	struct hatf_events *events;
	struct progress progress;
	enum hatf_status status; /* of the last read */
	unsigned next_count;	 /* calls of scan_next(), modulo a batch */
	enum hatf_heritage heritage;
	struct hatf_event batch[SCAN_BATCH];
};

/*
 * Open 'path' with the options of hatf_reader_open(), or say why not and return
 * false.  With 'inherit' the trace of a forked child begins with what it has from
 * its parent, whose trace is read first (hatf_events_inherit()).
 */
bool scan_open(struct scan *s, const char *path,
	       const struct hatf_reader_options *options, bool inherit);

/*
 * A reader of a file that a directory or another file named (HATF_READER_FOUND);
 * NULL if it is no trace.
 */
struct hatf_reader *scan_found(const char *path);

/*
 * A forked child whose parent's blocks are not known, though they were asked for:
 * why, or NULL.
 */
const char *scan_unknown_heritage(const struct scan *s);

/*
 * Read the next batch; returns how many events are in 'batch'.  0 is the end,
 * good or bad: scan_fault() tells.
 */
size_t scan_read(struct scan *s);

/*
 * Likewise, but one event, so that the live set is as it was right after that: NULL is
 * the end.
 */
const struct hatf_event *scan_next(struct scan *s);

/* Before what the trailer says of calls that the recorder did not see. */
#define SCAN_MISSED "calls went past the recorder: "

/*
 * After the last scan_read(): NULL if the trace was read to its end and says
 * that it is complete, or else why not, in 'buf'.
 */
const char *scan_fault(const struct scan *s, char *buf, size_t nbytes);

/* Likewise: the process that is still writing the trace; 0: there is none. */
uint64_t scan_writer(const struct scan *s);

void scan_close(struct scan *s);

/* Nanoseconds that a time of 1 stands for, by the header's word for the unit;
 * 0 if times mean nothing. */
uint64_t scan_unit_ns(const char *unit);

/* last - first in ns.  False if the trace has no usable times. */
bool scan_duration_ns(const struct scan *s, uint64_t *ns_ret);

#endif /* SCAN_H */
