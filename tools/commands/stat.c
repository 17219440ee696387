/* SPDX-License-Identifier: MIT */
/* stat.c - hatf stat: allocations by site, thread, size, lifetime, time, ... */
#include "tools/commands/commands.h"
#include "tools/show/show.h"
#include "tools/show/show_lifetimes.h"
#include "tools/show/show_outlived.h"
#include "tools/show/show_times.h"
#include "tools/show/show_waste.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_BY,
	OPT_SORT,
	OPT_FROM,
	OPT_TO,
	OPT_AT_PEAK,
	OPT_AT_END,
	OPT_TOP,
	OPT_JSON,
	OPT_RAW_STACKS,
	OPT_WRAPPER,
	OPT_JOBS,
	OPT_NO_PARENT,
};

static const struct opt options[] = {
	{ "by", 'b', "WHAT",
	  "a line for each site (default), function, file,\n"
	  "module, stack, thread, size, lifetime, heap or time;\n"
	  "with size also the waste in four allocators" },
	{ "sort", 's', "KEY",
	  "sort by allocated (default), allocations, peak, live,\n"
	  "freed, temporary or moved" },
	{ "from", 'f', "WHEN",
	  "begin to count at an event (1000), or at a time after\n"
	  "the first event (1.5s, 20ms)" },
	{ "to", 't', "WHEN", "stop before an event or at a time" },
	{ "at-peak", 'k', NULL, "print only what is live at the peak" },
	{ "at-end", 'e', NULL, "print only what is live at the end" },
	{ "top", 'n', "N", "print the first N lines (default 20, 0: all)" },
	{ "json", 'j', NULL, "print a line with a JSON object for each file" },
	{ "raw-stacks", 'R', NULL,
	  "show all frames: a site may then be in an allocator\n"
	  "or in the standard library of C, C++ or Rust" },
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
	"hatf stat",
	"[OPTIONS] FILE...",
	"Print what was allocated, freed, live, temporary and moved, by call\n"
	"site, thread, size and so on.  Sites, functions, files and modules "
	"need\n"
	"a trace with call stacks, which 'hatf record' takes.  Without call\n"
	"stacks, each pair of a thread and a size class stands for a site.\n"
	"FILE is in any format of 'hatf convert'; '-' is standard input.\n",
	"Exit status: 0 if every trace is complete, 1 if a trace is\n"
	"incomplete or cannot be read, 2 for wrong usage.\n",
	false,
	options
};

/*
 * The words for enum group_by, in its order, and two more words for ways to
 * group that are not in the enum.
 */
static const char *const by_words[] = { "site",	  "function", "file",
					"module", "stack",    "thread",
					"size",	  "heap",     "lifetime",
					"time",	  NULL };
enum {
	BY_LIFETIME = BY_HEAP + 1,
	BY_TIME,
};

/* The words for enum group_key, in its order. */
static const char *const key_words[] = { "peak",      "live",
					 "allocated", "allocations",
					 "temporary", "moved",
					 "freed",     NULL };

/* The options. */
struct ask {
	unsigned by;
	enum group_key key;
	bool has_key, json, at_peak, at_end;
	uint64_t top;
	struct gather_options gathering;
};

/* Do the options request only what is live at one moment? */
static bool
is_moment(const struct ask *ask)
{
	return ask->at_peak || ask->at_end;
}

static struct amount
amount_at(const struct census *c, const struct account *a,
	  const struct ask *ask)
{
	return ask->at_peak ? account_at_peak(a, c->epoch) : a->live;
}

/* ------------------------------------------------------------------- groups */

