/* SPDX-License-Identifier: MIT */
/*
 * events.h - the event stage, as the files of this room share it
 *
 * events.c turns records into events, event_stage.c opens and closes the stage,
 * events_live.c shows its live objects, parent_heap.c hands the live blocks of a
 * parent's stage, which has read up to the fork, to the stage of its child, which has
 * not begun.  One thread uses a stage.
 */
#ifndef HATF_EVENTS_H
#define HATF_EVENTS_H

#include "hatf/codec/pairing.h"
#include "hatf/containers/heaps.h"
#include "hatf/containers/ids.h"
#include "hatf/events/inherited.h"
#include "hatf/hatf.h"

/* Records that the stage reads at a time: they stay in the first-level cache. */
#define EVENTS_BATCH_COUNT 256

struct hatf_events {
	struct hatf_reader *reader; /* the caller's */
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
	bool ours;     /* written by this project: judge strictly */
	bool strict;   /* recorded by it, too: threads and heaps are created */
	bool inherits; /* there may be blocks that it does not tell of */
	bool is_exact; /* the carried blocks are those that lived */
	bool has_time; /* 'stats' has a first time */
	bool no_memory;
	bool thread_known; /* 'thread' exists: no need to look */
	uint64_t thread;   /* of the last record */
	uint64_t time;	   /* of the last record */
	uint64_t record;   /* number of the next one */
	uint64_t object_count;
	enum hatf_violation pending_violation; /* for the next event */
	struct hatf_events_stats stats; /* what is not counted elsewhere */
	struct hatf_record records[EVENTS_BATCH_COUNT];
	size_t next, filled; /* in 'records' */
};

/*
 * Did the object live when the trace began, by the trace itself?  Those objects got
 * the first numbers.
 */
static inline bool
events_is_carried(const struct hatf_events *ev, uint64_t object)
{
	return object - 1 < ev->stats.carried_count;
}

/*
 * Move all heaps out of 'events', which keeps none, and the addresses whose state at
 * the fork is still unsure (inherited.h).  The caller owns both.
 */
void events_take_heaps(struct hatf_events *events, struct heaps *heaps_ret,
		       struct live *unsure_ret);

/* Begin 'events' with these live blocks.  It owns 'heaps' and 'unsure' from now on. */
void events_give_heaps(struct hatf_events *events, const struct heaps *heaps,
		       const struct live *unsure);

#endif /* HATF_EVENTS_H */
