/* SPDX-License-Identifier: MIT */
/*
 * events.h - the event stage, shared by the files of this room
 *
 * events.c turns records into events. event_stage.c opens and closes the stage.
 * events_live.c reports its live objects. parent_heap.c moves the live blocks
 * from the stage of a parent, which has read up to the fork, to the stage of
 * its child, which has not read anything yet.  One thread uses a stage.
 */
#ifndef HATF_EVENTS_H
#define HATF_EVENTS_H

#include "hatf/codec/pairing.h"
#include "hatf/containers/heaps.h"
#include "hatf/containers/ids.h"
#include "hatf/events/inherited.h"
#include "hatf/hatf.h"

/* Records that the stage reads at a time: they fit the first-level cache. */
#define EVENTS_BATCH_COUNT 256

struct hatf_events {
	struct hatf_reader *reader; /* owned by the caller */
	struct heaps heaps;
	struct ids threads;
	struct inherited inherited;
	struct pairing pairing;
	/* Of the last realloc, or other record that announces nothing. */
	uint64_t realloc_size, realloc_time, realloc_heap;
	bool part_seen; /* of what the last realloc announced */
	/* The old block of a tag 4, which may turn out to be still live. */
	struct block left_over;
	uint64_t left_over_address;
	struct heap *left_over_heap; /* NULL: none */
	bool ours; /* written by this project: check strictly */
	/* also recorded by it: threads and heaps must be created */
	bool strict;
	bool inherits; /* blocks may exist that the trace does not mention */
	bool is_exact; /* the carried blocks are exactly those that were live */
	bool has_time; /* 'stats' has a first time */
	bool no_memory;
	bool thread_known; /* 'thread' exists: skip the check */
	uint64_t thread;   /* of the last record */
	uint64_t time;	   /* of the last record */
	uint64_t record;   /* number of the next record */
	uint64_t object_count;
	/* to report with the next event */
	enum hatf_violation pending_violation;
	struct hatf_events_stats stats; /* what is not counted elsewhere */
	struct hatf_record records[EVENTS_BATCH_COUNT];
	size_t next, filled; /* in 'records' */
};

/*
 * Return true if the trace began with this object live and carried it.  Carried
 * objects have the lowest numbers.
 */
static inline bool
events_is_carried(const struct hatf_events *ev, uint64_t object)
{
	return object - 1 < ev->stats.carried_count;
}

/*
 * Move all heaps out of 'events', which keeps none, together with the addresses
 * whose state at the fork is unknown (inherited.h).  The caller owns both.
 */
void events_take_heaps(struct hatf_events *events, struct heaps *heaps_ret,
		       struct u64_map *unsure_ret);

/*
 * Begin 'events' with these live blocks.  'events' takes ownership of 'heaps'
 * and 'unsure'.
 */
void events_give_heaps(struct hatf_events *events, const struct heaps *heaps,
		       const struct u64_map *unsure);

#endif /* HATF_EVENTS_H */
