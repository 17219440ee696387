/* SPDX-License-Identifier: MIT */
/* page_data.c - see page_data.h */
#include "tools/report/page_data.h"

#include "tools/report/page_json.h"
#include "tools/report/page_pairs.h"
#include "tools/report/page_sites.h"
#include "tools/report/page_threads.h"
#include "tools/summary/groups.h"
#include "tools/ui/figure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The tables from which the data block of a trace is written. */
struct data {
	const struct gathering *g;
	const struct census *c;
	struct page_sights *sights;
	struct page_tree tree;
	struct page_threads threads;
	struct page_sites sites;
	uint64_t end; /* end of the axis, as a distance from its start */
};

/* -------------------------------------------------------------------- meta */

/* Write the start of the trace as ISO 8601, if the header states it. */
static void
put_started(struct out *o, const struct data *d)
{
	const char *const start =
		hatf_reader_header(d->g->scan.reader, "start_time");
	char text[40];
	struct tm tm;
	time_t seconds;

	if (start == NULL)
		return;
	seconds = (time_t)(strtoull(start, NULL, 10) / 1000000000);
	if (gmtime_r(&seconds, &tm) == NULL ||
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		return;
	page_put_named(o, "started", text);
}

/*
 * Return the longest step of the clock in microseconds, or 0 if the trace does
 * not state how the recorder took times (FORMAT.md, "Times").
 */
static uint64_t
tick_of(const struct data *d)
{
	static const struct {
		const char *clock;
		uint64_t tick_us;
	} ticks[] = { { "ns", 1 }, { "us", 2 } };
	const char *const clock =
		hatf_reader_header(d->g->scan.reader, "clock");
	uint64_t tick_us = d->c->tick_us;

	for (size_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++)
		if (clock != NULL && strcmp(clock, ticks[i].clock) == 0 &&
		    ticks[i].tick_us > tick_us)
			tick_us = ticks[i].tick_us;
	return tick_us;
}

static void
write_meta(const struct data *d, struct out *o)
{
	static const char *const keys[] = { "command", "pid", "host" };

	page_put_key(o, false, "meta");
	out_str(o, "{\"events\":");
	out_u64(o, d->c->event_count);
	page_put_key(o, false, "duration");
	page_put_time(o, d->c, d->end);
	if (d->c->has_times && tick_of(d) != 0)
		page_put_u64(o, "tick", tick_of(d));
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *const value =
			hatf_reader_header(d->g->scan.reader, keys[i]);

		if (value != NULL)
			page_put_named(o, keys[i], value);
	}
	put_started(o, d);
	out_str(o, "}");
}

static void
write_totals(const struct data *d, struct out *o)
{
	const struct census *const c = d->c;
	const struct account *const t = &c->total;
	const struct amount at_peak = census_at_peak(c, t);
	const uint64_t peak = c->has_times ? c->peak.time : c->peak.event;

	page_put_key(o, false, "totals");
	out_str(o, "{\"peakBytes\":");
	out_u64(o, at_peak.nbytes);
	page_put_u64(o, "peakBlocks", at_peak.count);
	page_put_key(o, false, "peakTime");
	page_put_time(o, c, peak > c->axis_start ? peak - c->axis_start : 0);
	page_put_u64(o, "endBytes", t->live.nbytes);
	page_put_u64(o, "endBlocks", t->live.count);
	page_put_u64(o, "allocBytes", t->allocated.nbytes);
	page_put_u64(o, "allocBlocks", t->allocated.count);
	page_put_u64(o, "freedBlocks", t->freed.count);
	page_put_u64(o, "tempBytes", t->temporary.nbytes);
	page_put_u64(o, "tempBlocks", t->temporary.count);
	page_put_u64(o, "movedBytes", t->moved.nbytes);
	page_put_u64(o, "movedBlocks", t->moved.count);
	page_put_u64(o, "threads", c->thread_rows.count);
	out_str(o, "}");
}

/* ------------------------------------------------------------------ series */

/*
 * Return the end of interval 'number' of width 2^shift, but at most the end of
 * the axis.
 */
static uint64_t
end_of(const struct data *d, uint64_t number, unsigned shift)
{
	const uint64_t at = (number + 1) << shift;

	return at < d->end ? at : d->end;
}

/*
 * Return the figure of the span 's' that write_series() writes for
 * keys[column].
 */
static uint64_t
span_value(const struct span *s, unsigned column)
{
	const uint64_t values[] = { s->live.nbytes, s->live.count, s->most,
				    s->allocated.nbytes, s->allocated.count };

	return values[column];
}