static void
print_account(struct out *o, const struct census *c, const struct account *a,
	      const struct ask *ask, const char *name)
{
	const struct amount at_peak = account_at_peak(a, c->epoch);

	if (is_moment(ask)) {
		const struct amount at = amount_at(c, a, ask);
		const struct amount all = amount_at(c, &c->total, ask);

		out_printf(o, "%11s", figure_nbytes(at.nbytes).text);
		out_printf(o, " %12s", figure_count(at.count).text);
		out_printf(o, " %7s  ", show_part(at.nbytes, all.nbytes).text);
		show_name(o, name, 34);
		out_str(o, "\n");
		return;
	}
	out_printf(o, "%11s", figure_nbytes(a->allocated.nbytes).text);
	out_printf(o, " %12s", figure_count(a->allocated.count).text);
	out_printf(o, " %11s", figure_nbytes(at_peak.nbytes).text);
	out_printf(o, " %11s", figure_nbytes(a->live.nbytes).text);
	out_printf(o, " %11s", figure_count(a->temporary.count).text);
	out_printf(o, " %9s  ", figure_count(a->moved.count).text);
	show_name(o, name, 74);
	out_str(o, "\n");
}

static void
print_head(struct out *o, const struct ask *ask, const char *title)
{
	char line[128];

	if (is_moment(ask))
		snprintf(line, sizeof(line), "%11s %12s %7s  %s\n",
			 ask->at_peak ? "at peak" : "at end", "blocks", "part",
			 title);
	else
		snprintf(line, sizeof(line),
			 "%11s %12s %11s %11s %11s %9s  %s\n", "allocated",
			 "blocks", "at peak", "at end", "temporary", "moved",
			 title);
	show_heading(o, line);
}

/* The context of print_caller(). */
struct caller_lines {
	struct out *out;
	bool begun; /* the first frame, which the row shows, was skipped */
};

static void
print_caller(void *ctx, const char *frame)
{
	struct caller_lines *const lines = ctx;

	if (lines->begun) {
		out_printf(lines->out, "%26s", "");
		show_name(lines->out, frame, 26);
		out_str(lines->out, "\n");
	}
	lines->begun = true;
}

static void
print_group(struct out *o, const struct gathering *g, const struct groups *all,
	    const struct group *row, const struct ask *ask)
{
	struct caller_lines lines = { o, false };

	print_account(o, g->census, &row->sum, ask, row->name);
	if (all->of_stacks && all->by == BY_STACK)
		site_names_walk(g->names, row->number, print_caller, &lines);
}

/* Return what a row stands for, such as "thread, size". */
static const char *
title_of(const struct groups *all)
{
	return all->by <= BY_STACK && !all->of_stacks ? "thread, size"
						      : by_words[all->by];
}

static bool
print_groups(struct out *o, const struct gathering *g, const struct groups *all,
	     const struct ask *ask)
{
	uint32_t n;
	uint32_t *const order = groups_sort(all, ask->key, !is_moment(ask), &n);

	if (order == NULL)
		return false;
	print_head(o, ask, title_of(all));
	print_account(o, g->census, &g->census->total, ask, "all");
	for (uint32_t i = 0; i < n && (ask->top == 0 || i < ask->top); i++)
		print_group(o, g, all, &all->rows[order[i]], ask);
	if (ask->top != 0 && n > ask->top)
		out_printf(o, "and %s more ('--top 0' prints all)\n",
			   figure_count(n - ask->top).text);
	free(order);
	return ask->by != BY_THREAD || is_moment(ask) ||
	       show_outlived(o, all, ask->top);
}

static json_t *
json_group(const struct gathering *g, const struct groups *groups,
	   const struct group *row)
{
	json_t *const object = show_json_account(g->census, &row->sum);

	json_object_set_new(object, "name", json_text(row->name));
	if (groups->by == BY_SIZE)
		json_object_set_new(
			object, "to",
			json_u64(census_class_end((unsigned)row->number)));
	else if (groups->by == BY_STACK || groups->by == BY_THREAD ||
		 groups->by == BY_HEAP)
		json_object_set_new(object, "id", json_u64(row->number));
	if (groups->by == BY_STACK)
		json_object_set_new(object, "frames",
				    show_json_frames(g->names, row->number));
	if (groups->by == BY_THREAD)
		json_object_set_new(
			object, "outlived",
			show_json_outlived(groups,
					   (uint32_t)(row - groups->rows)));
	return object;
}

