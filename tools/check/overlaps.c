/* SPDX-License-Identifier: MIT */
/* overlaps.c - see overlaps.h */
#include "tools/check/overlaps.h"

#include <stdlib.h>
#include <string.h>

/*
 * Ignore threads with this number or a larger one, because no program has so
 * many threads.
 */
#define THREADS_MAX (1u << 20)

static bool
says(const struct hatf_reader *reader, const char *key, const char *value)
{
	const char *const text = hatf_reader_header(reader, key);

	return text != NULL && strcmp(text, value) == 0;
}

bool
overlaps_begin(struct overlaps *o, const struct hatf_reader *reader,
	       struct hatf_events *events)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };

	hatf_reader_get_stats(reader, &stats);
	o->events = events;
	/*
	 * Do not judge a trace of another recorder, in which an address may be
	 * an arbitrary number that only identifies a block.  Also do not judge
	 * a trace without heaps, in which a block may lie inside another.
	 */
	o->judges = !stats.foreign &&
		    hatf_reader_header(reader, "source") == NULL &&
		    !says(reader, "heaps", "dropped");
	o->is_exact = !says(reader, "live", "unknown") &&
		      !says(reader, "live", "uncertain");
	o->has_threads = false;
	o->thread = UINT64_MAX;
	o->seen = NULL;
	o->seen_count = 0;
	o->suspect_count = 0;
	o->freed_count = 0;
	o->has_covered = false;
	return !o->judges || hatf_events_keep_order(events) == HATF_OK;
}

void
overlaps_end(struct overlaps *o)
{
	free(o->seen);
	o->seen = NULL;
}

/* Return the first address after the block, or UINT64_MAX on overflow. */
static uint64_t
end_of(uint64_t address, uint64_t size)
{
	return size > UINT64_MAX - address ? UINT64_MAX : address + size;
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
		/* All ones mean that the thread has no record yet. */
		memset(seen + o->seen_count, 0xff,
		       (count - o->seen_count) * sizeof(*seen));
		o->seen = seen;
		o->seen_count = count;
	}
	o->seen[e->thread] =
		e->kind == HATF_EVENT_THREAD_DESTROY ? UINT64_MAX : e->record;
	return true;
}

/*
 * Is there a thread, other than that of 'newer', whose last record is before
 * 'newer'?  Threads that have ended, or have no record yet, do not count.
 */
static bool
has_silent_thread(const struct overlaps *o, const struct hatf_event *newer)
{
	for (uint64_t i = 0; i < o->seen_count; i++)
		if (i != newer->thread && o->seen[i] < newer->record)
			return true;
	return false;
}

/* ---------------------------------------------------------------- suspects */

static void
tell(struct overlaps *o, const struct hatf_event *newer)
{
	/* Later searches must expect that a block lies inside another one. */
	o->has_covered = true;
	o->tell(o->ctx, newer);
}

/* Handle the overlap of 'newer' with 'older'. */
static void
suspect(struct overlaps *o, const struct hatf_live *older,
	const struct hatf_event *newer)
{
	/*
	 * With several threads, ignore the overlaps of a carried block, because
	 * the order of the carried blocks is unknown.
	 */
	if (newer->kind == HATF_EVENT_ALLOC && newer->carried && o->has_threads)
		return;
	if (!o->has_threads || o->suspect_count == OVERLAPS_SUSPECTS_MAX) {
		tell(o, newer);
		return;
	}
	o->suspects[o->suspect_count++] = (struct overlaps_suspect){
		.heap = older->heap,
		.start = older->address,
		.newer = *newer,
	};
}

/*
 * Update the suspects at the address 'start' after the event 'e'.  If 'e' is a
 * realloc that resizes the block at 'start' in place, 'end' is the new end of
 * the block.  Otherwise 'end' is equal to 'start'.
 */
static void
judge_suspect(struct overlaps *o, const struct hatf_event *e, uint64_t start,
	      uint64_t end)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < o->suspect_count; i++) {
		const struct overlaps_suspect *const s = &o->suspects[i];

		if (s->is_gone || s->heap != e->heap || s->start != start) {
			o->suspects[kept++] = *s;
			continue;
		}
		/*
		 * The realloc ends the overlap if the older block moved away,
		 * or if it now ends before the newer block begins.
		 */
		const bool gives_way = end <= start || end <= s->newer.address;

		if (e->kind == HATF_EVENT_FREE &&
		    e->thread != s->newer.thread) {
			o->suspects[kept] = *s;
			o->suspects[kept].is_gone = true;
			o->suspects[kept].is_freed = true;
			o->suspects[kept++].thread = e->thread;
			o->freed_count++;
		} else if (e->kind != HATF_EVENT_REALLOC ||
			   e->thread == s->newer.thread || !gives_way)
			tell(o, &s->newer);
	}
	o->suspect_count = kept;
}

