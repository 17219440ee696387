/* SPDX-License-Identifier: MIT */
/*
 * overlaps.h - does a block lie on one that is live?
 *
 * Blocks of one heap do not overlap; those of a pool lie in blocks of another.  A block
 * of no bytes lies nowhere.
 *
 * With several threads, a trace may have an allocation before the realloc that has
 * given up the memory for it (hatf/rings/order.h): where a realloc stands in a trace is
 * known for the first byte of its old block only.  So there the older block is a
 * suspect first.  If a realloc of another thread is what happens to it next, and the
 * overlap is gone by that, all is well.
 */
#ifndef OVERLAPS_H
#define OVERLAPS_H

#include "hatf.h"
#include "spans.h"

/* A block that lies on one which may be about to be moved away. */
struct suspicion {
	uint64_t heap, start;	 /* of the older one */
	struct hatf_event newer; /* what it begins with */
};

#define SUSPICIONS_MAX 256

struct overlaps {
	struct spans spans;
	bool judges;
	bool is_exact;	  /* the carried blocks are those that lived */
	bool is_late;	  /* the trace does not begin with the process */
	bool has_threads; /* more than one */
	uint64_t thread;  /* the first one */
	/* By thread: the number of its last record. */
	uint64_t *seen;
	uint64_t seen_count;
	struct suspicion suspicions[SUSPICIONS_MAX];
	unsigned suspicion_count;
	/* Called with the event of a block that lies on another one. */
	void (*tell)(void *ctx, const struct hatf_event *newer);
	void *ctx;
};

void overlaps_begin(struct overlaps *o, const struct hatf_reader *reader);
void overlaps_end(struct overlaps *o);

/* Take note of an event; false if there is no memory. */
bool overlaps_note(struct overlaps *o, const struct hatf_event *e);

/* There are no more events. */
void overlaps_settle(struct overlaps *o);

#endif /* OVERLAPS_H */