static void
write_series(const struct data *d, struct out *o)
{
	static const char *const keys[] = { "bytes", "blocks", "max",
					    "allocBytes", "allocBlocks" };
	const struct history *const h = &d->c->history;

	page_put_key(o, false, "series");
	out_str(o, "{\"width\":");
	page_put_time(o, d->c, (uint64_t)1 << h->span_shift);
	page_put_key(o, false, "time");
	out_str(o, "[");
	for (size_t i = 0; i < h->span_count; i++) {
		if (i != 0)
			out_str(o, ",");
		page_put_time(o, d->c,
			      end_of(d, h->spans[i].number, h->span_shift));
	}
	out_str(o, "]");
	for (unsigned k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		page_put_key(o, false, keys[k]);
		out_str(o, "[");
		for (size_t i = 0; i < h->span_count; i++) {
			if (i != 0)
				out_str(o, ",");
			out_u64(o, span_value(&h->spans[i], k));
		}
		out_str(o, "]");
	}
	out_str(o, "}");
}

static void
write_points(const struct data *d, struct out *o)
{
	const struct history *const h = &d->c->history;

	page_put_key(o, false, "points");
	out_str(o, "{\"width\":");
	page_put_time(o, d->c, (uint64_t)1 << d->sites.point_shift);
	page_put_key(o, false, "time");
	out_str(o, "[");
	for (size_t i = 0; i < h->point_count; i++) {
		const uint64_t number = page_sites_point(&d->sites, i);

		if (i != 0 && page_sites_point(&d->sites, i - 1) == number)
			continue;
		if (i != 0)
			out_str(o, ",");
		page_put_time(o, d->c, end_of(d, number, d->sites.point_shift));
	}
	out_str(o, "]}");
}

static void
write_marks(struct data *d, struct out *o)
{
	const struct page_sights *const s = d->sights;

	page_put_key(o, false, "marks");
	out_str(o, "{\"time\":[");
	for (uint32_t i = 0; i < s->mark_count; i++) {
		if (i != 0)
			out_str(o, ",");
		page_put_time(o, d->c, s->marks[i].at);
	}
	out_str(o, "],\"text\":[");
	for (uint32_t i = 0; i < s->mark_count; i++) {
		if (i != 0)
			out_str(o, ",");
		out_u64(o, page_tree_text(&d->tree, s->marks[i].text));
	}
	out_str(o, "]}");
}

/* -------------------------------------------------------- sizes, lifetimes */

typedef const struct amount histogram[CLASS_COUNT][CLASS_COUNT];

/*
 * Return the number of size classes up to the largest one in use.
 * count_lives() does the same for lifetime classes.
 */
static unsigned
count_sizes(const struct census *c)
{
	unsigned n = 1;

	for (uint32_t i = 0; i < c->by_lane.count; i++)
		if (c->lanes[i].size_class >= n)
			n = c->lanes[i].size_class + 1;
	return n;
}

static unsigned
count_lives(histogram *cells)
{
	for (unsigned n = CLASS_COUNT; n > 1; n--)
		for (unsigned size = 0; size < CLASS_COUNT; size++)
			if ((*cells)[size][n - 1].count != 0)
				return n;
	return 1;
}

static void
put_cell(struct out *o, bool *first, unsigned size, int life,
	 const struct amount *a)
{
	if (a->count == 0)
		return;
	out_printf(o,
		   *first ? "%u,%d,%" PRIu64 ",%" PRIu64
			  : ",%u,%d,%" PRIu64 ",%" PRIu64,
		   size, life, a->count, a->nbytes);
	*first = false;
}

static void
write_cells(const struct census *c, struct out *o, histogram *cells)
{
	struct amount live[CLASS_COUNT] = { 0 };
	bool first = true;

	for (uint32_t i = 0; i < c->by_lane.count; i++)
		amount_sum(&live[c->lanes[i].size_class],
			   &c->by_lane.rows[i].live);
	out_str(o, "],\"cells\":[");
	for (unsigned size = 0; size < CLASS_COUNT; size++) {
		put_cell(o, &first, size, -1, &live[size]);
		for (unsigned life = 0; life < CLASS_COUNT; life++)
			put_cell(o, &first, size, (int)life,
				 &(*cells)[size][life]);
	}
	out_str(o, "]}");
}

static void
write_histogram(const struct data *d, struct out *o)
{
	const struct census *const c = d->c;
	histogram *const cells =
		c->has_times ? &c->lifetime_time : &c->lifetime_events;
	const unsigned sizes = count_sizes(c), lives = count_lives(cells);

	page_put_key(o, false, "sizeLife");
	out_str(o, "{\"size\":[");
	for (unsigned i = 0; i < sizes; i++) {
		if (i != 0)
			out_str(o, ",");
		out_u64(o, census_class_end(i));
	}
	out_str(o, "],\"life\":[");
	for (unsigned i = 0; i < lives; i++) {
		if (i != 0)
			out_str(o, ",");
		page_put_time(o, c, census_class_end(i));
	}
	write_cells(c, o, cells);
}

/* ------------------------------------------------------------------ health */

