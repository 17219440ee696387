/* SPDX-License-Identifier: MIT */
/* gather.c - see gather.h */
#include "tools/summary/gather.h"

#include "tools/ui/figure.h"
#include "tools/ui/message.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ reading */

static bool
read_events(struct gathering *g, const struct gather_options *options)
{
	size_t n;

	while ((n = scan_read(&g->scan)) > 0) {
		const bool more = census_add(g->census, g->scan.batch, n);

		if (options->watch != NULL)
			options->watch(options->watch_ctx, g->census,
				       g->scan.batch, n);
		if (!more)
			break;
	}
	progress_end(&g->scan.progress);
	census_end(g->census);
	if (g->census->no_memory)
		return false;
	if (!g->census->ended)
		g->fault = scan_fault(&g->scan, g->fault_text,
				      sizeof(g->fault_text));
	g->names = site_names_open(g->census->stacks, &options->view);
	return g->names != NULL;
}

/* If no call is in the part that --from and --to select, print a message. */
static void
report_empty(const struct gathering *g)
{
	const struct census *const c = g->census;
	const struct trace_window *const range = &c->window.range;
	uint64_t ns;

	if ((!range->from.is_set && !range->to.is_set) ||
	    c->event_count != c->first.event)
		return;
	if (c->ended || !c->has_times ||
	    __builtin_mul_overflow(c->last.time - c->axis_start, c->unit_ns,
				   &ns)) {
		message_print("%s: no call is in the range of --from and --to",
			      message_path(g->scan.path));
		return;
	}
	message_print("%s: no call is in the range of --from and --to; the "
		      "trace has %s call%s and ends after %s",
		      message_path(g->scan.path),
		      figure_count(c->event_count).text,
		      figure_plural(c->event_count), figure_ns(ns).text);
}

struct gathering *
gather_open(const char *path, const struct gather_options *options)
{
	struct gathering *const g = calloc(1, sizeof(*g));
	struct census_window window = options->window;

	if (g == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return NULL;
	}
	if (!scan_open_numbered(&g->scan, path, &options->reading,
				!options->no_parent)) {
		free(g);
		return NULL;
	}
	if (!trace_window_settle(&window.range, &g->scan)) {
		gather_close(g);
		return NULL;
	}
	g->census = census_open(g->scan.reader, g->scan.events, &window);
	if (g->census == NULL ||
	    (options->waste && !census_count_waste(g->census)) ||
	    (options->pairs && !census_count_pairs(g->census)) ||
	    !read_events(g, options)) {
		message_print("%s: %s", message_path(path),
			      hatf_status_text(HATF_NO_MEMORY));
		gather_close(g);
		return NULL;
	}
	report_empty(g);
	return g;
}

void
gather_close(struct gathering *g)
{
	if (g == NULL)
		return;
	site_names_close(g->names);
	census_close(g->census);
	scan_close(&g->scan);
	free(g);
}
