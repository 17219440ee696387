/* SPDX-License-Identifier: MIT */
/*
 * scan.h - read one trace from start to end as events
 *
 * A scan opens the trace, reads it in batches, shows the progress, and tells
 * how the trace ended.
 */
#ifndef SCAN_H
#define SCAN_H

#include "hatf/hatf.h"
#include "tools/ui/progress.h"

/* Events per batch. */
#define SCAN_BATCH 1024

struct scan {
	const char *path;
	struct hatf_reader *reader;
	struct hatf_events *events;
	struct progress progress;
	enum hatf_status status; /* status of the last read */
	unsigned next_count;	 /* number of calls of scan_next() */
	enum hatf_heritage heritage;
	struct hatf_event batch[SCAN_BATCH];
};

/*
 * Open 'path' with the options of hatf_reader_open().  On failure print an
 * error message and return false.  If 'inherit' is set and the trace is of a
 * forked child, first read the trace of its parent, so that the blocks that the
 * child inherited are live from the start (hatf_events_inherit()).
 */
bool scan_open(struct scan *s, const char *path,
	       const struct hatf_reader_options *options, bool inherit);

/* Like scan_open(), but let 'events' number the live blocks. */
bool scan_open_numbered(struct scan *s, const char *path,
			const struct hatf_reader_options *options,
			bool inherit);

/*
 * Open a file that was found in a directory or named in another file, not named
 * by the user (HATF_READER_FOUND).  Return NULL if the file cannot be opened or
 * is not a trace.
 */
struct hatf_reader *scan_found(const char *path);

/*
 * If the caller asked for the inherited blocks of a forked child, and they are
 * not known exactly, return the reason, a static string.  Otherwise return
 * NULL.
 */
const char *scan_unknown_heritage(const struct scan *s);

/*
 * If the trace is a segment and does not have exactly the blocks that were live
 * at its start, return what this means for its figures, a static string.
 * Otherwise return NULL.
 */
const char *scan_unknown_start(const struct scan *s);

/*
 * Read the next batch.  Return the number of events in 'batch'.  0 means the
 * end or an error; scan_fault() tells which.
 */
size_t scan_read(struct scan *s);

/*
 * Like scan_read(), but read a single event.  After this call, 'events' knows
 * the blocks that are live right after this event.  Return NULL at the end or
 * after an error.
 */
const struct hatf_event *scan_next(struct scan *s);

/*
 * The text of scan_fault() begins with these words if the trailer says that no
 * event was lost, but that calls bypassed the recorder.
 */
#define SCAN_MISSED "calls bypassed the recorder: "

/*
 * After the last scan_read(): return NULL if the trace was read to its end and
 * is complete.  Otherwise return the reason: a static text, or a text in 'buf'.
 */
const char *scan_fault(const struct scan *s, char *buf, size_t nbytes);

/*
 * After the last scan_read(): return the id of the process that is still
 * writing the trace, or 0 if there is none.
 */
uint64_t scan_writer(const struct scan *s);

void scan_close(struct scan *s);

/*
 * Return the nanoseconds of a time unit.  'unit' is the word for the unit in
 * the header: "ns" or "us".  Return 0 for any other word and for NULL.
 */
uint64_t scan_unit_ns(const char *unit);

/*
 * Store the time from the first event to the last one, in nanoseconds.  Return
 * false if the trace has no usable times.
 */
bool scan_duration_ns(const struct scan *s, uint64_t *ns_ret);

/*
 * Does the trace itself say that it lacks blocks which were live when it began?
 */
bool scan_began_late(const struct scan *s);

#endif /* SCAN_H */
