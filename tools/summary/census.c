/* SPDX-License-Identifier: MIT */
/*
 * census.c - see census.h
 *
 * census_calls.c counts calls, and census_rows.c numbers stacks, threads and
 * heaps.  This file handles the definitions of call stacks, the names of
 * threads, the inherited blocks, the window and the peak.
 */
#include "tools/summary/census.h"

#include "tools/summary/census_calls.h"
#include "tools/summary/census_rows.h"
#include "tools/trace/scan.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ threads */

/* Set or replace the name of a thread.  Ignore an empty name. */
static void
name_thread(struct census *s, uint64_t id, const void *name, size_t nbytes)
{
	const uint32_t row = census_thread_row(s, id);
	char *copy;

	if (s->no_memory || nbytes == 0)
		return;
	copy = strndup(name, nbytes);
	if (copy == NULL) {
		s->no_memory = true;
		return;
	}
	free(s->threads[row].name);
	s->threads[row].name = copy;
}

static void
on_thread_create(struct census *s, const struct hatf_event *e)
{
	const uint8_t *next = e->attributes;
	const uint8_t *end = next;
	struct hatf_attr_item item;

	census_thread_row(s, e->thread);
	if (e->attributes_nbytes != 0)
		end += e->attributes_nbytes;
	while (next != end && hatf_attr_next(&next, end, &item))
		if (item.key == HATF_ATTR_NAME)
			name_thread(s, e->thread, item.text, item.text_nbytes);
}

static void
on_thread_destroy(struct census *s, const struct hatf_event *e)
{
	const uint32_t row = id_rows_find(&s->thread_rows, e->thread);
	const uint32_t *index;

	if (row == ID_ROWS_NONE)
		return;
	s->threads[row].ended = true;
	s->threads[row].outlived = (struct amount){ 0, 0 };
	index = s->lane_index + (size_t)row * CLASS_COUNT;
	for (unsigned c = 0; c < CLASS_COUNT; c++)
		if (index[c] != 0)
			amount_sum(&s->threads[row].outlived,
				   &s->by_lane.rows[index[c] - 1].live);
}

/* ----------------------------------------------------------------- comments */

static bool
begins(const struct hatf_event *e, const char *kind)
{
	const size_t nbytes = strlen(kind);

	return e->attributes_nbytes >= nbytes &&
	       memcmp(e->attributes, kind, nbytes) == 0;
}

/*
 * Return the value in the line "key=value" of a comment; NULL if there is none.
 */
static const char *
find_value(const struct hatf_event *e, const char *key, size_t *nbytes_ret)
{
	const size_t key_nbytes = strlen(key);
	const char *next = (const char *)e->attributes;
	const char *const end = next + e->attributes_nbytes;

	while (next < end) {
		const size_t left = (size_t)(end - next);
		const char *const stop = memchr(next, '\n', left);
		const size_t line = stop ? (size_t)(stop - next) : left;

		if (line > key_nbytes && next[key_nbytes] == '=' &&
		    memcmp(next, key, key_nbytes) == 0) {
			*nbytes_ret = line - key_nbytes - 1;
			return next + key_nbytes + 1;
		}
		next += line + (stop != NULL);
	}
	return NULL;
}

/*
 * Find the number in the line "key=NUMBER", in decimal.  Return false if there
 * is none.
 */
static bool
find_number(const struct hatf_event *e, const char *key, uint64_t *n_ret)
{
	size_t nbytes;
	const char *const text = find_value(e, key, &nbytes);
	char digits[24], *end;

	if (text == NULL || nbytes == 0 || nbytes >= sizeof(digits))
		return false;
	memcpy(digits, text, nbytes);
	digits[nbytes] = '\0';
	*n_ret = strtoull(digits, &end, 10);
	return *end == '\0';
}

/* Length of a tick if the trace does not state it (FORMAT.md, "Times"). */
#define COARSE_TICK_US 2000

/*
 * A comment "HATF clock" may announce a coarse clock.  Store the length of its
 * tick if this is the longest so far.
 */
static void
on_clock(struct census *s, const struct hatf_event *e)
{
	size_t nbytes;
	const char *const clock = find_value(e, "clock", &nbytes);
	uint64_t tick_us;

	if (clock == NULL || nbytes != 6 || memcmp(clock, "coarse", 6) != 0)
		return;
	if (!find_number(e, "step", &tick_us))
		tick_us = COARSE_TICK_US;
	if (tick_us > s->tick_us)
		s->tick_us = tick_us < UINT32_MAX ? tick_us : UINT32_MAX;
}

