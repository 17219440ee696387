/* SPDX-License-Identifier: MIT */
/*
 * events.h - the event stage, shared by the files of this folder
 *
 * events.c turns records into events.  event_stage.c opens and closes a stage.
 * event_columns.c stores events in columns.  events_live.c reports the live
 * objects of a stage.  parent_heap.c reads the trace of a parent process up to
 * the fork, and moves the live blocks from the parent's stage to the child's
 * stage, before the child's trace is read.  Only one thread may use a stage.
 */
#ifndef HATF_EVENTS_H
#define HATF_EVENTS_H

#include "hatf/codec/pairing.h"
#include "hatf/containers/heaps.h"
#include "hatf/containers/ids.h"
#include "hatf/events/inherited.h"
#include "hatf/hatf.h"

/*
 * How many records the stage reads at a time.  This many records fit into the
 * first-level cache.
 */
#define EVENTS_BATCH_COUNT 256

struct hatf_events {
	struct hatf_reader *reader; /* the reader, which the caller owns */
	struct heaps heaps;
	struct ids threads;
	struct inherited inherited;
	struct pairing pairing;
	/*
	 * Size, time and heap of the latest record that no realloc announced.
	 * If this record is itself a realloc, fits_realloc() compares the
	 * values with those of the records that it announced.
	 */
	uint64_t realloc_size, realloc_time, realloc_heap;
	/*
	 * at least one record that the latest realloc announced has been read
	 */
	bool part_seen;
	/*
	 * After a realloc of tag 4: its old block, which may turn out to be
	 * still live (see on_part() in events.c).
	 */
	struct block left_over;
	uint64_t left_over_address;
	/* heap of 'left_over'; NULL: there is no such block */
	struct heap *left_over_heap;
	/* this project wrote the trace, so check all rules of FORMAT */
	bool ours;
	/*
	 * our recorder wrote the trace: each thread must be created before use,
	 * and each heap, too, unless 'inherits' is set
	 */
	bool strict;
	/* the trace may lack blocks that were live when it began */
	bool inherits;
	/*
	 * true unless the header says that carried blocks (blocks that were
	 * live when the trace began) may be wrong or missing
	 */
	bool is_exact;
	bool has_time; /* 'first_time' of 'stats' is set */
	bool no_memory;
	/* 'thread' has been checked, so do not check it again */
	bool thread_known;
	uint64_t thread; /* the thread that was checked last */
	uint64_t time;	 /* time of the previous record */
	uint64_t record; /* number of the next record */
	uint64_t object_count;
	/* violation to report with the next event */
	enum hatf_violation pending_violation;
	/*
	 * what hatf_events_get_stats() reports, except the members that it
	 * computes from 'heaps' and 'threads'
	 */
	struct hatf_events_stats stats;
	struct hatf_record records[EVENTS_BATCH_COUNT];
	/* indices in 'records': of the next record to handle, and of the end */
	size_t next, filled;
};

/*
 * Is this a carried object, that is, was the object live when the trace began?
 * A trace begins with its carried objects, so they have the lowest numbers.
 */
static inline bool
events_is_carried(const struct hatf_events *ev, uint64_t object)
{
	return object - 1 < ev->stats.carried_count;
}

/*
 * Move all heaps out of 'events', and also the set of the addresses whose state
 * at the fork is unknown (inherited.h).  From now on, the caller owns the heaps
 * and this set.
 */
void events_take_heaps(struct hatf_events *events, struct heaps *heaps_ret,
		       struct u64_map *unsure_ret);

/*
 * Let 'events', whose 'inherits' must be set, begin with the live blocks of
 * 'heaps'.  'unsure' is as in events_take_heaps().  'events' takes ownership of
 * 'heaps' and 'unsure'.
 */
void events_give_heaps(struct hatf_events *events, const struct heaps *heaps,
		       const struct u64_map *unsure);

#endif /* HATF_EVENTS_H */
