/* SPDX-License-Identifier: MIT */
/* show_times.c - see show_times.h */
#include "tools/show/show_times.h"

#include "tools/show/show.h"

#include <stdio.h>

/* Maximum number of lines of the table. */
#define TIME_ROWS 20

/*
 * Format a rate per second: 'n' bytes or blocks in 'units' units of the trace's
 * time.  Return "-" if the trace has no times or 'units' is 0.
 */
static struct figure
show_rate(const struct census *c, struct figure (*show)(uint64_t n), uint64_t n,
	  uint64_t units)
{
	const double ns = (double)units * (double)c->unit_ns;
	const double rate = ns > 0 ? (double)n * 1e9 / ns : 0;

	/*
	 * Show "-" also for a rate that does not fit into 64 bits, because no
	 * real heap reaches such a rate.
	 */
	if (ns > 0 && rate < 1e19)
		return show((uint64_t)rate);
	return (struct figure){ "-" };
}

/*
 * Print a line for the part of the run that begins at 'begin'.  'units' is how
 * long this part lasts inside the window.
 */
static void
print_span(struct out *o, const struct census *c, uint64_t begin,
	   uint64_t units, const struct span *sum)
{
	const struct amount made = sum->allocated;

	out_printf(o, "%11s", figure_nbytes(sum->most).text);
	out_printf(o, " %11s", figure_nbytes(sum->live.nbytes).text);
	out_printf(o, " %11s", figure_nbytes(sum->allocated.nbytes).text);
	out_printf(o, " %12s", figure_count(sum->allocated.count).text);
	out_printf(o, " %12s", figure_count(sum->free_count).text);
	out_printf(o, " %12s",
		   show_rate(c, figure_nbytes, made.nbytes, units).text);
	out_printf(o, " %13s  from ",
		   show_rate(c, figure_count, made.count, units).text);
	out_printf(o, "%s\n", show_distance(c, begin).text);
}

/*
 * Find where the window begins and ends on the axis of the history.  If the
 * user gave the beginning as a time, use this time.  '*to_ret' is, on an axis
 * of times:
 *   - just after the last event, if no event reached the end of the window;
 *   - the end of the window, if an event reached it and the user gave it as a
 *     time.
 * In all other cases, '*to_ret' is the end of the last span, which may be after
 * the last event.
 */
static void
find_window(const struct census *c, uint64_t *from_ret, uint64_t *to_ret)
{
	const struct history *const h = &c->history;
	const struct trace_window *const range = &c->window.range;
	const bool is_time = census_axis_is_time(c);

	*from_ret = is_time ? c->first.time - c->axis_start : c->first.event;
	if (is_time && range->from.is_set && range->from.is_time)
		*from_ret = range->from.at;
	*to_ret = h->span_count == 0 ? 0
				     : (h->spans[h->span_count - 1].number + 1)
					       << h->span_shift;
	if (is_time && !c->ended)
		*to_ret = c->last.time - c->axis_start + 1;
	else if (is_time && range->to.is_set && range->to.is_time)
		*to_ret = range->to.at;
}

/*
 * Sum the spans that have an index of at least '*next' and a number below
 * 'stop'.  Set '*next' to the index of the first span after these spans.
 * Return false if there are no such spans.
 */
static bool
sum_spans(const struct history *h, size_t *next, uint64_t stop,
	  struct span *sum_ret)
{
	const size_t first = *next;

	*sum_ret = (struct span){ .number = 0 };
	for (; *next < h->span_count && h->spans[*next].number < stop;
	     ++*next) {
		const struct span *const s = &h->spans[*next];

		sum_ret->live = s->live;
		amount_sum(&sum_ret->allocated, &s->allocated);
		sum_ret->free_count += s->free_count;
		if (s->most > sum_ret->most)
			sum_ret->most = s->most;
	}
	return *next != first;
}

void
show_times(struct out *o, const struct census *c)
{
	const struct history *const h = &c->history;
	const unsigned shift = h->span_shift;
	uint64_t from, to, end, step;
	char line[128];
	size_t next = 0;

	find_window(c, &from, &to);
	end = to > from ? ((to - 1) >> shift) + 1 : 0;
	step = end == 0 ? 1 : (end - (from >> shift) - 1) / TIME_ROWS + 1;
	snprintf(line, sizeof(line), "%11s %11s %11s %12s %12s %12s %13s  %s\n",
		 "most live", "live at end", "allocated", "blocks", "frees",
		 "bytes/s", "blocks/s", "time");
	show_heading(o, line);
	for (uint64_t first = from >> shift; first < end; first += step) {
		uint64_t begin = first << shift, stop = (first + step) << shift;
		struct span sum;

		if (begin < from)
			begin = from;
		if (stop > to)
			stop = to;
		if (sum_spans(h, &next, first + step, &sum))
			print_span(o, c, begin, stop - begin, &sum);
	}
}

json_t *
show_json_times(const struct census *c)
{
	const struct history *const h = &c->history;
	json_t *const list = json_array();

	for (size_t i = 0; i < h->span_count; i++) {
		const struct span *const s = &h->spans[i];
		const uint64_t begin = s->number << h->span_shift;

		json_array_append_new(
			list,
			json_pack("{s:o, s:o, s:o, s:o, s:o}", "begin",
				  c->has_times ? show_json_ns(c, begin)
					       : json_u64(begin),
				  "live", show_json_amount(&s->live),
				  "most_bytes", json_u64(s->most), "allocated",
				  show_json_amount(&s->allocated), "frees",
				  json_u64(s->free_count)));
	}
	return list;
}