/*
 * Handle another record of 'thread'.  The record shows that the last free of
 * this thread was a real free and not an interrupted realloc, so report the
 * suspects that this free had cleared.
 */
static void
judge_freed(struct overlaps *o, uint64_t thread)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < o->suspect_count; i++) {
		const struct overlaps_suspect *const s = &o->suspects[i];

		if (s->is_freed && s->thread == thread) {
			o->freed_count--;
			tell(o, &s->newer);
		} else {
			o->suspects[kept++] = *s;
		}
	}
	o->suspect_count = kept;
}

/* Handle the end of a heap, which frees all its blocks. */
static void
clear_heap(struct overlaps *o, uint64_t heap)
{
	for (unsigned i = 0; i < o->suspect_count; i++)
		o->suspects[i].is_gone |= o->suspects[i].heap == heap;
}

void
overlaps_settle(struct overlaps *o)
{
	/*
	 * A realloc that the end of the program interrupted may have no record.
	 * If another thread has no record after 'newer', that thread may have
	 * made such a realloc.  In this case do not report the overlap.
	 */
	for (unsigned i = 0; i < o->suspect_count; i++)
		if (!o->suspects[i].is_freed &&
		    !has_silent_thread(o, &o->suspects[i].newer))
			tell(o, &o->suspects[i].newer);
	o->suspect_count = 0;
}

/* ------------------------------------------------------------------ blocks */

/* Is it a fault if another block overlaps this block? */
static bool
is_judged(const struct overlaps *o, const struct hatf_live *live)
{
	return live->size != 0 && live->object != 0 &&
	       (o->is_exact || !live->carried);
}

/*
 * Find the last non-exempt block (overlaps.h) before the new block.  A block
 * below an exempt one can reach the new block only if it also covers the exempt
 * block.  Therefore give up at the first exempt block, unless some block may
 * lie inside another one ('has_covered').
 */
static bool
find_before(const struct overlaps *o, const struct hatf_event *e,
	    struct hatf_live *ret)
{
	uint64_t address = e->address;

	for (unsigned i = 0; i < OVERLAPS_STEPS; i++) {
		if (!hatf_events_live_before(o->events, e->heap, address, ret))
			return false;
		if (is_judged(o, ret))
			return true;
		if (!o->has_covered)
			return false;
		address = ret->address;
	}
	return false;
}

/* Find the first non-exempt block that starts inside the new block. */
static bool
find_behind(struct overlaps *o, const struct hatf_event *e,
	    struct hatf_live *ret)
{
	const uint64_t last = end_of(e->address, e->size) - 1;
	uint64_t address = e->address;

	for (unsigned i = 0; i < OVERLAPS_STEPS; i++) {
		if (!hatf_events_live_after(o->events, e->heap, address, last,
					    ret))
			return false;
		if (is_judged(o, ret))
			return true;
		o->has_covered = true;
		address = ret->address;
	}
	return false;
}

/*
 * Check a new block against the last block before it, and against the first
 * block that starts inside it.  Make the second search even if the first one
 * finds an overlap, because the second search also notices exempt blocks that
 * the new block covers.
 */
static void
judge(struct overlaps *o, const struct hatf_event *e)
{
	struct hatf_live before, behind;
	const bool lies_before =
		find_before(o, e, &before) &&
		end_of(before.address, before.size) > e->address;

	if (e->size == 0) {
		o->has_covered |= lies_before;
		return;
	}

	const bool lies_behind = find_behind(o, e, &behind);

	if (lies_before || lies_behind)
		suspect(o, lies_before ? &before : &behind, e);
}

/* Handle an allocation, which replaces any block with the same address. */
static void
put(struct overlaps *o, const struct hatf_event *e)
{
	judge_suspect(o, e, e->address, e->address);
	judge(o, e);
}

static void
note_realloc(struct overlaps *o, const struct hatf_event *e)
{
	const bool frees = e->tag == HATF_REALLOC_FREE;

	if (e->address == 0 && !frees)
		return; /* the realloc failed */
	if (e->old_address != 0)
		judge_suspect(o, e, e->old_address,
			      e->address == e->old_address
				      ? e->address + e->size
				      : e->old_address);
	if (!frees)
		put(o, e);
}

bool
overlaps_note(struct overlaps *o, const struct hatf_event *e)
{
	if (!o->judges || e->kind == HATF_EVENT_COMMENT)
		return true;
	if (!note_thread(o, e))
		return false;
	if (o->freed_count != 0)
		judge_freed(o, e->thread);
	switch (e->kind) {
	case HATF_EVENT_ALLOC:
		if (e->address != 0)
			put(o, e);
		return true;
	case HATF_EVENT_FREE:
		judge_suspect(o, e, e->old_address, e->old_address);
		return true;
	case HATF_EVENT_REALLOC:
		note_realloc(o, e);
		return true;
	case HATF_EVENT_HEAP_DESTROY:
		clear_heap(o, e->heap);
		return true;
	default:
		return true;
	}
}
