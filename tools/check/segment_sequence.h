/* SPDX-License-Identifier: MIT */
/*
 * segment_sequence.h - does a segment continue the segment before it? (prefix:
 * sequence_)
 *
 * A recorder that splits its output starts each segment with the carried
 * blocks, those that are live then (FORMAT "Segments").  If the files of one
 * process are read in order, the carried blocks of a segment must be the blocks
 * that were live at the end of the previous segment.  The check compares sums
 * of hashes of these blocks, so it keeps no set of blocks in memory.
 */
#ifndef SEGMENT_SEQUENCE_H
#define SEGMENT_SEQUENCE_H

#include "hatf/hatf.h"

enum sequence_result {
	/*
	 * not comparable: the trace read before is not the previous segment of
	 * this process, or the carried blocks are not known exactly, or not all
	 * carried blocks were read
	 */
	SEQUENCE_NONE,
	SEQUENCE_FITS,
	SEQUENCE_DIFFERS,
};

/* Summary of one trace.  Zero-initialize. */
struct sequence {
	bool is_segment;
	/*
	 * The header says that the carried blocks are exactly those that were
	 * live when the segment began.
	 */
	bool is_exact;
	bool is_whole; /* all carried blocks were read */
	uint64_t pid, start_ns, number;
	uint64_t event_count, events_before;
	uint64_t carried_count; /* carried blocks, as the header states */
	/*
	 * sum of the hashes of the carried blocks, and sum of the hashes of the
	 * blocks that are live at the end of the trace
	 */
	uint64_t carried_print, live_print;
};

/* Start with the trace that 'reader' has opened. */
void sequence_begin(struct sequence *s, const struct hatf_reader *reader);

/* Does sequence_note() need the event?  Inline, to skip most events cheaply. */
static inline bool
sequence_uses(const struct hatf_event *e)
{
	return e->carried && e->kind == HATF_EVENT_ALLOC;
}
void sequence_note(struct sequence *s, const struct hatf_event *e);

/*
 * Finish the summary 's' after the last event of the trace, and compare it with
 * 'before', the summary of the trace that was read before.
 */
enum sequence_result sequence_end(struct sequence *s,
				  const struct hatf_events *events,
				  const struct sequence *before);

#endif /* SEGMENT_SEQUENCE_H */
