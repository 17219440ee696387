/* SPDX-License-Identifier: MIT */
/* overlaps.c - see overlaps.h */
#include "overlaps.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of threads above this are of no program; nothing is known of those. */
#define THREADS_MAX (1u << 20)

static bool
says(const struct hatf_reader *reader, const char *key, const char *value)
{
	const char *const text = hatf_reader_header(reader, key);

	return text != NULL && strcmp(text, value) == 0;
}

void
overlaps_begin(struct overlaps *o, const struct hatf_reader *reader)
{
	struct hatf_reader_stats stats;

	hatf_reader_get_stats(reader, &stats);
	o->spans = (struct spans){ 0 };
	/* Elsewhere an address may be a number that stands for a block. */
	o->judges = !stats.foreign &&
		    hatf_reader_header(reader, "source") == NULL &&
		    !says(reader, "heaps", "dropped");
	o->is_exact = !says(reader, "live", "unknown") &&
		      !says(reader, "live", "uncertain");
	o->is_late = says(reader, "start", "late");
	o->has_threads = false;
	o->thread = UINT64_MAX;
	o->seen = NULL;
	o->seen_count = 0;
	o->suspicion_count = 0;
}

void
overlaps_end(struct overlaps *o)
{
	spans_fini(&o->spans);
	free(o->seen);
	o->seen = NULL;
}

/* The first address behind a piece, or the last one that there is. */
static uint64_t
end_of(const struct span *s)
{
	return s->nbytes > UINT64_MAX - s->start ? UINT64_MAX
						 : s->start + s->nbytes;
}

/* ----------------------------------------------------------------- threads */

static bool
note_thread(struct overlaps *o, const struct hatf_event *e)
{
	if (o->thread == UINT64_MAX)
		o->thread = e->thread;
	o->has_threads |= e->thread != o->thread;
	if (e->thread >= THREADS_MAX)
		return true;
	if (e->thread >= o->seen_count) {
		const uint64_t count = 2 * e->thread + 16;
		uint64_t *const seen =
			reallocarray(o->seen, count, sizeof(*seen));

		if (seen == NULL)
			return false;
		/* Who has not been seen does not exist. */
		memset(seen + o->seen_count, 0xff,
		       (count - o->seen_count) * sizeof(*seen));
		o->seen = seen;
		o->seen_count = count;
	}
	o->seen[e->thread] =
		e->kind == HATF_EVENT_THREAD_DESTROY ? UINT64_MAX : e->record;
	return true;
}

/* Has another thread, which was there, done nothing since then? */
static bool
has_silent_thread(const struct overlaps *o, const struct hatf_event *newer)
{
	for (uint64_t i = 0; i < o->seen_count; i++)
		if (i != newer->thread && o->seen[i] < newer->record)
			return true;
	return false;
}

/* -------------------------------------------------------------- suspicions */

/* 'newer' lies on 'older'. */
static void
suspect(struct overlaps *o, struct span *older, const struct hatf_event *newer)
{
	/* Calls of other threads that were under way have no records then. */
	if (o->is_late)
		return;
	/* Which of two carried blocks is the older one, nobody knows. */
	if (newer->kind == HATF_EVENT_ALLOC && newer->carried && o->has_threads)
		return;
	if (!o->has_threads || o->suspicion_count == SUSPICIONS_MAX) {
		o->tell(o->ctx, newer);
		return;
	}
	older->is_suspect = 1;
	o->suspicions[o->suspicion_count++] = (struct suspicion){
		.heap = older->heap,
		.start = older->start,
		.newer = *newer,
	};
}

/*
 * Something happens to a suspect.  'end' is where it ends from now on if that is
 * by a realloc: at its start if it is no more there.
 */
