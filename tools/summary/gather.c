/* SPDX-License-Identifier: MIT */
/* gather.c - see gather.h */
#include "tools/summary/gather.h"

#include "tools/ui/message.h"

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

bool
gather_parse_bound(const char *option, const char *text, uint64_t *n_ret,
		   bool *is_time_ret)
{
	char *end = NULL;
	double value = -1;
	uint64_t unit = 1;

	/* strtod() would accept blanks, signs and hexadecimal numbers. */
	if (strspn(text, "0123456789") > 0 && text[1] != 'x')
		value = strtod(text, &end);
	if (value >= 0 && *end != '\0')
		unit = unit_of(end);
	*is_time_ret = end != NULL && *end != '\0';
	if (value < 0 || unit == 0 || value * (double)unit > 9e18 ||
	    (!*is_time_ret && strspn(text, "0123456789") != strlen(text))) {
		message_print("%s: '%s' is neither a number of events nor a "
			      "time (want 1000, 1.5s, 20ms)",
			      option, text);
		return false;
	}
	*n_ret = *is_time_ret ? (uint64_t)(value * (double)unit)
			      : strtoull(text, NULL, 10);
	return true;
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
read_events(struct gathering *g)
{
	size_t n;

	while ((n = scan_read(&g->scan)) > 0)
		if (!census_add(g->census, g->scan.batch, n))
			break;
	progress_end(&g->scan.progress);
	census_end(g->census);
	if (g->census->no_memory)
		return false;
	if (!g->census->ended)
		g->fault = scan_fault(&g->scan, g->fault_text,
				      sizeof(g->fault_text));
	g->names = site_names_open(g->census->stacks);
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
	if (g->census == NULL || !read_events(g)) {
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
