/* SPDX-License-Identifier: MIT */
/* leaks.c - hatf leaks: the blocks that are live at the end, by site */
#include "tools/commands/commands.h"
#include "tools/show/segments_note.h"
#include "tools/show/show.h"
#include "tools/show/suppressions.h"
#include "tools/show/trends.h"
#include "tools/show/wrapper_hint.h"
#include "tools/sites/startup_stack.h"
#include "tools/ui/escape.h"
#include "tools/ui/figure.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_FAIL_OVER,
	OPT_SUPPRESSIONS,
	OPT_STACKS,
	OPT_TOP,
	OPT_JSON,
	OPT_RAW_STACKS,
	OPT_WRAPPER,
	OPT_JOBS,
	OPT_NO_PARENT,
};

static const struct opt options[] = {
	{ "fail-over", 'f', "SIZE",
	  "exit with status 3 if more than SIZE bytes (such as 0,\n"
	  "64K, 1G) are live at the end and not suppressed" },
	{ "suppressions", 's', "FILE",
	  "leave out the stacks that a suppression file of\n"
	  "LeakSanitizer names; may be given more than once" },
	{ "stacks", 'g', NULL, "print each site's whole call stacks" },
	{ "top", 'n', "N", "print the N largest sites (default 20, 0: all)" },
	{ "json", 'j', NULL, "print a line with a JSON object for each file" },
	{ "raw-stacks", 'R', NULL,
	  "show all frames: a site may then be in an allocator\n"
	  "or in the standard library of C, C++ or Rust; also\n"
	  "count what these libraries allocate for themselves when\n"
	  "the program starts" },
	{ "wrapper", '\0', "GLOB",
	  "hide functions that match GLOB, such as 'xmalloc': the\n"
	  "site is their caller; may be given more than once" },
	{ "jobs", 'w', "N",
	  "decompress the input with N more threads (default 0)" },
	{ "no-parent", 'p', NULL,
	  "do not read the trace of a forked child's parent" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf leaks",
	"[OPTIONS] FILE...",
	"Print the blocks that are live at the end, by call site: "
	"their\nbytes, number and age, and whether the site's live bytes grow "
	"through\n"
	"the run.  Whether the program could still reach a block is unknown.\n"
	"Call sites need a trace with call stacks, which 'hatf record' takes.\n"
	"FILE is in any format of 'hatf convert'; '-' is standard input.\n",
	"Exit status: 0 if every trace is complete, 1 if a trace is\n"
	"incomplete or cannot be read, or if --fail-over cannot judge its\n"
	"live bytes because they are doubtful, 2 for wrong usage, 3 if one\n"
	"of the traces has more than --fail-over allows.\n",
	false,
	options
};

/* The options. */
struct ask {
	bool json, stacks, has_limit;
	uint64_t limit; /* argument of --fail-over */
	uint64_t top;
	struct suppressions suppressions;
	struct gather_options gathering;
	struct segments_note segments;
};

/* What the command prints about one trace. */
struct leaks {
	struct gathering *g;
	const struct ask *ask;
	struct suppressions *suppressions;
	struct groups sites;
	struct ages *ages;
	struct trend *trends; /* one for each site; NULL: no stacks */
	uint32_t *order;
	uint32_t count;
	/* 'startup': blocks of standard libraries (startup_stack.h) */
	struct amount live, suppressed, startup;
};

/* -------------------------------------------------------------- suppression */

/*
 * Leave out the live blocks of a stack if a suppression matches the stack, or
 * if a standard library allocated the blocks at the program's start.  Return
 * whether the blocks are left out.
 */
static bool
leave_out(struct leaks *l, uint64_t stack, const struct amount *live)
{
	const struct hatf_stacks *const stacks = l->g->census->stacks;
	struct suppression *const s =
		suppressions_find(l->suppressions, stacks, stack);

	if (s != NULL) {
		s->count += live->count;
		s->nbytes += live->nbytes;
		amount_sum(&l->suppressed, live);
		return true;
	}
	if (l->ask->gathering.view.is_raw || !startup_stack_is(stacks, stack))
		return false;
	amount_sum(&l->startup, live);
	return true;
}

/*
 * For each stack whose live blocks are left out (leave_out()), clear the row of
 * the census, so that the stack counts for no site.  Then sum up what is live.
 */
static void
suppress(struct leaks *l)
{
	struct census *const c = l->g->census;

	/* Reset the counts of the previous trace. */
	for (size_t i = 0; i < l->suppressions->count; i++) {
		l->suppressions->rows[i].count = 0;
		l->suppressions->rows[i].nbytes = 0;
	}
	for (uint32_t row = STACK_FIRST; row < c->by_stack.count; row++) {
		const struct amount live = c->by_stack.rows[row].live;

		if (live.count != 0 && leave_out(l, c->stack_ids[row], &live))
			c->by_stack.rows[row] =
				(struct account){ .epoch = c->epoch };
	}
	l->live.count =
		c->total.live.count - l->suppressed.count - l->startup.count;
	l->live.nbytes =
		c->total.live.nbytes - l->suppressed.nbytes - l->startup.nbytes;
}

/* ------------------------------------------------------------------- stacks */

static int
compare_bytes(const void *a, const void *b, void *ctx)
{
	const struct census *const c = ctx;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const uint64_t m = c->by_stack.rows[x].live.nbytes;
	const uint64_t n = c->by_stack.rows[y].live.nbytes;

	if (m != n)
		return m < n ? 1 : -1;
	return x < y ? -1 : x > y;
}

/*
 * Return the census rows of those stacks of a site that have live blocks.  The
 * stack with the most live bytes comes first.  The caller frees the array.
 * Return NULL if there is no memory.
 */
static uint32_t *
find_stacks(const struct leaks *l, uint32_t site, uint32_t *n_ret)
{
	struct census *const c = l->g->census;
	uint32_t *const rows =
		malloc((l->sites.rows[site].stack_count + 1) * sizeof(*rows));

	*n_ret = 0;
	if (rows == NULL)
		return NULL;
	for (uint32_t row = 0; row < c->by_stack.count; row++)
		if (c->by_stack.rows[row].live.count != 0 &&
		    l->sites.group_of[row] == site)
			rows[(*n_ret)++] = row;
	qsort_r(rows, *n_ret, sizeof(*rows), compare_bytes, c);
	return rows;
}

/* -------------------------------------------------------------------- text */

static void
print_frame(void *ctx, const char *frame)
{
	struct out *const o = ctx;

	out_str(o, "                          ");
	show_name(o, frame, 26);
	out_str(o, "\n");
}

static bool
print_stacks(struct out *o, const struct leaks *l, uint32_t site)
{
	const struct census *const c = l->g->census;
	uint32_t n;
	uint32_t *const rows = find_stacks(l, site, &n);

	if (rows == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct amount live = c->by_stack.rows[rows[i]].live;

		out_printf(o, "      %10s", figure_nbytes(live.nbytes).text);
		out_printf(o, " in %s block%s, allocated by the stack\n",
			   figure_count(live.count).text,
			   figure_plural(live.count));
		site_names_walk(l->g->names, c->stack_ids[rows[i]], print_frame,
				o);
	}
	free(rows);
	return true;
}

static void
print_trend(struct out *o, const struct leaks *l, uint32_t site)
{
	const struct trend *const t = &l->trends[site];
	uint64_t max = 0;

	for (unsigned i = 0; i < TREND_COUNT; i++)
		if (t->nbytes[i] > max)
			max = t->nbytes[i];
	out_str(o, ", over time ");
	show_bars(o, t->nbytes, TREND_COUNT, max);
	if (t->grows)
		out_printf(o, ", grows since %s",
			   show_distance(l->g->census,
					 trends_moment(l->g->census, t->since))
				   .text);
}

static bool
print_site(struct out *o, const struct leaks *l, uint32_t site)
{
	const struct group *const row = &l->sites.rows[site];

	out_printf(o, "%12s", figure_nbytes(row->sum.live.nbytes).text);
	out_printf(o, " %10s  ", figure_count(row->sum.live.count).text);
	show_heading(o, row->name);
	out_printf(o, "\n%25s", "");
	show_ages(o, l->g->census, &l->ages[site], true);
	if (l->trends != NULL)
		print_trend(o, l, site);
	out_str(o, "\n");
	return !l->ask->stacks || !l->sites.of_stacks ||
	       print_stacks(o, l, site);
}

static void
print_suppressed(struct out *o, const struct leaks *l)
{
	if (l->suppressed.count == 0)
		return;
	out_printf(o, "Suppressed: %s in ",
		   figure_nbytes(l->suppressed.nbytes).text);
	out_printf(o, "%s block%s\n", figure_count(l->suppressed.count).text,
		   figure_plural(l->suppressed.count));
	for (size_t i = 0; i < l->suppressions->count; i++) {
		const struct suppression *const s = &l->suppressions->rows[i];

		if (s->count == 0)
			continue;
		out_printf(o, "%12s", figure_nbytes(s->nbytes).text);
		out_printf(o, " %10s  leak:", figure_count(s->count).text);
		out_text(o, s->pattern);
		out_str(o, "\n");
	}
}

static void
print_startup(struct out *o, const struct leaks *l)
{
	if (l->startup.count == 0)
		return;
	out_printf(o, "Left out: %s in ",
		   figure_nbytes(l->startup.nbytes).text);
	out_printf(o,
		   "%s block%s that standard libraries allocated for "
		   "themselves when the program started\n",
		   figure_count(l->startup.count).text,
		   figure_plural(l->startup.count));
}

/* Return false if there is no memory. */
static bool
print_hint(struct out *o, const struct leaks *l)
{
	struct wrapper_hint hint = {
		.sites = &l->sites,
		.order = l->order,
		.count = l->count,
		.key = KEY_LIVE,
		.nbytes = l->live.nbytes,
	};

	if (!l->sites.of_stacks || l->ask->stacks ||
	    l->ask->gathering.view.is_raw)
		return true;
	hint.callers = callers_open(&l->sites, l->g->names);
	if (hint.callers == NULL)
		return false;
	wrapper_hint_print(o, &hint);
	callers_close(hint.callers);
	return true;
}

static bool
print_text(struct out *o, const struct leaks *l)
{
	const char *const advice = show_advice(l->g);
	uint32_t shown = l->count;

	if (l->ask->top != 0 && shown > l->ask->top)
		shown = (uint32_t)l->ask->top;
	out_text(o, message_path(l->g->scan.path));
	out_printf(o, ": %s in", figure_nbytes(l->live.nbytes).text);
	out_printf(o, " %s block%s live at the end, at ",
		   figure_count(l->live.count).text,
		   figure_plural(l->live.count));
	out_printf(o, "%s site%s\n", figure_count(l->count).text,
		   figure_plural(l->count));
	for (uint32_t i = 0; i < shown; i++)
		if (!print_site(o, l, l->order[i]))
			return false;
	if (shown < l->count)
		out_printf(o, "and %s more site%s ('--top 0' prints all)\n",
			   figure_count(l->count - shown).text,
			   figure_plural(l->count - shown));
	if (!print_hint(o, l))
		return false;
	print_suppressed(o, l);
	print_startup(o, l);
	show_doubts(o, l->g, "doubtful: ");
	show_late_start(o, l->g, "note: ");
	if (advice != NULL)
		out_printf(o, "note: %s\n", advice);
	return true;
}

/* -------------------------------------------------------------------- JSON */

static json_t *
json_stacks(const struct leaks *l, uint32_t site)
{
	const struct census *const c = l->g->census;
	json_t *const list = json_array();
	uint32_t n;
	uint32_t *const rows = find_stacks(l, site, &n);

	for (uint32_t i = 0; rows != NULL && i < n; i++) {
		const struct amount live = c->by_stack.rows[rows[i]].live;
		json_t *const frames =
			show_json_frames(l->g->names, c->stack_ids[rows[i]]);

		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o}", "blocks",
						json_u64(live.count), "bytes",
						json_u64(live.nbytes), "frames",
						frames));
	}
	free(rows);
	return list;
}