static void
put_line(struct out *o, bool *first, const char *level, const char *text)
{
	out_str(o, *first ? "[{\"level\":\"" : ",{\"level\":\"");
	*first = false;
	out_str(o, level);
	out_str(o, "\",\"text\":");
	page_put_text(o, text);
	out_str(o, "}");
}

static void
put_fact(struct out *o, bool *first, const char *level, uint64_t n,
	 const char *text)
{
	char line[160];

	if (n == 0)
		return;
	snprintf(line, sizeof(line), "%s: %s.", text, figure_count(n).text);
	put_line(o, first, level, line);
}

static void
write_health(const struct data *d, struct out *o)
{
	struct hatf_events_stats seen = { .struct_nbytes = sizeof(seen) };
	struct hatf_reader_stats read = { .struct_nbytes = sizeof(read) };
	const char *const heritage = scan_unknown_heritage(&d->g->scan);
	const char *const start = scan_unknown_start(&d->g->scan);
	const struct census *const c = d->c;
	bool first = true;

	hatf_events_get_stats(d->g->scan.events, &seen);
	hatf_reader_get_stats(d->g->scan.reader, &read);
	page_put_key(o, false, "health");
	if (d->g->fault != NULL)
		put_line(o, &first, "bad", d->g->fault);
	else
		put_line(o, &first, "ok", "The trace is complete.");
	put_fact(o, &first, "bad", read.lost_count,
		 "Events lost while recording");
	put_fact(o, &first, "bad", seen.violation_count,
		 "Events that contradict others ('hatf verify' lists them)");
	put_fact(o, &first, "note", c->unknown_frees,
		 scan_began_late(&d->g->scan)
			 ? "Frees of blocks from before the trace"
			 : "Frees of unknown blocks");
	put_fact(o, &first, "note", c->replaced.count,
		 "Live blocks whose address was allocated again");
	put_fact(o, &first, "note", c->failed_calls, "Failed calls");
	put_fact(o, &first, "bad", c->undefined_stacks,
		 "Calls with an undefined stack");
	put_fact(o, &first, "bad", c->bad_definitions,
		 "Malformed definitions of frames and stacks");
	put_fact(o, &first, "bad", c->wrapped_sums,
		 "Blocks whose size made a sum overflow (the sum is wrong)");
	put_fact(o, &first, "note", d->sights->marks_left_out,
		 "Marks of the program that the page does not show");
	if (heritage != NULL)
		put_line(o, &first, "note", heritage);
	if (start != NULL)
		put_line(o, &first, "bad", start);
	else if (scan_began_late(&d->g->scan))
		put_line(o, &first, "note",
			 "The trace began while the program was running, and "
			 "lacks the blocks that were live then.");
	out_str(o, "]");
}

/* ------------------------------------------------------------------- whole */

static const char *
last_part(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static void
put_time(struct out *o, const void *ctx, uint64_t at)
{
	page_put_time(o, ctx, at);
}

static void
write_trace(struct data *d, struct out *o)
{
	const struct census *const c = d->c;

	out_str(o, "{\"name\":");
	page_put_text(o, last_part(d->g->scan.path));
	page_put_named(o, "axis", c->has_times ? "us" : "events");
	page_put_key(o, false, "stacks");
	out_str(o, d->sites.of_stacks ? "true" : "false");
	write_meta(d, o);
	write_totals(d, o);
	write_series(d, o);
	write_points(d, o);
	write_marks(d, o);
	write_histogram(d, o);
	page_sites_write(&d->sites, o);
	page_threads_write(&d->threads, &d->tree, d->sights, o);
	if (d->sites.of_stacks && !page_pairs_write(&d->sites, &d->threads, o))
		d->tree.no_memory = true;
	page_map_write(&d->sights->map, o, d->end, put_time, c);
	write_health(d, o);
	/*
	 * Write the strings last, because writing the other members adds
	 * strings.
	 */
	page_tree_write(&d->tree, o);
	out_str(o, "}");
}

bool
page_data_write(struct out *o, const struct gathering *g,
		struct page_sights *sights, uint64_t room)
{
	const struct census *const c = g->census;
	const uint64_t end = c->has_times ? c->last.time : c->last.event;
	struct data d = {
		.g = g,
		.c = c,
		.sights = sights,
		.end = end > c->axis_start ? end - c->axis_start : 0,
	};
	bool ok;

	page_tree_begin(&d.tree, c->stacks, g->names);
	ok = !sights->no_memory && page_threads_make(&d.threads, c) &&
	     page_sites_make(&d.sites, c, g->names, &d.threads, &d.tree, room);
	if (ok)
		write_trace(&d, o);
	ok = ok && !d.tree.no_memory;
	page_sites_free(&d.sites);
	page_threads_free(&d.threads);
	page_tree_free(&d.tree);
	return ok;
}