/*
 * Return the default length of a tick if the header names a clock that may be
 * coarse; otherwise 0.  The header does not state the length.
 */
static uint64_t
first_tick_us(const struct hatf_reader *reader)
{
	const char *const clock = hatf_reader_header(reader, "clock");

	return clock != NULL && (strcmp(clock, "coarse") == 0 ||
				 strcmp(clock, "auto") == 0)
		       ? COARSE_TICK_US
		       : 0;
}

/* Handle a comment that gives a thread a new name. */
static void
on_thread_name(struct census *s, const struct hatf_event *e)
{
	size_t nbytes;
	const char *const name = find_value(e, "name", &nbytes);
	uint64_t id;

	if (name != NULL && find_number(e, "thread", &id))
		name_thread(s, id, name, nbytes);
}

static void
on_comment(struct census *s, const struct hatf_event *e)
{
	if (begins(e, "HATF frame\n") || begins(e, "HATF stack\n") ||
	    begins(e, "HATF object\n")) {
		const struct hatf_record rec = {
			.tag = HATF_COMMENT,
			.attributes = e->attributes,
			.attributes_nbytes = e->attributes_nbytes,
			.offset = e->offset,
		};
		const enum hatf_status status =
			hatf_stacks_note(s->stacks, &rec, NULL);

		if (status == HATF_NO_MEMORY)
			s->no_memory = true;
		else if (status != HATF_OK)
			s->bad_definitions++;
	} else if (begins(e, "HATF thread\n")) {
		on_thread_name(s, e);
	} else if (begins(e, "HATF clock\n")) {
		on_clock(s, e);
	}
}

/* ------------------------------------------------------------------- window */

static uint64_t
on_axis(const struct census *s, const struct hatf_event *e)
{
	const uint64_t at = e->time;

	if (!census_axis_is_time(s))
		return s->event_count;
	return at > s->axis_start ? at - s->axis_start : 0;
}

/* Begin the window just before the event 'e'. */
static void
begin_window(struct census *s, const struct hatf_event *e)
{
	struct account_list *const lists[] = { &s->by_stack, &s->by_lane,
					       &s->by_heap };

	account_restart(&s->total);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (uint32_t row = 0; row < lists[i]->count; row++)
			account_restart(&lists[i]->rows[row]);
	memset(s->lifetime_events, 0, sizeof(s->lifetime_events));
	memset(s->lifetime_time, 0, sizeof(s->lifetime_time));
	for (uint32_t i = 0; i < s->crossing_rows.count; i++)
		s->crossings[i].freed = (struct amount){ 0, 0 };
	if (s->waste != NULL)
		waste_restart(s->waste);
	if (s->pairs != NULL)
		pairs_restart(s->pairs);
	/*
	 * Forget the last object of each thread: the window does not count
	 * allocs before its start, so it must not count their blocks as
	 * temporary.
	 */
	for (uint32_t row = 0; row < s->thread_rows.count; row++)
		s->threads[row].last_object = 0;
	s->alloc_calls = s->free_calls = s->realloc_calls = 0;
	s->failed_calls = 0;
	/*
	 * What is live now counts as the first peak of the window, and this
	 * peak begins epoch 1 (see account.h).
	 */
	s->epoch = 1;
	s->start = s->total.live;
	s->peak_level = history_level(&s->history, &s->start);
	s->peak_live_count = s->start.count;
	s->first = (struct moment){ s->event_count, e->time };
	s->peak = s->first;
	history_restart(&s->history, census_points_of(s));
	s->begun = true;
}

/* Does the event reach this bound of the window? */
static bool
reaches(const struct census *s, const struct hatf_event *e,
	const struct trace_bound *bound)
{
	return trace_bound_reached(bound, s->event_count, s->axis_start,
				   e->time);
}

/*
 * At the first event of the trace, set the start of the axis, and set the times
 * of 'first', 'peak' and 'last' to the event's time.  If the trace has no
 * times, the axis starts at 0.
 */
static void
begin_axis(struct census *s, const struct hatf_event *e)
{
	s->has_axis = true;
	s->axis_start = s->has_times ? e->time : 0;
	s->first.time = e->time;
	s->peak.time = e->time;
	s->last.time = e->time;
}

/*
 * After an event, update the current span of the history and the largest number
 * of live blocks.  If more is live than at the previous peak, the moment after
 * this event is the new peak.
 */