static json_t *
json_groups(const struct gathering *g, const struct groups *all,
	    const struct ask *ask)
{
	json_t *const list = json_array();
	uint32_t n;
	uint32_t *const order = groups_sort(all, ask->key, !is_moment(ask), &n);

	if (order == NULL) {
		json_decref(list);
		return NULL;
	}
	for (uint32_t i = 0; i < n && (ask->top == 0 || i < ask->top); i++)
		json_array_append_new(list,
				      json_group(g, all, &all->rows[order[i]]));
	free(order);
	return list;
}

/* Return which columns the table of waste (show_waste.h) gets. */
static unsigned
waste_columns(const struct ask *ask)
{
	if (ask->at_peak)
		return WASTE_AT_PEAK;
	return ask->at_end ? WASTE_AT_END
			   : WASTE_AT_PEAK | WASTE_AT_END | WASTE_ALLOCATED;
}

/* ------------------------------------------------------------------ command */

static bool
print_text(struct out *o, const struct gathering *g, const struct groups *all,
	   const struct ask *ask, bool many)
{
	const char *const advice = show_advice(g);

	if (many) {
		out_text(o, message_path(g->scan.path));
		out_str(o, ":\n");
	}
	if (all == NULL && ask->by == BY_LIFETIME)
		show_lifetimes(o, g->census);
	else if (all == NULL)
		show_times(o, g->census);
	else if (!print_groups(o, g, all, ask))
		return false;
	if (ask->by == BY_SIZE)
		show_waste(o, g->census, waste_columns(ask));
	show_doubts(o, g, "doubtful: ");
	show_late_start(o, g, "note: ");
	if (advice != NULL && ask->by <= BY_STACK)
		out_printf(o, "note: %s\n", advice);
	return true;
}

static bool
print_json(struct out *o, const struct gathering *g, const struct groups *all,
	   const struct ask *ask)
{
	const struct census *const c = g->census;
	json_t *const object = json_object();
	const struct {
		const char *key;
		json_t *value;
	} keys[] = {
		{ "trace", json_text(message_path(g->scan.path)) },
		{ "by", json_string(ask->by <= BY_STACK && !groups_has_stacks(c)
					    ? "lane"
					    : by_words[ask->by]) },
		{ "total", show_json_account(c, &c->total) },
		{ "first", show_json_moment(c, &c->first) },
		{ "peak", show_json_moment(c, &c->peak) },
		{ "end", show_json_moment(c, &c->last) },
		{ "rows", all != NULL		   ? json_groups(g, all, ask)
			  : ask->by == BY_LIFETIME ? show_json_lifetimes(c)
						   : show_json_times(c) },
		{ "health", show_json_health(g) },
	};
	const size_t n = sizeof(keys) / sizeof(keys[0]);

	for (size_t i = 0; i < n; i++)
		json_object_set_new(object, keys[i].key, keys[i].value);
	if (ask->by != BY_SIZE)
		return json_print(o, object, n);
	json_object_set_new(object, "waste", show_json_waste(c));
	return json_print(o, object, n + 1);
}