static json_t *
json_trend(const struct leaks *l, uint32_t site)
{
	const struct census *const c = l->g->census;
	const struct trend *const t = &l->trends[site];
	const uint64_t since = trends_moment(c, t->since);
	json_t *const list = json_array();

	for (unsigned i = 0; i < TREND_COUNT; i++)
		json_array_append_new(list, json_u64(t->nbytes[i]));
	return json_pack("{s:o, s:o, s:o}", "bytes", list, "grows",
			 json_boolean(t->grows), "since",
			 !t->grows	? json_null()
			 : c->has_times ? show_json_ns(c, since)
					: json_u64(since));
}

static json_t *
json_site(const struct leaks *l, uint32_t site)
{
	const struct census *const c = l->g->census;
	const struct group *const row = &l->sites.rows[site];
	const struct ages *const ages = &l->ages[site];
	json_t *const object = json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
		json_text(row->name), "blocks", json_u64(row->sum.live.count),
		"bytes", json_u64(row->sum.live.nbytes), "oldest",
		show_json_age(c, &ages->oldest), "newest",
		show_json_age(c, &ages->newest), "median",
		show_json_age(c, &ages->median), "older_blocks",
		json_u64(ages->older_count), "smallest",
		json_u64(ages->smallest), "largest", json_u64(ages->largest));

	if (l->trends != NULL)
		json_object_set_new(object, "trend", json_trend(l, site));
	if (l->ask->stacks && l->sites.of_stacks)
		json_object_set_new(object, "stacks", json_stacks(l, site));
	return object;
}

