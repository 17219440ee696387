/* SPDX-License-Identifier: MIT */
/* claims.c - see claims.h */
#include "tools/check/claims.h"

#include "tools/trace/trailer.h"

#include <stdlib.h>
#include <string.h>

void
claims_begin(struct claims *c, const struct hatf_reader *reader,
	     const struct hatf_events *events)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };

	*c = (struct claims){ .reader = reader, .events = events };
	hatf_reader_get_stats(reader, &stats);
	c->judges = stats.ours;
}

/* Is 'kind' the first line of the comment 'e'? */
static bool
is_kind(const struct hatf_event *e, const char *kind)
{
	const size_t nbytes = strlen(kind);

	return e->attributes_nbytes > nbytes &&
	       memcmp(e->attributes, kind, nbytes) == 0 &&
	       e->attributes[nbytes] == '\n';
}

static bool
find(const struct hatf_event *e, const char *key, uint64_t *n_ret)
{
	return trailer_find_number((const char *)e->attributes,
				   e->attributes_nbytes, key, n_ret);
}

static void
note_time(struct claims *c, const struct hatf_event *e, const char *key)
{
	uint64_t time;

	if (find(e, key, &time) && time > c->note_time)
		c->note_time = time;
}

static void
note_comment(struct claims *c, const struct hatf_event *e)
{
	c->has_trailer = is_kind(e, "HATF end");
	if (c->has_trailer) {
		c->trailer = *e;
		return;
	}
	if (e->attributes_nbytes < 5 || memcmp(e->attributes, "HATF ", 5) != 0)
		return;
	note_time(c, e, "time");
	note_time(c, e, "to");
	if (is_kind(e, "HATF block") && find(e, "time", &c->block_time)) {
		c->has_block = true;
		c->block = *e;
	}
}

/*
 * A comment at the start of each block of records states the time at which the
 * block begins.  Return whether the time in the last such comment lies between
 * the time of the event before the comment and 'time', the time of the event
 * after the comment.
 */
static bool
block_fits(const struct claims *c, uint64_t time)
{
	const uint64_t before = c->last_time;

	return before <= time
		       ? before <= c->block_time && c->block_time <= time
		       : time <= c->block_time && c->block_time <= before;
}

const char *
claims_note(struct claims *c, const struct hatf_event *e,
	    const struct hatf_event **at_ret)
{
	const char *fault = NULL;

	if (e->kind == HATF_EVENT_COMMENT) {
		if (c->judges)
			note_comment(c, e);
		return NULL;
	}
	c->last = *e;
	if (!c->judges)
		return NULL;
	if (c->has_block && !block_fits(c, e->time)) {
		*at_ret = &c->block;
		fault = "the block of records does not begin at the time that "
			"it states";
	}
	c->has_block = c->has_trailer = false;
	c->last_time = e->time;
	c->threads_created += e->kind == HATF_EVENT_THREAD_CREATE;
	return fault;
}

/*
 * Set '*n_ret' to the trailer's number for 'key'.  Return false if the trailer
 * has none.
 */
static bool
find_in_trailer(const struct claims *c, const char *key, uint64_t *n_ret)
{
	const char *const text = hatf_reader_trailer(c->reader, key);

	if (text == NULL)
		return false;
	*n_ret = strtoull(text, NULL, 10);
	return true;
}

/* Does the header state a number other than 'n' for 'key'? */
static bool
header_denies(const struct claims *c, const char *key, uint64_t n)
{
	const char *const text = hatf_reader_header(c->reader, key);

	return text != NULL && strtoull(text, NULL, 10) != n;
}

/* Is the trace a segment after the first one, or did recording start late? */
static bool
is_a_part(const struct claims *c)
{
	const char *const segment = hatf_reader_header(c->reader, "segment");

	return hatf_reader_header(c->reader, "start") != NULL ||
	       (segment != NULL && strcmp(segment, "0") != 0);
}

/* Did the process continue after the end of the trace? */
static bool
has_gone_on(const struct claims *c)
{
	static const char *const ends[] = { "rotate", "stop", "sandbox",
					    "error" };
	const char *const end = hatf_reader_trailer(c->reader, "end");

	for (size_t i = 0; end != NULL && i < sizeof(ends) / sizeof(*ends); i++)
		if (strcmp(end, ends[i]) == 0)
			return true;
	return false;
}

static bool
threads_fit(const struct claims *c, const struct hatf_events_stats *seen,
	    uint64_t lost_count)
{
	const uint64_t known = seen->thread_count;
	uint64_t told;

	if (!find_in_trailer(c, "threads", &told) ||
	    told == c->threads_created + 1 || told == known)
		return true;
	/*
	 * A thread gets its number before its first record.  If the trace lacks
	 * that record, the trailer counts more threads than the events show.
	 * Accept a larger number only if such a record may be missing: if there
	 * are several threads, if the trace has only a part of the events, or
	 * if the process continued after the trace.  Also accept the number 2,
	 * because a second thread may have been about to begin when the process
	 * ended.
	 */
	return told > known && (known > 1 || told == 2 || is_a_part(c) ||
				has_gone_on(c) || lost_count != 0);
}

static bool
time_fits(const struct claims *c, const struct hatf_events_stats *seen)
{
	const uint64_t latest =
		seen->last_time > c->note_time ? seen->last_time : c->note_time;
	uint64_t told;

	return !find_in_trailer(c, "time", &told) || told == c->last_time ||
	       told == seen->last_time || told == latest;
}

/*
 * Run check number 'n' of the checks at the end of the trace.  Set
 * '*is_last_ret' if 'n' is larger than the number of the last check.
 */
static const char *
judge(const struct claims *c, unsigned n, bool *is_last_ret)
{
	struct hatf_events_stats seen = { .struct_nbytes = sizeof(seen) };
	struct hatf_reader_stats read = { .struct_nbytes = sizeof(read) };
	uint64_t told;

	hatf_events_get_stats(c->events, &seen);
	hatf_reader_get_stats(c->reader, &read);
	switch (n) {
	case 0:
		return header_denies(c, "carried", seen.carried_count) ||
				       header_denies(c, "carried_bytes",
						     seen.carried_nbytes)
			       ? "the header states a wrong number or size of "
				 "live blocks"
			       : NULL;
	case 1:
		return c->has_block && !block_fits(c, UINT64_MAX)
			       ? "the block of records does not begin at the "
				 "time that it states"
			       : NULL;
	case 2:
		return !threads_fit(c, &seen, read.lost_count)
			       ? "the trailer states a wrong number of threads"
			       : NULL;
	case 3:
		return !time_fits(c, &seen) ? "the trailer states a wrong time "
					      "of the last event"
					    : NULL;
	case 4:
		return find_in_trailer(c, "lost", &told) &&
				       told != read.lost_count
			       ? "the trailer states a wrong number of lost "
				 "events"
			       : NULL;
	default:
		*is_last_ret = true;
		return NULL;
	}
}

const char *
claims_end(struct claims *c, unsigned *step, const struct hatf_event **at_ret)
{
	static const struct hatf_event header = { .kind = HATF_EVENT_COMMENT };
	bool is_last = !c->judges || !c->has_trailer;
	const char *fault = NULL;

	while (!is_last && fault == NULL) {
		*at_ret = *step == 0   ? &header
			  : *step == 1 ? &c->block
				       : &c->trailer;
		fault = judge(c, (*step)++, &is_last);
	}
	return fault;
}
