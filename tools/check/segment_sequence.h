/* SPDX-License-Identifier: MIT */
/*
 * segment_sequence.h - does a segment go on where the one before it ended?
 *
 * A recorder that begins a new file now and then starts each with the blocks that
 * are live (FORMAT "Segments").  When the files of one process are read in order,
 * these must be exactly the blocks that were live at the end of the one before.
 * Sets are compared by a sum over a hash of each block, so nothing is kept of them.
 */
#ifndef SEGMENT_SEQUENCE_H
#define SEGMENT_SEQUENCE_H

#include "hatf/hatf.h"

enum sequence_result {
	SEQUENCE_NONE, /* the trace before is not the segment before */
	SEQUENCE_FITS,
	SEQUENCE_DIFFERS,
};

/* What is known of one trace; all 0: nothing. */
struct sequence {
	bool is_segment;
	bool is_exact; /* the carried blocks are those that lived */
	bool is_whole; /* all of them have been read */
	uint64_t pid, start_ns, number;
	uint64_t event_count, events_before;
	uint64_t carried_count; /* by the header */
	uint64_t carried_print, live_print;
};

/* A trace has been opened. */
void sequence_begin(struct sequence *s, const struct hatf_reader *reader);

/* One of its events. */
static inline bool
sequence_uses(const struct hatf_event *e)
{
	return e->carried && e->kind == HATF_EVENT_ALLOC;
}
void sequence_note(struct sequence *s, const struct hatf_event *e);

/* It has been read to its end; 'before' is the trace read before it. */
enum sequence_result sequence_end(struct sequence *s,
				  const struct hatf_events *events,
				  const struct sequence *before);

#endif /* SEGMENT_SEQUENCE_H */
