/* SPDX-License-Identifier: MIT */
/*
 * claims.h - check the figures that a trace states about itself
 *
 * Readers check the figures that they rely on (FORMAT "Block", "Trailer").
 * claims.c checks the rest for 'hatf verify': the number of carried blocks
 * (blocks that were live when the segment began), the times at which blocks of
 * records begin, and the trailer's number of threads, number of lost events and
 * last time.
 */
#ifndef CLAIMS_H
#define CLAIMS_H

#include "hatf/hatf.h"

struct claims {
	const struct hatf_reader *reader;
	const struct hatf_events *events;
	/*
	 * The trace begins with a HATF header, so its comments have the meaning
	 * that FORMAT defines.
	 */
	bool judges;
	/*
	 * The last event that is not a comment, and the time of this event.
	 * The attributes of the event are no longer valid.
	 */
	struct hatf_event last;
	uint64_t last_time;
	uint64_t note_time; /* the latest time that a comment states */
	uint64_t threads_created;
	/*
	 * 'has_trailer': the last event is the trailer, 'trailer'.
	 * 'block': the comment at the start of the newest block of records; it
	 * states 'block_time'.
	 * 'has_block': only comments have followed 'block'.
	 * The attributes of 'trailer' and 'block' are no longer valid.
	 */
	bool has_trailer;
	struct hatf_event trailer;
	bool has_block;
	struct hatf_event block;
	uint64_t block_time;
};

void claims_begin(struct claims *c, const struct hatf_reader *reader,
		  const struct hatf_events *events);

/*
 * Process an event.  If the event contradicts a claim of the trace, return a
 * static text that describes the contradiction, and set '*at_ret' to the
 * comment that makes the claim.  Otherwise return NULL.
 */
const char *claims_note(struct claims *c, const struct hatf_event *e,
			const struct hatf_event **at_ret);

/*
 * Check the claims that need the whole trace.  After the last event of the
 * trace, the caller sets '*step' to 0 and calls this function until it returns
 * NULL.  Each call reports one contradiction in the same way as claims_note().
 */
const char *claims_end(struct claims *c, unsigned *step,
		       const struct hatf_event **at_ret);

#endif /* CLAIMS_H */
