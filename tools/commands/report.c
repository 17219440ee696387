/* SPDX-License-Identifier: MIT */
/*
 * report.c - hatf report: summarize how a program used its heap, on one screen
 */
#include "tools/commands/commands.h"
#include "tools/report/page_file.h"
#include "tools/show/callers.h"
#include "tools/show/segments_note.h"
#include "tools/show/show.h"
#include "tools/show/show_waste.h"
#include "tools/show/wrapper_hint.h"
#include "tools/ui/escape.h"
#include "tools/ui/figure.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"
#include "tools/ui/output_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the chart of the heap over time. */
#define BAR_COUNT 64

enum {
	OPT_JSON,
	OPT_TOP,
	OPT_RAW_STACKS,
	OPT_WRAPPER,
	OPT_JOBS,
	OPT_NO_PARENT,
	OPT_HTML,
};

static const struct opt options[] = {
	{ "json", 'j', NULL, "print a line with a JSON object for each file" },
	{ "top", 'n', "N",
	  "print N lines of each list (default 3, 10 with --json;\n"
	  "0: all)" },
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
	{ "html", 'H', "PAGE",
	  "write a page with charts to this file; '-' is standard\n"
	  "output" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf report",
	"[OPTIONS] FILE...",
	"Print how the program used its heap: the peak, what was live at\nthe "
	"end, which sites allocated most, temporary allocations, reallocs "
	"that\n"
	"moved, threads, the heap over time, and the health of the trace.\n"
	"Call sites need a trace with call stacks, which 'hatf record' takes.\n"
	"FILE is in any format of 'hatf convert'; '-' is standard input.\n",
	"Exit status: 0 if every trace is complete, 1 if a trace is\n"
	"incomplete or cannot be read, 2 for wrong usage.\n",
	false,
	options
};

/* The options. */
struct ask {
	bool json;
	bool has_top;
	uint64_t top;	  /* number of lines of each list; 0: all */
	const char *html; /* NULL: no page */
	struct gather_options gathering;
	struct segments_note segments;
};

/* Return how many lines of a list to print, by default 'usual'. */
static uint64_t
list_max(const struct ask *ask, uint64_t usual)
{
	if (!ask->has_top)
		return usual;
	return ask->top != 0 ? ask->top : UINT64_MAX;
}

/* A list of sites. */
struct section {
	enum group_key key;
	const char *title;
	const char *name; /* key in JSON */
};

static const struct section sections[] = {
	{ KEY_PEAK, "Live at the peak", "at_peak" },
	{ KEY_LIVE, "Live at the end", "at_end" },
	{ KEY_ALLOCATED, "Most bytes allocated", "by_bytes" },
	{ KEY_ALLOCATIONS, "Most allocations", "by_count" },
	{ KEY_TEMPORARY, "Most temporary allocations", "by_temporary" },
	{ KEY_MOVED, "Most reallocs that moved", "by_moved" },
};
#define SECTION_COUNT (sizeof(sections) / sizeof(sections[0]))

/* What the command prints about one trace. */
struct report {
	const struct gathering *g;
	struct groups sites, threads;
	struct ages *ages; /* ages of the sites' live blocks at the end */
	struct callers *callers;
	bool is_raw; /* all frames are shown, so wrappers are not hidden */
};

static const char *
header_of(const struct report *r, const char *key)
{
	return hatf_reader_header(r->g->scan.reader, key);
}

/* -------------------------------------------------------------------- text */

static void
print_title(struct out *o, const struct report *r)
{
	const char *const command = header_of(r, "command");
	char escaped[1024];

	show_heading(o, "Heap of ");
	out_text(o, message_path(r->g->scan.path));
	out_str(o, "\n");
	if (command == NULL)
		return;
	out_str(o, "  command     ");
	show_name(o, escape_text(command, escaped, sizeof(escaped)), 14);
	out_str(o, "\n");
}

static void
print_totals(struct out *o, const struct census *c)
{
	const struct amount at_peak = census_at_peak(c, &c->total);
	const uint64_t duration =
		c->last.time > c->axis_start ? c->last.time - c->axis_start : 0;

	out_printf(o, "  peak        %s", figure_nbytes(at_peak.nbytes).text);
	out_printf(o, " in %s block%s", figure_count(at_peak.count).text,
		   figure_plural(at_peak.count));
	out_printf(o, ", after %s", show_moment(c, &c->peak).text);
	if (c->has_times)
		out_printf(o, " of %s", show_distance(c, duration).text);
	out_printf(o, ", %s call%s\n", figure_count(c->peak.event).text,
		   figure_plural(c->peak.event));
	out_printf(o, "  at the end  %s",
		   figure_nbytes(c->total.live.nbytes).text);
	out_printf(o, " in %s block%s\n",
		   figure_count(c->total.live.count).text,
		   figure_plural(c->total.live.count));
	out_printf(o, "  allocated   %s",
		   figure_nbytes(c->total.allocated.nbytes).text);
	out_printf(o, " in %s block%s",
		   figure_count(c->total.allocated.count).text,
		   figure_plural(c->total.allocated.count));
	out_printf(o, ", %s of them temporary\n",
		   show_part(c->total.temporary.count, c->total.allocated.count)
			   .text);
	out_printf(o, "  calls       %s", figure_count(c->event_count).text);
	out_printf(o, ": %s allocation%s", figure_count(c->alloc_calls).text,
		   figure_plural(c->alloc_calls));
	out_printf(o, ", %s free%s", figure_count(c->free_calls).text,
		   figure_plural(c->free_calls));
	out_printf(o, ", %s realloc%s", figure_count(c->realloc_calls).text,
		   figure_plural(c->realloc_calls));
	out_printf(o, " (%s moved)\n", figure_count(c->total.moved.count).text);
}

/*
 * Divide the trace into BAR_COUNT equal parts.  Store the maximum of live bytes
 * in each part in 'values'.
 */
static void
sample_history(const struct census *c, uint64_t values[BAR_COUNT])
{
	const struct history *const h = &c->history;
	const uint64_t end =
		h->span_count == 0 ? 1 : h->spans[h->span_count - 1].number + 1;
	uint64_t live = c->start.nbytes;
	size_t next = 0;

	for (unsigned i = 0; i < BAR_COUNT; i++) {
		const double part = (double)end / BAR_COUNT;
		/*
		 * Spans with numbers below 'last' belong to part 'i' or an
		 * earlier part.
		 */
		const uint64_t last = (uint64_t)(part * (i + 1));

		values[i] = live;
		for (; next < h->span_count &&
		       (h->spans[next].number < last || i == BAR_COUNT - 1);
		     next++) {
			if (h->spans[next].most > values[i])
				values[i] = h->spans[next].most;
			live = h->spans[next].live.nbytes;
		}
	}
}

static void
print_history(struct out *o, const struct census *c)
{
	uint64_t values[BAR_COUNT], max = 0;

	sample_history(c, values);
	for (unsigned i = 0; i < BAR_COUNT; i++)
		if (values[i] > max)
			max = values[i];
	out_str(o, "  over time   ");
	show_bars(o, values, BAR_COUNT, max);
	out_str(o, "\n");
}

/* Print "age 2.1 s to 3.0 s, sizes 32 B to 1.0 KiB". */
static void
print_ages(struct out *o, const struct census *c, const struct ages *ages)
{
	if (ages->count == 0)
		return;
	out_printf(o, "%34s", "");
	show_ages(o, c, ages, false);
	out_printf(o, ", sizes %s", figure_nbytes(ages->smallest).text);
	out_printf(o, " to %s\n", figure_nbytes(ages->largest).text);
}

static void
print_row(struct out *o, const struct report *r, const struct section *s,
	  const struct group *row, const struct main_caller *caller)
{
	const struct census *const c = r->g->census;
	const struct amount a = groups_amount(c, &row->sum, s->key);
	const struct amount all = groups_amount(c, &c->total, s->key);
	const bool by_count = s->key == KEY_ALLOCATIONS ||
			      s->key == KEY_TEMPORARY || s->key == KEY_MOVED;

	out_printf(o, "  %10s", figure_nbytes(a.nbytes).text);
	out_printf(o, " %12s", figure_count(a.count).text);
	out_printf(o, " %6s  ",
		   by_count ? show_part(a.count, all.count).text
			    : show_part(a.nbytes, all.nbytes).text);
	show_called(o, row->name, caller->name, caller->is_direct, 34);
	out_str(o, "\n");
}

static void
print_hint(struct out *o, const struct report *r, const uint32_t *order,
	   uint32_t n)
{
	const struct census *const c = r->g->census;
	const struct wrapper_hint hint = {
		.sites = &r->sites,
		.callers = r->callers,
		.order = order,
		.count = n,
		.key = KEY_PEAK,
		.nbytes = census_at_peak(c, &c->total).nbytes,
	};

	if (!r->is_raw)
		wrapper_hint_print(o, &hint);
}

static bool
print_section(struct out *o, const struct report *r, const struct section *s,
	      uint64_t top)
{
	uint32_t n;
	uint32_t *const order = groups_sort(&r->sites, s->key, false, &n);
	bool ok = order != NULL;

	if (ok && n != 0) {
		show_heading(o, s->title);
		out_str(o, "\n");
	}
	for (uint32_t i = 0; ok && i < n && i < top; i++) {
		struct main_caller caller;

		ok = callers_find(r->callers, order[i], s->key, &caller);
		print_row(o, r, s, &r->sites.rows[order[i]], &caller);
		free(caller.name);
		if (s->key == KEY_LIVE)
			print_ages(o, r->g->census, &r->ages[order[i]]);
	}
	if (ok && n > top)
		out_printf(o, "  and %s more\n", figure_count(n - top).text);
	if (ok && s->key == KEY_PEAK)
		print_hint(o, r, order, n);
	free(order);
	return ok;
}

/*
 * Return the key by which the threads are listed: the bytes that they allocated
 * or, in a trace without allocations, such as a snapshot, their bytes that are
 * live at the end.
 */
static enum group_key
threads_key(const struct report *r)
{
	return r->g->census->total.allocated.count == 0 ? KEY_LIVE
							: KEY_ALLOCATED;
}

static bool
print_threads(struct out *o, const struct report *r, uint64_t top)
{
	const bool is_live = threads_key(r) == KEY_LIVE;
	const struct section *const s = &sections[is_live ? 1 : 2];
	const struct main_caller none = { NULL, true };
	uint32_t n;
	uint32_t *const order = groups_sort(&r->threads, s->key, false, &n);

	if (order == NULL)
		return false;
	if (n != 0) {
		show_heading(o, is_live ? "Threads, by bytes live at the end"
					: "Threads, by bytes allocated");
		out_str(o, "\n");
	}
	for (uint32_t i = 0; i < n && i < top; i++)
		print_row(o, r, s, &r->threads.rows[order[i]], &none);
	if (n > top)
		out_printf(o, "  and %s more\n", figure_count(n - top).text);
	free(order);
	return true;
}

static bool
print_text(struct out *o, const struct report *r, const struct ask *ask)
{
	const uint64_t top = list_max(ask, 3);
	const char *const advice = show_advice(r->g);
	bool ok = true;

	print_title(o, r);
	print_totals(o, r->g->census);
	print_history(o, r->g->census);
	if (advice != NULL) {
		out_str(o, "  note        ");
		show_warning(o, advice);
		out_str(o, "\n");
	}
	for (size_t i = 0; i < SECTION_COUNT && ok; i++)
		ok = print_section(o, r, &sections[i], top);
	ok = ok && print_threads(o, r, top);
	show_heading(o, "Trace");
	out_str(o, "\n");
	show_health(o, r->g);
	return ok;
}

/* -------------------------------------------------------------------- JSON */

static json_t *
json_caller(const struct report *r, uint32_t site, enum group_key key)
{
	struct main_caller caller;
	json_t *name = NULL;

	if (callers_find(r->callers, site, key, &caller))
		name = json_text(caller.name);
	free(caller.name);
	return name;
}

static json_t *
json_row(const struct report *r, const struct groups *groups, uint32_t idx,
	 enum group_key key)
{
	const struct census *const c = r->g->census;
	const struct group *const row = &groups->rows[idx];
	const struct ages *const ages =
		groups == &r->sites ? &r->ages[idx] : NULL;
	json_t *const object = show_json_account(c, &row->sum);

	json_object_set_new(object, "name", json_text(row->name));
	if (groups == &r->sites)
		json_object_set_new(object, "caller", json_caller(r, idx, key));
	if (ages == NULL || ages->count == 0)
		return object;
	json_object_set_new(object, "oldest", show_json_age(c, &ages->oldest));
	json_object_set_new(object, "newest", show_json_age(c, &ages->newest));
	json_object_set_new(object, "median", show_json_age(c, &ages->median));
	json_object_set_new(object, "older_blocks",
			    json_u64(ages->older_count));
	json_object_set_new(object, "smallest", json_u64(ages->smallest));
	json_object_set_new(object, "largest", json_u64(ages->largest));
	return object;
}

static json_t *
json_list(const struct report *r, const struct groups *groups,
	  enum group_key key, uint64_t top)
{
	json_t *const list = json_array();
	uint32_t n;
	uint32_t *const order = groups_sort(groups, key, false, &n);

	if (order == NULL) {
		json_decref(list);
		return NULL;
	}
	for (uint32_t i = 0; i < n && i < top; i++)
		json_array_append_new(list, json_row(r, groups, order[i], key));
	free(order);
	return list;
}

static json_t *
json_history(const struct census *c)
{
	const struct history *const h = &c->history;
	json_t *const list = json_array();

	for (size_t i = 0; i < h->span_count; i++) {
		const struct span *const s = &h->spans[i];
		const uint64_t begin = s->number << h->span_shift;

		json_array_append_new(
			list,
			json_pack("{s:o, s:o, s:o, s:o, s:o}",
				  c->has_times ? "ns" : "event",
				  c->has_times ? show_json_ns(c, begin)
					       : json_u64(begin),
				  "live", show_json_amount(&s->live),
				  "most_bytes", json_u64(s->most), "allocated",
				  show_json_amount(&s->allocated), "frees",
				  json_u64(s->free_count)));
	}
	return list;
}

static json_t *
json_calls(const struct census *c)
{
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o}", "events", json_u64(c->event_count),
		"allocs", json_u64(c->alloc_calls), "frees",
		json_u64(c->free_calls), "reallocs", json_u64(c->realloc_calls),
		"failed", json_u64(c->failed_calls));
}

