/* SPDX-License-Identifier: MIT */
/* gather.c - see gather.h */
#include "tools/summary/gather.h"

#include "tools/ui/message.h"
#include "tools/ui/options.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------- bounds */

static uint64_t
unit_of(const char *name)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
		{ "min", 60000000000 },
		{ "h", 3600000000000 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].name, name) == 0)
			return units[i].ns;
	return 0;
}

/*
 * Parse a number with a unit of time into nanoseconds.  strtod() would accept
 * blanks, signs and hexadecimal numbers.
 */
static bool
parse_time(const char *text, uint64_t *ns_ret)
{
	char *end;
	double value;
	uint64_t unit;

	if (strspn(text, "0123456789.") != strcspn(text, "numsh"))
		return false;
	value = strtod(text, &end);
	unit = unit_of(end);
	if (end == text || unit == 0 || value * (double)unit > 9e18)
		return false;
	*ns_ret = (uint64_t)(value * (double)unit);
	return true;
}

static bool
parse_bound(const char *option, const char *text, uint64_t *n_ret,
	    bool *is_time_ret)
{
	*is_time_ret = strpbrk(text, "numsh") != NULL;
	if (!*is_time_ret)
		return opt_parse_u64(option, text, n_ret);
	if (parse_time(text, n_ret))
		return true;
	message_print("%s: neither a number of events nor a time: '%s' (want "
		      "1000, 1.5s, 20ms)",
		      option, text);
	return false;
}

bool
gather_take_bound(struct census_window *w, bool is_from, const char *value)
{
	if (is_from) {
		w->has_from = true;
		return parse_bound("--from", value, &w->from, &w->from_is_time);
	}
	w->has_to = true;
	return parse_bound("--to", value, &w->to, &w->to_is_time);
}

/* Turn nanoseconds into the time units of the trace. */
static bool
settle_window(const struct scan *s, struct census_window *w)
{
	const uint64_t unit =
		scan_unit_ns(hatf_reader_header(s->reader, "unit"));

	if (unit == 0 && (w->from_is_time || w->to_is_time)) {
		message_print("%s: the trace has no times: give numbers of "
			      "events",
			      message_path(s->path));
		return false;
	}
	if (w->from_is_time)
		w->from /= unit;
	if (w->to_is_time)
		w->to /= unit;
	return true;
}

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

struct gathering *
gather_open(const char *path, const struct gather_options *options)
{
	struct gathering *const g = calloc(1, sizeof(*g));
	struct census_window window = options->window;

	if (g == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return NULL;
	}
	if (!scan_open(&g->scan, path, &options->reading,
		       !options->no_parent)) {
		free(g);
		return NULL;
	}
	if (!settle_window(&g->scan, &window)) {
		gather_close(g);
		return NULL;
	}
	g->census = census_open(g->scan.reader, g->scan.events, &window);
	if (g->census == NULL ||
	    (options->waste && !census_count_waste(g->census)) ||
	    !read_events(g, options)) {
		message_print("%s: %s", message_path(path),
			      hatf_status_text(HATF_NO_MEMORY));
		gather_close(g);
		return NULL;
	}
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
