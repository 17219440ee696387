/* SPDX-License-Identifier: MIT */
/* standstill.c - see standstill.h */
#include "tools/replay/standstill.h"

#include "tools/compile/word_reader.h"
#include "tools/ui/figure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void
standstill_open(struct standstill *s, const struct driver_run *run,
		const struct compiled *compiled)
{
	*s = (struct standstill){
		.run = run,
		.compiled = compiled,
		.lanes = calloc(compiled->file.stream_count, sizeof(*s->lanes)),
	};
}

void
standstill_close(struct standstill *s)
{
	free(s->lanes);
}

/* -------------------------------------------------------------- which call? */

/* Which call of which thread a lane (lanes.h) is in. */
struct position {
	uint64_t thread;
	bool is_before; /* the call is before the window */
	/*
	 * number of the call, counted from 1 at the first call of the thread,
	 * and again from 1 at the first call in the window
	 */
	uint64_t number;
	struct word_item item;
};

/* Find the call that a lane is in.  Return false if this fails. */
static bool
find_call(struct word_reader *r, const struct standstill *s, uint32_t stream,
	  struct position *p)
{
	const struct standstill_lane *const lane = &s->lanes[stream];
	/*
	 * These pointers are untrusted and point into another process, so do
	 * arithmetic with them, but never follow them.
	 */
	const uintptr_t chunk = (uintptr_t)s->run->places[stream].chunk;
	const size_t half = ((uintptr_t)lane->next - chunk) / 4;

	*p = (struct position){ .is_before = s->compiled->has_window };
	if (half >= REPLAY_CHUNK_WORDS * 2 ||
	    !word_reader_open(r, &s->compiled->file, stream))
		return false;
	for (;;) {
		const bool is_there = r->chunk_idx > lane->chunk_count ||
				      (r->chunk_idx == lane->chunk_count &&
				       word_reader_half(r) >= half);

		if (!word_reader_next(r, &p->item))
			return false;
		if (p->item.kind == WORD_BEGIN)
			p->is_before = false;
		if (p->item.kind == WORD_BEGIN || p->item.kind == WORD_THREAD)
			p->number = 0;
		if (p->item.kind == WORD_THREAD)
			p->thread = p->item.turn;
		p->number += p->item.kind >= WORD_MALLOC;
		if (is_there || p->item.kind == WORD_END)
			return true;
	}
}

/* Write a call such as "malloc(40)". */
static void
print_call(char *text, size_t cap, const struct word_item *item)
{
	const uint64_t size = item->size;

	switch (item->kind) {
	case WORD_MALLOC:
		snprintf(text, cap, "malloc(%" PRIu64 ")", size);
		break;
	case WORD_CALLOC:
		snprintf(text, cap, "calloc(1, %" PRIu64 ")", size);
		break;
	case WORD_MEMALIGN:
		snprintf(text, cap, "memalign(%" PRIu64 ", %" PRIu64 ")",
			 item->alignment, size);
		break;
	case WORD_REALLOC:
	case WORD_REALLOC_NULL:
		snprintf(text, cap, "realloc(%s, %" PRIu64 ")",
			 item->kind == WORD_REALLOC ? "p" : "NULL", size);
		break;
	case WORD_FREE:
		snprintf(text, cap, "free(p)");
		break;
	case WORD_CREATE:
		snprintf(text, cap, "pthread_create()");
		break;
	default:
		text[0] = '\0';
	}
}

/*
 * Write which call of which thread does not return, or which thread does not
 * end after its last call.
 */
static void
describe_call(const struct standstill *s, uint32_t stream, uint64_t limit_ms,
	      char *text, size_t cap)
{
	struct word_reader *const r = malloc(sizeof(*r));
	struct position p;
	char call[96] = "";
	int n = snprintf(text, cap, "no progress for %g s",
			 (double)limit_ms / 1000);

	text += n;
	cap -= (size_t)n;
	if (r == NULL || !find_call(r, s, stream, &p)) {
		snprintf(text, cap, " in a thread");
	} else if (p.item.kind == WORD_EXIT) {
		snprintf(text, cap,
			 ": thread %" PRIu64
			 " does not end after call %s, its last one",
			 p.thread, figure_count(p.number).text);
	} else {
		print_call(call, sizeof(call), &p.item);
		snprintf(text, cap,
			 ": thread %" PRIu64 " hangs%s%s%s%s its call %s%s",
			 p.thread, call[0] != '\0' ? " in " : "", call,
			 call[0] != '\0' ? "," : "",
			 p.item.kind >= WORD_MALLOC ? "" : " after",
			 figure_count(p.number).text,
			 p.is_before ? ", before the first measured call" : "");
	}
	free(r);
}

