/* SPDX-License-Identifier: MIT */
/* replay_output.c - see replay_output.h */
#include "tools/replay/replay_output.h"

#include "tools/replay/replay_verdict.h"
#include "tools/ui/figure.h"
#include "tools/ui/message.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Text of a cell. */
struct cell {
	char text[48];
};

static struct cell
ratio_cell(const struct replay_runs *runs, enum replay_measure m, unsigned idx)
{
	const double ratio = verdict_ratio(runs, m, idx);
	struct cell cell = { "-" };

	if (!isnan(ratio))
		snprintf(cell.text, sizeof(cell.text), "%.2f", ratio);
	return cell;
}

/* Return the peak RSS divided by the largest number of live bytes. */
static struct cell
live_cell(const struct replay_runs *runs, unsigned idx)
{
	const double ratio = verdict_live_ratio(runs, idx);
	struct cell cell = { "-" };

	if (!isnan(ratio))
		snprintf(cell.text, sizeof(cell.text),
			 ratio < 1000 ? "%.2f" : "%.0f", ratio);
	return cell;
}

static struct cell
spread_cell(const struct replay_runs *runs, unsigned idx)
{
	const struct replay_spread *const s =
		&runs->columns[idx].measures[REPLAY_WALL];
	struct cell cell = { "-" };

	if (runs->repeat > 1 && !s->is_too_short)
		snprintf(cell.text, sizeof(cell.text), "%.0f%%",
			 verdict_spread(s) * 100);
	return cell;
}

/* ------------------------------------------------------------------ heading */

/* Print "3 WHATs", or "1 WHAT". */
static void
print_count(struct out *o, uint64_t n, const char *what)
{
	out_printf(o, "%s %s%s", figure_count(n).text, what, figure_plural(n));
}

/* Print "38.1 MiB in 2 000 blocks". */
static void
print_blocks(struct out *o, uint64_t nbytes, uint64_t count)
{
	out_printf(o, "%s in ", figure_nbytes(nbytes).text);
	print_count(o, count, "block");
}

/* If 'n' is not 0, print "left out: 3 WHATs". */
static void
print_left_out(struct out *o, uint64_t n, const char *what)
{
	if (n == 0)
		return;
	out_str(o, "  left out: ");
	print_count(o, n, what);
	out_str(o, "\n");
}

void
replay_print_heading(struct out *o, const struct replay_view *view)
{
	const struct compiled *const c = view->compiled;

	out_text(o, message_path(view->path));
	out_str(o, ": ");
	print_count(o, c->calls, "call");
	out_str(o, ", ");
	print_count(o, c->thread_count, "thread");
	if (c->thread_count > 1)
		out_printf(o, " (%s at once)",
			   figure_count(c->peak_threads).text);
	out_str(o, ", ");
	print_count(o, c->handovers, "hand-over");
	out_str(o, " between threads\n");
	out_printf(o, "  peak %s; ", figure_nbytes(c->peak_nbytes).text);
	out_printf(o, "most blocks %s, perhaps at another moment; at the end ",
		   figure_count(c->peak_count).text);
	print_blocks(o, c->end_nbytes, c->end_count);
	out_str(o, "\n");
	if (c->built_count != 0) {
		out_str(o, "  live before the first measured call: ");
		print_blocks(o, c->built_nbytes, c->built_count);
		out_str(o, "\n");
	}
	print_left_out(o, c->failed, "failed call");
	print_left_out(o, c->unknown, "unknown block");
	print_left_out(o, c->pooled, "pool call");
	if (c->replaced == 0)
		return;
	out_str(o, "  added: ");
	print_count(o, c->replaced, "missing free");
	out_str(o, "\n");
}

/* -------------------------------------------------------------------- table */

#define TABLE_COLUMNS 12

static const char *const latency_point_titles[LATENCY_POINTS] = {
	"50%", "90%", "99%", "99.9%", "99.99%", "most",
};

static const char *const headings[TABLE_COLUMNS] = {
	"allocator", "time", "x",      "+-",	  "CPU", "x",
	"peak RSS",  "x",    "x live", "end RSS", "x",	 "faults",
};

/* Print one row, aligned or in Markdown. */
static void
print_row(struct out *o, const struct replay_view *view, int width,
	  const char *const cells[TABLE_COLUMNS])
{
	static const int widths[TABLE_COLUMNS] = { 0,  10, 5, 4,  10, 5,
						   10, 5,  7, 10, 5,  9 };

	if (view->markdown) {
		for (int i = 0; i < TABLE_COLUMNS; i++)
			out_printf(o, "| %s ", cells[i]);
		out_str(o, "|\n");
		return;
	}
	out_printf(o, "%-*s", width, cells[0]);
	for (int i = 1; i < TABLE_COLUMNS; i++)
		out_printf(o, " %*s", widths[i], cells[i]);
	out_str(o, "\n");
}

