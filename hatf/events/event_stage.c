/* SPDX-License-Identifier: MIT */
/*
 * event_stage.c - open and close an event stage, and move live blocks between
 * stages
 */
#include "hatf/events/events.h"

#include "hatf/base/sized.h"

#include <stdlib.h>
#include <string.h>

/* Does the header of the trace give 'key' this value? */
static bool
header_is(const struct hatf_reader *reader, const char *key, const char *value)
{
	const char *const found = hatf_reader_header(reader, key);

	return found != NULL && strcmp(found, value) == 0;
}

enum hatf_status
hatf_events_open(struct hatf_reader *reader, struct hatf_events **events_ret)
{
	struct hatf_events *const ev = calloc(1, sizeof(*ev));
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };

	if (ev == NULL)
		return HATF_NO_MEMORY;
	hatf_reader_get_stats(reader, &stats);
	ev->reader = reader;
	ev->ours = stats.ours;
	ev->strict = ev->ours && hatf_reader_header(reader, "source") == NULL;
	ev->is_exact = !header_is(reader, "live", "unknown") &&
		       !header_is(reader, "live", "uncertain");
	ev->inherits = hatf_reader_header(reader, "parent_pid") != NULL ||
		       header_is(reader, "start", "late") || !ev->is_exact;
	for (unsigned tag = 0; tag < HATF_METADATA; tag++)
		ev->record += stats.record_count[tag];
	/*
	 * If 'inherits' is set, the process may use heaps that were created
	 * before its trace began, by its parent or by itself.  The trace does
	 * not show their creation, so the heaps are then not strict.
	 */
	heaps_init(&ev->heaps, ev->strict && !ev->inherits);
	if (hatf_reader_header(reader, "parent_pid") != NULL)
		ev->stats.heritage = HATF_HERITAGE_UNKNOWN;
	ids_init(&ev->threads, ev->strict);
	/*
	 * In traces by our recorder, thread 0 and heap 0 exist from the start,
	 * so create them now.  Other traces, including converted ones, may
	 * create thread 0 and heap 0 with records.
	 */
	if ((ev->strict && ids_create(&ev->threads, 0) != IDS_OK) ||
	    (ev->strict && ids_create(&ev->heaps.ids, 0) != IDS_OK) ||
	    (ev->inherits && !inherited_init(&ev->inherited))) {
		hatf_events_close(ev);
		return HATF_NO_MEMORY;
	}
	*events_ret = ev;
	return HATF_OK;
}

enum hatf_status
hatf_events_number_blocks(struct hatf_events *events)
{
	return heaps_number_blocks(&events->heaps) ? HATF_OK : HATF_BAD_OPTION;
}

void
hatf_events_close(struct hatf_events *events)
{
	if (events == NULL)
		return;
	heaps_fini(&events->heaps);
	ids_fini(&events->threads);
	inherited_fini(&events->inherited);
	free(events);
}

void
events_take_heaps(struct hatf_events *events, struct heaps *heaps_ret,
		  struct u64_map *unsure_ret)
{
	u64_map_init(unsure_ret);
	if (events->inherits) {
		*unsure_ret = events->inherited.unsure;
		u64_map_init(&events->inherited.unsure);
	}
	*heaps_ret = events->heaps;
	heaps_init(&events->heaps, false);
	events->left_over_heap = NULL; /* the caller owns this heap now */
}

void
events_give_heaps(struct hatf_events *events, const struct heaps *heaps,
		  const struct u64_map *unsure)
{
	struct hatf_events_stats *const s = &events->stats;

	heaps_fini(&events->heaps);
	events->left_over_heap = NULL;
	events->heaps = *heaps;
	heaps_clear_history(&events->heaps);
	inherited_set_exact(&events->inherited, unsure);
	s->start_live_count = s->inherited_live_count = heaps->live_count;
	s->start_live_nbytes = s->inherited_live_nbytes = heaps->live_nbytes;
}

void
hatf_events_get_stats(const struct hatf_events *events,
		      struct hatf_events_stats *stats_ret)
{
	struct hatf_events_stats stats = events->stats;

	stats.live_count = events->heaps.live_count;
	stats.live_nbytes = events->heaps.live_nbytes;
	stats.peak_live_count = events->heaps.peak_count;
	stats.peak_live_nbytes = events->heaps.peak_nbytes;
	stats.thread_count = ids_count(&events->threads);
	sized_give(stats_ret, &stats, sizeof(stats));
}
