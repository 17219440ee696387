/* SPDX-License-Identifier: MIT */
/*
 * events.h - the event stage as parent_heap.c and events_live.c see it
 *
 * The live blocks go from the stage of a parent, which has read up to the fork, to
 * that of its child, which has not begun.
 */
#ifndef HATF_EVENTS_H
#define HATF_EVENTS_H

#include "hatf/containers/heaps.h"
#include "hatf/hatf.h"

const struct hatf_reader *events_reader(const struct hatf_events *events);

const struct heaps *events_heaps(const struct hatf_events *events);
struct heaps *events_own_heaps(struct hatf_events *events); /* to be changed */

/* Did the object live when the trace began, by the trace itself? */
bool events_is_carried(const struct hatf_events *events, uint64_t object);

/*
 * Take all heaps out of 'events', which goes on with none, and the addresses that
 * are still unsure to it (inherited.h).
 */
void events_take_heaps(struct hatf_events *events, struct heaps *heaps_ret,
		       struct u64_map *unsure_ret);

/* What 'events' begins with; takes over 'heaps' and 'unsure'. */
void events_give_heaps(struct hatf_events *events, const struct heaps *heaps,
		       const struct u64_map *unsure);

void events_set_heritage(struct hatf_events *events,
			 enum hatf_heritage heritage);

#endif /* HATF_EVENTS_H */
