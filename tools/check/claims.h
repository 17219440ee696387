/* SPDX-License-Identifier: MIT */
/*
 * claims.h - do a trace's own figures agree with what is in it?
 *
 * Readers check what they need to trust a trace (FORMAT "Block", "Trailer").  Of the
 * rest of what header, blocks and trailer claim, 'hatf verify' lets claims.c judge:
 * carried blocks, when blocks begin, and how many threads, lost events and what last
 * time there were.
 */
#ifndef CLAIMS_H
#define CLAIMS_H

#include "hatf/hatf.h"

struct claims {
	const struct hatf_reader *reader;
	const struct hatf_events *events;
	bool judges; /* the trace is ours */
	/* The last event but comments, whose attributes are gone, and its time. */
	struct hatf_event last;
	uint64_t last_time;
	uint64_t note_time; /* the latest that a comment told */
	uint64_t threads_created;
	/* The trailer, if that was the last event, and a block's comment, as long
	 * as no event has come behind it: likewise. */
	bool has_trailer;
	struct hatf_event trailer;
	bool has_block;
	struct hatf_event block;
	uint64_t block_time;
};

void claims_begin(struct claims *c, const struct hatf_reader *reader,
		  const struct hatf_events *events);

/*
 * Take note of an event.  Returns NULL, or what contradicts it, a static text;
 * '*at_ret' is then the comment that claims it.
 */
const char *claims_note(struct claims *c, const struct hatf_event *e,
			const struct hatf_event **at_ret);

/*
 * After the last event of a trace that was read to its end: the same for what only
 * the end can tell.  To be called until it returns NULL; '*step' is 0 at first.
 */
const char *claims_end(struct claims *c, unsigned *step,
		       const struct hatf_event **at_ret);

#endif /* CLAIMS_H */