static json_t *
json_suppressions(const struct leaks *l)
{
	json_t *const list = json_array();

	for (size_t i = 0; i < l->suppressions->count; i++) {
		const struct suppression *const s = &l->suppressions->rows[i];

		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o}", "pattern",
						json_text(s->pattern), "blocks",
						json_u64(s->count), "bytes",
						json_u64(s->nbytes)));
	}
	return list;
}

static bool
print_json(struct out *o, const struct leaks *l)
{
	json_t *const object = json_object();
	json_t *const sites = json_array();
	const uint64_t top = l->ask->top;

	for (uint32_t i = 0; i < l->count && (top == 0 || i < top); i++)
		json_array_append_new(sites, json_site(l, l->order[i]));

	const struct {
		const char *key;
		json_t *value;
	} keys[] = {
		{ "trace", json_text(message_path(l->g->scan.path)) },
		{ "by", json_string(l->sites.of_stacks ? "site" : "lane") },
		{ "tick_ns", show_json_tick(l->g->census) },
		{ "advice", json_text(show_advice(l->g)) },
		{ "live", show_json_amount(&l->live) },
		{ "suppressed", show_json_amount(&l->suppressed) },
		{ "suppressions", json_suppressions(l) },
		{ "startup", show_json_amount(&l->startup) },
		{ "site_count", json_u64(l->count) },
		{ "sites", sites },
		{ "over", l->ask->has_limit
				  ? json_boolean(l->live.nbytes > l->ask->limit)
				  : json_null() },
		{ "health", show_json_health(l->g) },
	};
	const size_t n = sizeof(keys) / sizeof(keys[0]);

	for (size_t i = 0; i < n; i++)
		json_object_set_new(object, keys[i].key, keys[i].value);
	return json_print(o, object, n);
}