static bool
print_json(struct out *o, const struct report *r, const struct ask *ask)
{
	const struct census *const c = r->g->census;
	const uint64_t top = list_max(ask, 10);
	const uint64_t width = (uint64_t)1 << c->history.span_shift;
	json_t *const object = json_object();
	const struct {
		const char *key;
		json_t *value;
	} keys[] = {
		{ "trace", json_text(message_path(r->g->scan.path)) },
		{ "command", json_text(header_of(r, "command")) },
		{ "by", json_string(groups_has_stacks(c) ? "site" : "lane") },
		{ "advice", json_text(show_advice(r->g)) },
		{ "tick_ns", show_json_tick(c) },
		{ "calls", json_calls(c) },
		{ "total", show_json_account(c, &c->total) },
		{ "peak", show_json_moment(c, &c->peak) },
		{ "end", show_json_moment(c, &c->last) },
		{ "peak_blocks", json_u64(c->peak_live_count) },
		{ "site_count", json_u64(r->sites.count) },
		{ "threads", json_list(r, &r->threads, threads_key(r), top) },
		{ "waste", show_json_waste(c) },
		{ "history_width",
		  c->has_times ? show_json_ns(c, width) : json_u64(width) },
		{ "history", json_history(c) },
		{ "health", show_json_health(r->g) },
	};
	const size_t n = sizeof(keys) / sizeof(keys[0]);

	for (size_t i = 0; i < n; i++)
		json_object_set_new(object, keys[i].key, keys[i].value);
	for (size_t i = 0; i < SECTION_COUNT; i++)
		json_object_set_new(
			object, sections[i].name,
			json_list(r, &r->sites, sections[i].key, top));
	return json_print(o, object, n + SECTION_COUNT);
}

