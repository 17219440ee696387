/* SPDX-License-Identifier: MIT */
/*
 * segments_note.h - tell the user that several files are one rotated trace
 *
 * A command that prints something about each file treats a segment like a whole
 * trace.  The blocks that are live when a segment ends may be freed in the next
 * segment.
 */
#ifndef SEGMENTS_NOTE_H
#define SEGMENTS_NOTE_H

#include "tools/trace/scan.h"
#include "tools/ui/out.h"

/* What is known about the files so far.  Zero-initialize. */
struct segments_note {
	uint64_t pid, start_ns; /* process of the last segment */
	unsigned segment_count; /* number of segments of this process */
	unsigned process_count; /* processes with several segments */
	unsigned file_count;	/* all segments of these processes */
	bool lacks_start;	/* see scan_unknown_start() */
};

/*
 * Note the next file, which 'scan' has read to its end.  The segments of a
 * process must come one after another to be recognized.
 */
void segments_note_add(struct segments_note *n, const struct scan *scan);

/*
 * If a process has several segments among the files, print a line with this
 * fact and with 'advice'.
 */
void segments_note_print(struct out *o, const struct segments_note *n,
			 const char *advice);

#endif /* SEGMENTS_NOTE_H */