/* ------------------------------------------------------------------ command */

/* Compute all figures to print.  Return false if there is no memory. */
static bool
make_leaks(struct leaks *l)
{
	const struct gathering *const g = l->g;

	suppress(l);
	if (!groups_make(&l->sites, g->census, g->names, BY_SITE))
		return false;
	l->order = groups_sort(&l->sites, KEY_LIVE, false, &l->count);
	l->ages = ages_find(&l->sites, g->scan.events);
	if (l->sites.of_stacks)
		l->trends = trends_find(&l->sites);
	return l->order != NULL && l->ages != NULL &&
	       (l->trends != NULL || !l->sites.of_stacks);
}

static int
judge(const struct leaks *l)
{
	const char *const doubt = show_doubt(l->g);

	if (l->g->fault != NULL) {
		message_print("%s: %s", message_path(l->g->scan.path),
			      l->g->fault);
		return EXIT_BAD_INPUT;
	}
	if (l->ask->has_limit && doubt != NULL) {
		message_print("%s: --fail-over cannot judge the live bytes: %s",
			      message_path(l->g->scan.path), doubt);
		return EXIT_BAD_INPUT;
	}
	if (!l->ask->has_limit || l->live.nbytes <= l->ask->limit)
		return EXIT_FINE;
	message_print("%s: %" PRIu64 " byte%s live at the end, more than the "
		      "%" PRIu64 " of --fail-over",
		      message_path(l->g->scan.path), l->live.nbytes,
		      figure_plural(l->live.nbytes), l->ask->limit);
	return EXIT_EXCEEDED;
}

