/* SPDX-License-Identifier: MIT */
/* segment_sequence.c - see segment_sequence.h */
#include "tools/check/segment_sequence.h"

#include <stdlib.h>
#include <string.h>

/* The mixing steps of splitmix64, in which each input bit affects all bits. */
static uint64_t
mix(uint64_t n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9;
	n = (n ^ n >> 27) * 0x94d049bb133111eb;
	return n ^ n >> 31;
}

static uint64_t
print_of(uint64_t heap, uint64_t address, uint64_t size)
{
	return mix(mix(mix(heap + 0x9e3779b97f4a7c15) ^ address) ^ size);
}

static bool
number(const struct hatf_reader *reader, const char *key, uint64_t *n_ret)
{
	const char *const text = hatf_reader_header(reader, key);

	*n_ret = text != NULL ? strtoull(text, NULL, 10) : 0;
	return text != NULL;
}

void
sequence_begin(struct sequence *s, const struct hatf_reader *reader)
{
	const char *const live = hatf_reader_header(reader, "live");

	*s = (struct sequence){ 0 };
	s->is_segment = number(reader, "segment", &s->number);
	s->is_exact = live != NULL && strcmp(live, "exact") == 0;
	number(reader, "pid", &s->pid);
	number(reader, "start_monotonic", &s->start_ns);
	number(reader, "events_before", &s->events_before);
	number(reader, "carried", &s->carried_count);
}

void
sequence_note(struct sequence *s, const struct hatf_event *e)
{
	s->carried_print += print_of(e->heap, e->address, e->size);
}

static bool
add_live(void *ctx, const struct hatf_live *live)
{
	struct sequence *const s = ctx;

	/*
	 * Skip blocks inherited from the parent, because segments do not carry
	 * them.
	 */
	if (live->object == 0)
		return true;
	s->live_print += print_of(live->heap, live->address, live->size);
	return true;
}

enum sequence_result
sequence_end(struct sequence *s, const struct hatf_events *events,
	     const struct sequence *before)
{
	struct hatf_events_stats stats = { .struct_nbytes = sizeof(stats) };

	hatf_events_get_stats(events, &stats);
	s->event_count = stats.event_count;
	/* A segment truncated by a kill may lack some carried blocks. */
	s->is_whole = stats.carried_count == s->carried_count;
	if (s->is_segment)
		hatf_events_visit_live(events, add_live, s);
	if (!s->is_segment || !before->is_segment || s->pid != before->pid ||
	    s->start_ns != before->start_ns ||
	    s->number != before->number + 1 || !s->is_exact || !s->is_whole)
		return SEQUENCE_NONE;
	return s->carried_print == before->live_print &&
			       s->events_before == before->events_before +
							   before->event_count
		       ? SEQUENCE_FITS
		       : SEQUENCE_DIFFERS;
}