/* Show the groups of one file.  Return the exit status. */
static int
stat_file(const char *path, const struct ask *ask, bool many)
{
	struct out *const o = out_stdout();
	struct gathering *const g = gather_open(path, &ask->gathering);
	const bool has_groups = ask->by <= BY_HEAP;
	struct groups groups = { 0 };
	const struct groups *const all = has_groups ? &groups : NULL;
	int exit_status;
	bool ok = true;

	if (g == NULL)
		return EXIT_BAD_INPUT;
	exit_status = g->fault == NULL ? EXIT_FINE : EXIT_BAD_INPUT;
	if (has_groups)
		ok = groups_make(&groups, g->census, g->names,
				 (enum group_by)ask->by);
	if (!ok)
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	else
		ok = ask->json ? print_json(o, g, all, ask)
			       : print_text(o, g, all, ask, many);
	/*
	 * Flush now, to keep the order of the lines if stdout and stderr are
	 * the same file.
	 */
	out_flush(o);
	if (ask->by <= BY_STACK)
		site_names_report_wrappers(g->names, path);
	if (g->fault != NULL)
		message_print("%s: %s", message_path(path), g->fault);
	groups_free(&groups);
	gather_close(g);
	return ok ? exit_status : EXIT_BAD_INPUT;
}

static bool
take_key(struct ask *ask, const char *value)
{
	unsigned idx;

	if (!opt_parse_choice("--sort", value, key_words, &idx))
		return false;
	ask->key = (enum group_key)idx;
	ask->has_key = true;
	return true;
}

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct ask *const ask = ctx;

	switch (idx) {
	case OPT_BY:
		return opt_parse_choice("--by", value, by_words, &ask->by);
	case OPT_SORT:
		return take_key(ask, value);
	case OPT_FROM:
	case OPT_TO:
		return trace_window_take(&ask->gathering.window.range,
					 idx == OPT_FROM, value);
	case OPT_TOP:
		return opt_parse_u64("--top", value, &ask->top);
	case OPT_RAW_STACKS:
		ask->gathering.view.is_raw = true;
		return true;
	case OPT_WRAPPER:
		return stack_view_add_wrapper(&ask->gathering.view, "--wrapper",
					      value);
	case OPT_JOBS:
		return opt_parse_jobs(value, &ask->gathering.reading.jobs);
	default:
		ask->at_peak |= idx == OPT_AT_PEAK;
		ask->at_end |= idx == OPT_AT_END;
		ask->json |= idx == OPT_JSON;
		ask->gathering.no_parent |= idx == OPT_NO_PARENT;
		return true;
	}
}

/*
 * Check that the options are consistent.  If not, print a message and return
 * false.
 */
static bool
settle(struct ask *ask)
{
	if (ask->at_peak && ask->at_end) {
		opt_complain(&page, "--at-peak and --at-end exclude each "
				    "other");
		return false;
	}
	if (is_moment(ask) && ask->by > BY_HEAP) {
		opt_complain(
			&page,
			"--by %s cannot be combined with --at-peak or --at-end",
			by_words[ask->by]);
		return false;
	}
	if (trace_window_is_empty(&ask->gathering.window.range)) {
		opt_complain(&page, "--to must be after --from");
		return false;
	}
	ask->gathering.waste = ask->by == BY_SIZE;
	if (!ask->has_key && is_moment(ask))
		ask->key = ask->at_peak ? KEY_PEAK : KEY_LIVE;
	return true;
}

int
command_stat(int argc, char **argv)
{
	struct ask ask = {
		/*
		 * Hide the standard library, so that sites are the program's
		 * own lines.
		 */
		.gathering.view.fold_std = true,
		.by = BY_SITE,
		.key = KEY_ALLOCATED,
		.top = 20,
		.gathering.reading.struct_nbytes =
			sizeof(ask.gathering.reading),
	};
	int exit_status = EXIT_FINE;
	const int first =
		opt_parse(&page, argc, argv, take_option, &ask, &exit_status);

	if (first < 0)
		return exit_status;
	if (first == argc)
		return opt_complain(&page, "a FILE is missing");
	if (!settle(&ask))
		return EXIT_USAGE;
	for (int i = first; i < argc && !out_failed(out_stdout()); i++)
		if (stat_file(argv[i], &ask, argc - first > 1) != EXIT_FINE)
			exit_status = EXIT_BAD_INPUT;
	return out_finish(out_stdout(), exit_status);
}