/* ------------------------------------------------------ what has changed? */

/* Update a lane from its place (lane_place.h), 'ms' after the previous look. */
static void
look_at(struct standstill_lane *lane, const struct lane_place *place,
	uint64_t ms)
{
	/*
	 * Relaxed loads suffice: this process draws conclusions only from
	 * values that have not changed for a long time.
	 */
	const struct standstill_lane now = {
		.next = atomic_load_explicit(&place->next,
					     memory_order_relaxed),
		.chunk_count = atomic_load_explicit(&place->chunk_count,
						    memory_order_relaxed),
		.state = atomic_load_explicit(&place->state,
					      memory_order_relaxed),
		.detail = atomic_load_explicit(&place->detail,
					       memory_order_relaxed),
		.ms = lane->ms + ms,
	};
	const bool is_same = lane->next == now.next &&
			     lane->chunk_count == now.chunk_count &&
			     lane->state == now.state &&
			     lane->detail == now.detail;

	*lane = now;
	if (!is_same)
		lane->ms = 0;
}

/* Does lane 'idx' wait for a thread that takes too long to end? */
static bool
waits_for_end(const struct standstill *s, uint32_t idx, uint64_t limit_ms)
{
	const struct standstill_lane *const lane = &s->lanes[idx];
	const uint32_t other = lane->detail;

	return lane->state == LANE_JOINS && lane->ms >= limit_ms &&
	       other < s->compiled->file.stream_count &&
	       s->lanes[other].state == LANE_ENDED &&
	       s->lanes[other].ms >= limit_ms;
}

/*
 * Find a lane whose thread stays in a call, or does not end after its last
 * call.  Return the number of lanes if there is none.
 */
static uint32_t
find_stuck(const struct standstill *s, uint64_t limit_ms)
{
	const uint32_t count = s->compiled->file.stream_count;

	for (uint32_t i = 0; i < count; i++) {
		const struct standstill_lane *const lane = &s->lanes[i];

		if (lane->state == LANE_CALLS && lane->ms >= limit_ms)
			return i;
		if (waits_for_end(s, i, limit_ms))
			return lane->detail;
	}
	return count;
}

/*
 * Have all threads stayed where they are for 'limit_ms', and is none in a
 * pause?  If so, and if find_stuck() finds no lane, all threads wait for one
 * another.
 */
static bool
all_wait(const struct standstill *s, uint64_t limit_ms)
{
	for (uint32_t i = 0; i < s->compiled->file.stream_count; i++)
		if (s->lanes[i].state == LANE_PAUSES ||
		    s->lanes[i].ms < limit_ms)
			return false;
	return true;
}

bool
standstill_look(struct standstill *s, uint64_t ms, uint64_t limit_ms,
		char *text, size_t cap)
{
	const uint32_t count = s->compiled->file.stream_count;
	const double seconds = (double)limit_ms / 1000;
	/* A relaxed load suffices: to see a new phase late does no harm. */
	const uint32_t phase =
		atomic_load_explicit(&s->run->phase, memory_order_relaxed);
	uint32_t stuck;

	s->phase_ms = phase == s->phase ? s->phase_ms + ms : 0;
	s->phase = phase;
	if (s->lanes == NULL ||
	    (phase != DRIVER_RUNS && s->phase_ms < limit_ms))
		return false;
	if (phase != DRIVER_RUNS) {
		snprintf(text, cap, "no progress for %g s, %s call", seconds,
			 phase == DRIVER_STARTS ? "before the first"
						: "after the last");
		return true;
	}
	for (uint32_t i = 0; i < count; i++)
		look_at(&s->lanes[i], &s->run->places[i], ms);
	stuck = find_stuck(s, limit_ms);
	if (stuck != count) {
		describe_call(s, stuck, limit_ms, text, cap);
		return true;
	}
	if (!all_wait(s, limit_ms))
		return false;
	snprintf(text, cap,
		 "no progress for %g s: all threads wait for one another; the "
		 "allocator must have changed the memory of the replay",
		 seconds);
	return true;
}