/* ------------------------------------------------------------------ command */

static bool
make_report(struct report *r)
{
	const struct gathering *const g = r->g;

	if (groups_make(&r->sites, g->census, g->names, BY_SITE) &&
	    groups_make(&r->threads, g->census, g->names, BY_THREAD)) {
		r->ages = ages_find(&r->sites, g->scan.events);
		r->callers = callers_open(&r->sites, g->names);
		if (r->ages != NULL && r->callers != NULL)
			return true;
	}
	message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	return false;
}

/* Report on one file.  Return the exit status. */
static int
report_file(const char *path, struct ask *ask, bool first)
{
	struct out *const o = out_stdout();
	struct gathering *const g = gather_open(path, &ask->gathering);
	struct report r = {
		.g = g,
		.is_raw = ask->gathering.view.is_raw,
	};
	int exit_status;

	if (g == NULL)
		return EXIT_BAD_INPUT;
	exit_status = g->fault == NULL ? EXIT_FINE : EXIT_BAD_INPUT;
	if (!first && !ask->json)
		out_str(o, "\n");
	if (!make_report(&r) ||
	    !(ask->json ? print_json(o, &r, ask) : print_text(o, &r, ask)))
		exit_status = EXIT_BAD_INPUT;
	/*
	 * Flush now, to keep the order of the lines if stdout and stderr are
	 * the same file.
	 */
	out_flush(o);
	site_names_report_wrappers(g->names, path);
	segments_note_add(&ask->segments, &g->scan);
	if (g->fault != NULL)
		message_print("%s: %s", message_path(path), g->fault);
	callers_close(r.callers);
	groups_free(&r.sites);
	groups_free(&r.threads);
	free(r.ages);
	gather_close(g);
	return exit_status;
}

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct ask *const ask = ctx;

	switch (idx) {
	case OPT_TOP:
		ask->has_top = true;
		return opt_parse_u64("--top", value, &ask->top);
	case OPT_RAW_STACKS:
		ask->gathering.view.is_raw = true;
		return true;
	case OPT_WRAPPER:
		return stack_view_add_wrapper(&ask->gathering.view, "--wrapper",
					      value);
	case OPT_JOBS:
		return opt_parse_jobs(value, &ask->gathering.reading.jobs);
	case OPT_HTML:
		ask->html = value;
		return true;
	case OPT_NO_PARENT:
		ask->gathering.no_parent = true;
		return true;
	default:
		ask->json = true;
		return true;
	}
}