static inline void
note_peak(struct census *s, const struct hatf_event *e)
{
	const struct amount live = s->total.live;
	const uint64_t level = history_level(&s->history, &live);
	struct span *const span = history_now(&s->history);

	if (level > span->most)
		span->most = level;
	if (level < span->least)
		span->least = level;
	if (live.count > s->peak_live_count)
		s->peak_live_count = live.count;
	if (level <= s->peak_level)
		return;
	s->peak_level = level;
	s->peak.event = s->event_count;
	s->peak.time = e->time;
	s->epoch++;
}

/*
 * Call this before an event is counted.  Begin the axis or the window, if it
 * begins with this event.  Advance the history to the event.  Return false if
 * the window ends before the event.
 */
static bool
go_to(struct census *s, const struct hatf_event *e)
{
	const struct trace_window *const range = &s->window.range;
	uint64_t at;

	if (!s->has_axis)
		begin_axis(s, e);
	if (trace_window_counts(e) && range->to.is_set &&
	    reaches(s, e, &range->to)) {
		s->ended = true;
		return false;
	}
	if (trace_window_counts(e) && !s->begun && reaches(s, e, &range->from))
		begin_window(s, e);
	at = on_axis(s, e);
	if (at >= s->history.span_end || s->history.span_count == 0)
		history_advance(&s->history, at, census_points_of(s),
				&s->total.live);
	if (e->time > s->last.time)
		s->last.time = e->time;
	return true;
}

static void
take_event(struct census *s, const struct hatf_event *e)
{
	s->event_count += trace_window_counts(e);
	switch (e->kind) {
	case HATF_EVENT_ALLOC:
		census_on_alloc(s, e);
		break;
	case HATF_EVENT_FREE:
		census_on_free(s, e);
		break;
	case HATF_EVENT_REALLOC:
		census_on_realloc(s, e);
		break;
	case HATF_EVENT_THREAD_CREATE:
		on_thread_create(s, e);
		break;
	case HATF_EVENT_THREAD_DESTROY:
		on_thread_destroy(s, e);
		break;
	case HATF_EVENT_HEAP_DESTROY:
		census_on_heap_destroy(s, e);
		break;
	default:
		break;
	}
	note_peak(s, e);
}

/*
 * Number of events between prefetching the row of a block and using the row,
 * enough to hide the latency of memory.
 */
#define PREFETCH_AHEAD 16

/*
 * Prefetch the row that the event will need.  Without the attribute
 * 'always_inline', gcc assumes that this function has no effects, and omits the
 * calls of this function.
 */
static inline __attribute__((always_inline)) void
prefetch(const struct census *s, const struct hatf_event *e)
{
	const struct live_rows *const live = &s->live[0];
	const uint32_t number = e->old_block != 0 ? e->old_block : e->block;

	if (number < live->count && e->heap == 0)
		__builtin_prefetch(&live->rows[number], 1);
}

/* If there is only one heap, copy 'total' to its account (see 'by_heap'). */
static void
settle_heap(struct census *s)
{
	if (s->heap_rows.count == 1)
		s->by_heap.rows[0] = s->total;
}

bool
census_add(struct census *s, const struct hatf_event *events, size_t n)
{
	for (size_t i = 0; i < n && i < PREFETCH_AHEAD; i++)
		prefetch(s, &events[i]);
	for (size_t i = 0; i < n; i++) {
		const struct hatf_event *const e = &events[i];

		if (n - i > PREFETCH_AHEAD)
			prefetch(s, &e[PREFETCH_AHEAD]);
		if (s->no_memory)
			return false;
		if (e->kind == HATF_EVENT_COMMENT) {
			on_comment(s, e);
			continue;
		}
		if (!go_to(s, e)) {
			settle_heap(s);
			return false;
		}
		take_event(s, e);
	}
	settle_heap(s);
	if (s->history.no_memory)
		s->no_memory = true;
	return !s->no_memory;
}

/* --------------------------------------------------------- opening, closing */

/* Note the size class of an inherited block. */
static bool
note_class(void *ctx, const struct hatf_live *live)
{
	bool *const classes = ctx;

	classes[census_class(live->size)] = true;
	return true;
}

/*
 * Make the rows of the inherited blocks' size classes, in the order of the
 * classes.  The order in which hatf_events_visit_live() visits the blocks is
 * unsuitable, because it differs each time 'hatf' runs.
 */
static void
add_inherited_lanes(struct census *s, const struct hatf_events *events)
{
	const uint32_t thread = census_thread_row(s, 0);
	bool classes[CLASS_COUNT] = { false };

	hatf_events_visit_live(events, note_class, classes);
	for (unsigned c = 0; c < CLASS_COUNT && !s->no_memory; c++)
		if (classes[c])
			census_lane_row(s, thread, census_class_end(c));
}