static void
print_column(struct out *o, const struct replay_view *view, int width,
	     unsigned idx)
{
	const struct replay_runs *const runs = view->runs;
	const struct replay_column *const c = &runs->columns[idx];
	struct figure figures[REPLAY_MEASURES];
	struct cell ratios[REPLAY_MEASURES];
	const struct cell spread = spread_cell(runs, idx);

	if (c->fault[0] != '\0') {
		print_row(o, view, width,
			  (const char *[TABLE_COLUMNS]){
				  c->allocator->label, "failed", "-", "-", "-",
				  "-", "-", "-", "-", "-", "-", "-" });
		return;
	}
	for (unsigned m = 0; m < REPLAY_MEASURES; m++) {
		figures[m] =
			runs_median((enum replay_measure)m, &c->measures[m]);
		ratios[m] = ratio_cell(runs, (enum replay_measure)m, idx);
	}
	print_row(o, view, width,
		  (const char *[TABLE_COLUMNS]){
			  c->allocator->label, figures[REPLAY_WALL].text,
			  ratios[REPLAY_WALL].text, spread.text,
			  figures[REPLAY_CPU].text, ratios[REPLAY_CPU].text,
			  figures[REPLAY_PEAK_RSS].text,
			  ratios[REPLAY_PEAK_RSS].text,
			  live_cell(runs, idx).text,
			  figures[REPLAY_END_RSS].text,
			  ratios[REPLAY_END_RSS].text,
			  figures[REPLAY_FAULTS].text });
	if (c->failed != 0 && !view->markdown)
		out_printf(o, "%-*s failed calls: %s\n", width, "",
			   figure_count(c->failed).text);
}

/* Print how many calls failed, as a list below the table in Markdown. */
static void
print_failed_calls(struct out *o, const struct replay_runs *runs)
{
	for (unsigned i = 0; i < runs->count; i++) {
		const struct replay_column *const c = &runs->columns[i];

		if (c->fault[0] == '\0' && c->failed != 0)
			out_printf(o, "\n- %s: failed calls: %s\n",
				   c->allocator->label,
				   figure_count(c->failed).text);
	}
}

/*
 * Minimum number of calls for which the cost of one call is printed.  With
 * fewer calls, most of that cost would be the start of the run.
 */
#define CALLS_MIN 1000

/* Print the driver's own cost, which is subtracted in the rows above. */
static void
print_own_cost(struct out *o, const struct replay_view *view)
{
	const struct replay_spread *const s = view->runs->null.measures;
	const uint64_t calls = view->compiled->calls;

	out_printf(o, "%sCost of the replay itself (already subtracted): ",
		   view->markdown ? "\n" : "");
	out_printf(o, "%s", figure_ns(s[REPLAY_BUSIEST].median).text);
	if (calls >= CALLS_MIN)
		out_printf(o, " (%.1f ns a call)",
			   (double)s[REPLAY_BUSIEST].median / (double)calls);
	out_printf(o, ", CPU %s", figure_ns(s[REPLAY_CPU].median).text);
	out_printf(o, ", peak RSS %s\n",
		   figure_nbytes(s[REPLAY_PEAK_RSS].median).text);
}

/* Is a time in the table too short to measure? */
static bool
has_short_time(const struct replay_runs *runs)
{
	for (unsigned i = 0; i < runs->count; i++)
		if (runs->columns[i].fault[0] == '\0' &&
		    (runs->columns[i].measures[REPLAY_WALL].is_too_short ||
		     runs->columns[i].measures[REPLAY_CPU].is_too_short))
			return true;
	return false;
}

/* Say what "too short" means, and what the user can do. */
static void
print_short_times(struct out *o, const struct replay_view *view)
{
	if (view->compiled->calls == 0 || !has_short_time(view->runs))
		return;
	out_printf(o,
		   "%sToo short: the cost of the replay itself varies by as "
		   "much as this time; replay a longer trace, or time single "
		   "calls with --latency\n",
		   view->markdown ? "\n" : "");
}

/*
 * If threads wait for other threads, print how long all threads together were
 * in calls, and how long in waits.
 */
