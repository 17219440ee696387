/* SPDX-License-Identifier: MIT */
/* trace_window.c - see trace_window.h */
#include "tools/trace/trace_window.h"

#include "tools/ui/message.h"
#include "tools/ui/options.h"

#include <stdlib.h>
#include <string.h>

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
 * Parse a number with a unit of time into nanoseconds.  Check the characters
 * first, because strtod() accepts blanks, signs and hexadecimal numbers.
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
parse_bound(const char *option, const char *text, struct trace_bound *bound)
{
	bound->is_set = true;
	bound->is_time = strpbrk(text, "numsh") != NULL;
	if (!bound->is_time)
		return opt_parse_u64(option, text, &bound->at);
	if (parse_time(text, &bound->at))
		return true;
	message_print("%s: neither the number of an event nor a time: '%s' "
		      "(write, for example, 1000, 1.5s or 20ms)",
		      option, text);
	return false;
}

bool
trace_window_take(struct trace_window *w, bool is_from, const char *value)
{
	return is_from ? parse_bound("--from", value, &w->from)
		       : parse_bound("--to", value, &w->to);
}

bool
trace_window_is_empty(const struct trace_window *w)
{
	return w->from.is_set && w->to.is_set &&
	       w->from.is_time == w->to.is_time && w->to.at <= w->from.at;
}

bool
trace_window_settle(struct trace_window *w, const struct scan *s)
{
	const uint64_t unit =
		scan_unit_ns(hatf_reader_header(s->reader, "unit"));

	if (unit == 0 && (w->from.is_time || w->to.is_time)) {
		message_print("%s: the trace states no unit of time, so give "
			      "the number of an event instead of a time",
			      message_path(s->path));
		return false;
	}
	if (w->from.is_time)
		w->from.at /= unit;
	if (w->to.is_time)
		w->to.at /= unit;
	return true;
}