static void
judge_suspect(struct overlaps *o, const struct span *older,
	      const struct hatf_event *e, uint64_t end)
{
	unsigned kept = 0;

	if (!older->is_suspect)
		return;
	for (unsigned i = 0; i < o->suspicion_count; i++) {
		const struct suspicion *const s = &o->suspicions[i];

		if (s->heap != older->heap || s->start != older->start) {
			o->suspicions[kept++] = *s;
			continue;
		}
		/* It ends no later than it begins, or than the newer one does. */
		const bool is_gone =
			end <= older->start || end <= s->newer.address;

		if (e->kind != HATF_EVENT_REALLOC ||
		    e->thread == s->newer.thread || !is_gone)
			o->tell(o->ctx, &s->newer);
	}
	o->suspicion_count = kept;
}

void
overlaps_settle(struct overlaps *o)
{
	/* A realloc that the end of the program has overtaken has no record. */
	for (unsigned i = 0; i < o->suspicion_count; i++)
		if (!has_silent_thread(o, &o->suspicions[i].newer))
			o->tell(o->ctx, &o->suspicions[i].newer);
	o->suspicion_count = 0;
}

/* ------------------------------------------------------------------ blocks */

/* The block at 'start' is no more, or is to be told of anew, up to 'end'. */
static void
take(struct overlaps *o, const struct hatf_event *e, uint64_t start,
     uint64_t end)
{
	struct span *before, *after;
	const struct span *const span =
		spans_find(&o->spans, e->heap, start, &before, &after);

	if (span == NULL)
		return;
	judge_suspect(o, span, e, end);
	spans_remove(&o->spans, e->heap, start);
}

/* A piece that 'span' lies on, or NULL. */
static struct span *
find_older(struct overlaps *o, const struct span *span)
{
	struct span *before, *after;
	struct span *const same =
		spans_find(&o->spans, span->heap, span->start, &before, &after);

	if (same != NULL)
		return same;
	if (before != NULL && before->heap == span->heap &&
	    end_of(before) > span->start)
		return before;
	if (after != NULL && after->heap == span->heap &&
	    after->start < end_of(span))
		return after;
	return NULL;
}

/* A block begins. */
static bool
put(struct overlaps *o, const struct hatf_event *e)
{
	const struct span span = {
		.heap = e->heap,
		.start = e->address,
		.nbytes = (e->size < SPAN_NBYTES_MAX ? e->size
						     : SPAN_NBYTES_MAX) &
			  SPAN_NBYTES_MAX,
		.is_doubtful = e->carried && e->kind == HATF_EVENT_ALLOC &&
			       !o->is_exact,
	};
	struct span *older;

	/* What has its address has been told of by the event stage, and what
	 * may be gone is gone then. */
	while ((older = find_older(o, &span)) != NULL &&
	       (older->start == span.start || older->is_doubtful))
		take(o, e, older->start, older->start);
	if (span.nbytes == 0)
		return true;
	if (older != NULL)
		suspect(o, older, e);
	return spans_put(&o->spans, &span);
}

static bool
note_realloc(struct overlaps *o, const struct hatf_event *e)
{
	const bool frees = e->tag == HATF_REALLOC_FREE;

	if (e->address == 0 && !frees)
		return true; /* it failed */
	if (e->old_address != 0)
		take(o, e, e->old_address,
		     e->address == e->old_address ? e->address + e->size
						  : e->old_address);
	return frees || put(o, e);
}

/* All that is in the heap is no more. */
static void
clear_heap(struct overlaps *o, uint64_t heap)
{
	struct span *before, *after, *first;

	while ((first = spans_find(&o->spans, heap, 0, &before, &after)) !=
		       NULL ||
	       ((first = after) != NULL && first->heap == heap))
		spans_remove(&o->spans, heap, first->start);
}

bool
overlaps_note(struct overlaps *o, const struct hatf_event *e)
{
	if (!o->judges || e->kind == HATF_EVENT_COMMENT)
		return true;
	if (!note_thread(o, e))
		return false;
	switch (e->kind) {
	case HATF_EVENT_ALLOC:
		return e->address == 0 || put(o, e);
	case HATF_EVENT_FREE:
		take(o, e, e->old_address, e->old_address);
		return true;
	case HATF_EVENT_REALLOC:
		return note_realloc(o, e);
	case HATF_EVENT_HEAP_DESTROY:
		clear_heap(o, e->heap);
		return true;
	default:
		return true;
	}
}