static void
print_waits(struct out *o, const struct replay_view *view)
{
	const struct replay_runs *const runs = view->runs;

	if (view->compiled->handovers == 0)
		return;
	out_printf(o,
		   "%sSum over all threads: time in calls + in waits for calls "
		   "of other threads:\n%s",
		   view->markdown ? "\n" : "", view->markdown ? "\n" : "");
	for (unsigned i = 0; i < runs->count; i++) {
		const struct replay_spread *const s = runs->columns[i].measures;

		if (runs->columns[i].fault[0] != '\0')
			continue;
		out_str(o, view->markdown ? "- " : "  ");
		out_str(o, runs->columns[i].allocator->label);
		out_printf(o, ": %s + ",
			   runs_median(REPLAY_BUSY, &s[REPLAY_BUSY]).text);
		out_printf(o, "%s (CPU ",
			   figure_ns(s[REPLAY_WAIT].median).text);
		out_printf(o, "%s)\n",
			   figure_ns(s[REPLAY_WAIT_CPU].median).text);
	}
}

/*
 * Print by how much the usable bytes of the blocks exceed the requested bytes.
 */
static void
print_usable(struct out *o, const struct replay_view *view)
{
	const struct replay_runs *const runs = view->runs;

	const char *separator = "";

	out_printf(o, "%sUsable bytes beyond the requested ones, at the peak:",
		   view->markdown ? "\n" : "");
	for (unsigned i = 0; i < runs->count; i++) {
		const struct replay_column *const c = &runs->columns[i];

		if (c->fault[0] != '\0')
			continue;
		out_printf(o, "%s ", separator);
		separator = ",";
		out_str(o, c->allocator->label);
		if (c->asked_nbytes == 0) {
			out_str(o, " unknown");
			continue;
		}
		out_printf(
			o, " %s (%.1f %%)",
			figure_nbytes(c->usable_nbytes - c->asked_nbytes).text,
			(double)(c->usable_nbytes - c->asked_nbytes) * 100 /
				(double)c->asked_nbytes);
	}
	out_str(o, "\n");
}

/* Print an allocator's own statistics. */
static void
print_own(struct out *o, const struct replay_column *column)
{
	const struct own_stats *const own = &column->own;

	if (column->own_source[0] == '\0') {
		out_str(o, " unknown");
		return;
	}
	if (own->used_nbytes != OWN_STATS_UNKNOWN)
		out_printf(o, " %s in blocks,",
			   figure_nbytes(own->used_nbytes).text);
	if (own->mapped_nbytes != OWN_STATS_UNKNOWN)
		out_printf(o, " %s from the system",
			   figure_nbytes(own->mapped_nbytes).text);
	if (own->arenas != OWN_STATS_UNKNOWN) {
		out_str(o, " in ");
		print_count(o, own->arenas, "arena");
	}
	out_printf(o, " (%s)", column->own_source);
}

/* Print the statistics of all allocators. */
static void
print_own_stats(struct out *o, const struct replay_view *view)
{
	out_printf(o, "%sThe allocators' own statistics, at the end:\n%s",
		   view->markdown ? "\n" : "", view->markdown ? "\n" : "");
	for (unsigned i = 0; i < view->runs->count; i++) {
		const struct replay_column *const c = &view->runs->columns[i];

		if (c->fault[0] != '\0')
			continue;
		out_str(o, view->markdown ? "- " : "  ");
		out_str(o, c->allocator->label);
		out_str(o, ":");
		print_own(o, c);
		out_str(o, "\n");
	}
}

/* Is the measure a time that is too short for all ranked allocators? */
static bool
are_all_short(const struct replay_runs *runs, enum replay_measure m)
{
	for (unsigned i = 0; i < runs->count; i++)
		if (verdict_is_ranked(runs, i) &&
		    !runs->columns[i].measures[m].is_too_short)
			return false;
	return true;
}

/* Print the best allocators for a measure. */
static void
print_best(struct out *o, const struct replay_runs *runs, const char *what,
	   enum replay_measure m)
{
	const unsigned best = verdict_best(runs, m);

	out_printf(o, "%s ", what);
	if (are_all_short(runs, m)) {
		out_str(o, "too short");
		return;
	}
	out_str(o, runs->columns[best].allocator->label);
	for (unsigned i = 0; i < runs->count; i++)
		if (i != best && verdict_is_equal(runs, m, best, i))
			out_printf(o, " = %s",
				   runs->columns[i].allocator->label);
}

/* Do two measures have the same best allocators? */
static bool
agree(const struct replay_runs *runs, enum replay_measure a,
      enum replay_measure b)
{
	const unsigned best_a = verdict_best(runs, a);
	const unsigned best_b = verdict_best(runs, b);

	for (unsigned i = 0; i < runs->count; i++)
		if (verdict_is_equal(runs, a, best_a, i) !=
		    verdict_is_equal(runs, b, best_b, i))
			return false;
	return true;
}

