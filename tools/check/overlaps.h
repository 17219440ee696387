/* SPDX-License-Identifier: MIT */
/*
 * overlaps.h - does a block lie on one that is live?
 *
 * Blocks of one heap do not overlap; those of a pool lie in blocks of another.  A block
 * of no bytes lies nowhere.
 *
 * Judged are blocks against their neighbours in the live set of the event stage, so
 * they take no memory here.  Not judged are blocks of no bytes, those that a child has
 * from its parent, and carried ones of which some may have been freed.  Once a block
 * has covered such a one, the search goes on past them, for OVERLAPS_STEPS of them.
 *
 * With several threads, a trace may have an allocation before the realloc that has
 * given up the memory for it (hatf/rings/order.h): where a realloc stands in a trace is
 * known for the first byte of its old block only.  So there the older block is a
 * suspect first.  If a realloc of another thread is what happens to it next, and the
 * overlap is gone by that, all is well.  A realloc that is under way when recording
 * stops is a free in the trace, and the last record of its thread: a free by another
 * thread clears the suspect, too, unless that thread has a record after it.
 */
#ifndef OVERLAPS_H
#define OVERLAPS_H

#include "hatf/hatf.h"

/* A block that lies on one which may be about to be moved away. */
struct overlaps_suspect {
	uint64_t heap, start; /* of the older one */
	bool is_gone;	      /* the older one, with its heap or freed */
	bool is_freed;	      /* by 'thread', perhaps as its last record */
	uint64_t thread;
	struct hatf_event newer; /* what it begins with */
};

#define OVERLAPS_SUSPECTS_MAX 256
#define OVERLAPS_STEPS	      256

struct overlaps {
	struct hatf_events *events;
	bool judges;
	bool is_exact;	  /* the carried blocks are those that lived */
	bool has_covered; /* one that is not judged */
	bool has_threads; /* more than one */
	uint64_t thread;  /* the first one */
	/* By thread: the number of its last record. */
	uint64_t *seen;
	uint64_t seen_count;
	struct overlaps_suspect suspects[OVERLAPS_SUSPECTS_MAX];
	unsigned suspect_count, freed_count;
	/* Called with the event of a block that lies on another one. */
	void (*tell)(void *ctx, const struct hatf_event *newer);
	void *ctx;
};

/* 'events' has read nothing yet.  False if there is no memory. */
bool overlaps_begin(struct overlaps *o, const struct hatf_reader *reader,
		    struct hatf_events *events);
void overlaps_end(struct overlaps *o);

/* Take note of the event that was read last; false if there is no memory. */
bool overlaps_note(struct overlaps *o, const struct hatf_event *e);

/* There are no more events. */
void overlaps_settle(struct overlaps *o);

#endif /* OVERLAPS_H */