/* Write one page about all files.  Return the exit status. */
static int
write_page(char **paths, unsigned count, const struct ask *ask)
{
	struct page_file *const page_file = page_file_begin(ask->html, count);
	int exit_status = EXIT_FINE;

	if (page_file == NULL)
		return EXIT_BAD_INPUT;
	for (; *paths != NULL; paths++)
		if (page_file_add(page_file, *paths, &ask->gathering) !=
		    EXIT_FINE)
			exit_status = EXIT_BAD_INPUT;
	return page_file_end(page_file) ? exit_status : EXIT_BAD_INPUT;
}

int
command_report(int argc, char **argv)
{
	struct ask ask = {
		/*
		 * Hide the standard library, so that sites are the program's
		 * own lines.
		 */
		.gathering.view.fold_std = true,
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
	for (int i = first; i < argc; i++)
		if (output_file_refused(ask.html, argv[i]))
			return EXIT_USAGE;
	if (ask.html != NULL)
		return write_page(argv + first, (unsigned)(argc - first), &ask);
	ask.gathering.waste = ask.json;
	for (int i = first; i < argc && !out_failed(out_stdout()); i++)
		if (report_file(argv[i], &ask, i == first) != EXIT_FINE)
			exit_status = EXIT_BAD_INPUT;
	if (!ask.json)
		segments_note_print(out_stdout(), &ask.segments,
				    "each report is about one segment; 'hatf "
				    "tree --peak' prints the peak of the "
				    "process");
	return out_finish(out_stdout(), exit_status);
}