static void
print_verdict(struct out *o, const struct replay_view *view)
{
	const struct replay_runs *const runs = view->runs;

	unsigned ranked = 0;

	for (unsigned i = 0; i < runs->count; i++)
		ranked += verdict_is_ranked(runs, i);
	if (ranked < 2 || view->compiled->calls == 0)
		return;
	out_printf(o, "%sLeast ", view->markdown ? "\n" : "");
	/*
	 * A run in real time takes as long as the trace, so do not compare its
	 * time.
	 */
	if (!view->is_real_time)
		print_best(o, runs, "time:", REPLAY_WALL);
	if (view->is_real_time)
		print_best(o, runs, "CPU time:", REPLAY_CPU);
	else if (view->compiled->thread_count > 1 ||
		 !agree(runs, REPLAY_WALL, REPLAY_CPU))
		print_best(o, runs, "; CPU time:", REPLAY_CPU);
	print_best(o, runs, "; peak RSS:", REPLAY_PEAK_RSS);
	if (runs->repeat == 1)
		out_str(o, " (1 run, so the spread is unknown)\n");
	else
		out_printf(o,
			   " (medians of %u runs; \"=\" if the ranges overlap, "
			   "or the medians differ by at most 1 %%)\n",
			   runs->repeat);
}

/* Print a row of the latencies, or their heading if 'l' is NULL. */
static void
print_latency(struct out *o, const struct replay_view *view, int width,
	      const char *kind, const char *label, const struct latency *l)
{
	if (view->markdown)
		out_printf(o, "| %s | %s |", kind, label);
	else
		out_printf(o, "%-8s %-*s", kind, width, label);
	out_printf(o, view->markdown ? " %s |" : " %11s",
		   l != NULL ? figure_count(l->count).text : "calls");
	for (unsigned i = 0; i < LATENCY_POINTS; i++) {
		const struct figure n = figure_count(
			l != NULL ? (uint64_t)(l->points[i] + 0.5) : 0);

		out_printf(o, view->markdown ? " %s |" : " %9s",
			   l != NULL ? n.text : latency_point_titles[i]);
	}
	out_str(o, "\n");
}

/* Print the latencies of each kind of call that the trace has. */
static void
print_latencies(struct out *o, const struct replay_view *view, int width)
{
	const struct replay_runs *const runs = view->runs;

	out_str(o, "\n");
	print_latency(o, view, width, "ns", headings[0], NULL);
	for (int i = 0; i < 3 + LATENCY_POINTS && view->markdown; i++)
		out_str(o, i < 2 ? "|---" : "|---:");
	out_str(o, view->markdown ? "|\n" : "");
	for (unsigned k = 0; k < LATENCY_KINDS; k++) {
		if (runs->null.latencies[k].count == 0)
			continue;
		print_latency(o, view, width, latency_kind_words[k], "(none)",
			      &runs->null.latencies[k]);
		for (unsigned i = 0; i < runs->count; i++)
			if (runs->columns[i].fault[0] == '\0')
				print_latency(o, view, width,
					      latency_kind_words[k],
					      runs->columns[i].allocator->label,
					      &runs->columns[i].latencies[k]);
	}
}

void
replay_print_text(struct out *o, const struct replay_view *view)
{
	const struct replay_runs *const runs = view->runs;
	int width = (int)strlen(headings[0]);

	for (unsigned i = 0; i < runs->count; i++) {
		const int n = (int)strlen(runs->columns[i].allocator->label);

		width = n > width ? n : width;
	}
	replay_print_heading(o, view);
	out_str(o, "\n");
	print_row(o, view, width, headings);
	if (view->markdown) {
		for (int i = 0; i < TABLE_COLUMNS; i++)
			out_str(o, i == 0 ? "|---" : "|---:");
		out_str(o, "|\n");
	}
	for (unsigned i = 0; i < runs->count; i++)
		print_column(o, view, width, i);
	if (view->markdown)
		print_failed_calls(o, runs);
	print_own_cost(o, view);
	print_short_times(o, view);
	print_waits(o, view);
	if (runs->is_sized)
		print_usable(o, view);
	if (runs->asks_own)
		print_own_stats(o, view);
	print_verdict(o, view);
	if (runs->is_timed)
		print_latencies(o, view, width);
}

void
replay_print_checked(struct out *o, const struct replay_view *view)
{
	const struct replay_runs *const runs = view->runs;

	replay_print_heading(o, view);
	for (unsigned i = 0; i < runs->count; i++) {
		if (runs->columns[i].fault[0] != '\0')
			continue;
		out_str(o, runs->columns[i].allocator->label);
		out_str(o, ": ");
		print_count(o, runs->repeat, "run");
		out_str(o, "; all calls ran in order, and no two calls used "
			   "the same block at once\n");
	}
}