/* Count a block that a forked child inherited from its parent. */
static bool
take_inherited(void *ctx, const struct hatf_live *live)
{
	struct census *const s = ctx;
	const uint32_t thread = census_thread_row(s, 0);
	const uint32_t heap = census_heap_row(s, live->heap);
	const struct live_block block = {
		.size = live->size,
		.stack = STACK_INHERITED,
		.lane_plus_1 = census_lane_row(s, thread, live->size) + 1,
	};

	if (s->no_memory)
		return false;
	census_begin_block(s, &block, live->block, heap);
	amount_add(&s->start, live->size);
	return !s->no_memory;
}

static void
begin_counting(struct census *s, const struct hatf_events *events)
{
	census_heap_row(s, 0);
	census_thread_row(s, 0);
	if (!census_add_stack_row(s, STACK_NONE, 0) ||
	    !census_add_stack_row(s, STACK_INHERITED, 0))
		s->no_memory = true;
	if (!s->no_memory)
		add_inherited_lanes(s, events);
	if (!s->no_memory)
		hatf_events_visit_live(events, take_inherited, s);
	s->peak_level = history_level(&s->history, &s->start);
	s->peak_live_count = s->start.count;
	s->epoch++;
}

struct census *
census_open(struct hatf_reader *reader, const struct hatf_events *events,
	    const struct census_window *window)
{
	struct census *const s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->reader = reader;
	if (window != NULL)
		s->window = *window;
	s->history.by_count = s->window.peak_is_count;
	s->history.is_fine = s->window.points_are_fine;
	s->begun = !s->window.range.from.is_set;
	s->unit_ns = scan_unit_ns(hatf_reader_header(reader, "unit"));
	s->has_times = s->unit_ns != 0;
	s->tick_us = first_tick_us(reader);
	if (hatf_stacks_open(&s->stacks) != HATF_OK)
		s->no_memory = true;
	else
		begin_counting(s, events);
	if (s->no_memory) {
		census_close(s);
		return NULL;
	}
	return s;
}

bool
census_count_waste(struct census *s)
{
	struct waste *const w = malloc(sizeof(*w));

	if (w == NULL)
		return false;
	waste_init(w);
	for (uint32_t heap = 0; heap < s->heap_rows.count; heap++) {
		const struct live_rows *const live = &s->live[heap];

		for (size_t i = 0; i < live->count; i++)
			if (live->rows[i].lane_plus_1 != 0)
				waste_begin(w, 0, live->rows[i].size, false);
	}
	s->waste = w;
	return true;
}

bool
census_count_pairs(struct census *s)
{
	struct pairs *const p = calloc(1, sizeof(*p));

	s->pairs = p;
	for (uint32_t heap = 0; p != NULL && heap < s->heap_rows.count;
	     heap++) {
		const struct live_rows *const live = &s->live[heap];

		for (size_t i = 0; i < live->count && !p->no_memory; i++)
			if (live->rows[i].lane_plus_1 != 0)
				census_begin_pair(s, &live->rows[i]);
	}
	return p != NULL && !p->no_memory;
}

void
census_end(struct census *s)
{
	struct hatf_event end = { .time = 0 };

	end.time = s->last.time;
	s->last.event = s->event_count;
	if (!s->begun && !s->no_memory)
		begin_window(s, &end); /* the window contains no event */
	history_end(&s->history, census_points_of(s), &s->total.live);
	settle_heap(s);
	if (s->history.no_memory || (s->pairs != NULL && s->pairs->no_memory))
		s->no_memory = true;
}

const struct live_block *
census_find_live(const struct census *s, const struct hatf_live *live)
{
	const uint32_t row = id_rows_find(&s->heap_rows, live->heap);

	return row != ID_ROWS_NONE ? live_rows_find(&s->live[row], live->block)
				   : NULL;
}

void
census_close(struct census *s)
{
	if (s == NULL)
		return;
	census_free_rows(s);
	account_list_free(&s->by_stack);
	account_list_free(&s->by_lane);
	account_list_free(&s->by_heap);
	id_rows_free(&s->stack_rows);
	id_rows_free(&s->thread_rows);
	id_rows_free(&s->heap_rows);
	id_rows_free(&s->crossing_rows);
	history_free(&s->history);
	hatf_stacks_close(s->stacks);
	free(s->waste);
	if (s->pairs != NULL)
		pairs_free(s->pairs);
	free(s->pairs);
	free(s);
}