/* Show the leaks in one file.  Return the exit status. */
static int
leaks_file(const char *path, struct ask *ask, bool first)
{
	struct out *const o = out_stdout();
	struct leaks l = {
		.g = gather_open(path, &ask->gathering),
		.ask = ask,
		.suppressions = &ask->suppressions,
	};
	int exit_status = EXIT_BAD_INPUT;

	if (l.g == NULL)
		return EXIT_BAD_INPUT;
	if (!first && !ask->json)
		out_str(o, "\n");
	if (!make_leaks(&l))
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	else if (ask->json ? print_json(o, &l) : print_text(o, &l)) {
		/*
		 * Flush now, to keep the order of the lines if stdout and
		 * stderr are the same file.
		 */
		out_flush(o);
		site_names_report_wrappers(l.g->names, path);
		segments_note_add(&ask->segments, &l.g->scan);
		exit_status = judge(&l);
	}
	groups_free(&l.sites);
	free(l.ages);
	free(l.trends);
	free(l.order);
	gather_close(l.g);
	return exit_status;
}

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct ask *const ask = ctx;

	switch (idx) {
	case OPT_FAIL_OVER:
		ask->has_limit = true;
		return opt_parse_nbytes("--fail-over", value, &ask->limit);
	case OPT_SUPPRESSIONS:
		return suppressions_read(&ask->suppressions, value);
	case OPT_STACKS:
		ask->stacks = true;
		return true;
	case OPT_TOP:
		return opt_parse_u64("--top", value, &ask->top);
	case OPT_JSON:
		ask->json = true;
		return true;
	case OPT_RAW_STACKS:
		ask->gathering.view.is_raw = true;
		return true;
	case OPT_WRAPPER:
		return stack_view_add_wrapper(&ask->gathering.view, "--wrapper",
					      value);
	case OPT_JOBS:
		return opt_parse_jobs(value, &ask->gathering.reading.jobs);
	default:
		ask->gathering.no_parent = true;
		return true;
	}
}

int
command_leaks(int argc, char **argv)
{
	struct ask ask = {
		/*
		 * Hide the standard library, so that sites are the program's
		 * own lines.
		 */
		.gathering.view.fold_std = true,
		/* Keep enough points in the history for accurate trends. */
		.gathering.window.points_are_fine = true,
		.top = 20,
		.gathering.reading.struct_nbytes =
			sizeof(ask.gathering.reading),
	};
	int exit_status = EXIT_FINE;
	const int first =
		opt_parse(&page, argc, argv, take_option, &ask, &exit_status);

	if (first == argc)
		exit_status = opt_complain(&page, "a FILE is missing");
	for (int i = first; i >= 0 && i < argc && !out_failed(out_stdout());
	     i++) {
		const int status = leaks_file(argv[i], &ask, i == first);

		/* EXIT_BAD_INPUT takes precedence over EXIT_EXCEEDED. */
		if (status != EXIT_FINE && exit_status != EXIT_BAD_INPUT)
			exit_status = status;
	}
	suppressions_free(&ask.suppressions);
	if (!ask.json)
		segments_note_print(
			out_stdout(), &ask.segments,
			ask.segments.lacks_start
				? "the last segment may lack blocks "
				  "that are live when the process "
				  "ends"
				: "the last segment has the blocks "
				  "that are live when the process "
				  "ends");
	if (first < 0 || first == argc)
		return exit_status;
	return out_finish(out_stdout(), exit_status);
}
