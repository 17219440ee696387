/* SPDX-License-Identifier: MIT */
/* naming.c - see naming.h */
#include "tools/recording/naming.h"

#include "tools/recording/launch.h"
#include "tools/symbols/symbolize_trace.h"
#include "tools/ui/figure.h"
#include "tools/ui/message.h"

bool
naming_has_stacks(void)
{
#if defined(__x86_64__)
	return true;
#else
	return false;
#endif
}

/*
 * Has the process stopped writing the trace, and does a copy with names lack
 * nothing of the trace?
 */
static bool
is_finished(const struct collected_trace *t)
{
	return t->has_trailer && t->can_be_copied && !t->is_running;
}

/*
 * Report the objects without debug information: all of them, or only the
 * executable of the command's own process.
 */
static void
tell_missing(const struct collection *c, enum naming_report report,
	     const struct symbol_lookup *lookup)
{
	if (report == NAMING_REPORT_ALL)
		symbol_lookup_report(lookup, NULL);
	else if (report == NAMING_REPORT_COMMAND && c->own_count != 0)
		symbol_lookup_report(lookup, c->traces[c->own_count - 1].exe);
}

void
naming_symbolize(const struct collection *c, enum naming_report report)
{
	const struct symbol_lookup_options options = { .debug_dir = NULL };
	/*
	 * In a build without libdw, the result is NULL, and the frames stay
	 * without names.
	 */
	struct symbol_lookup *const lookup = symbol_lookup_open(&options);
	size_t left = 0;
	struct expand_counts counts;

	if (lookup == NULL)
		return;
	for (size_t i = 0; i < c->own_count + c->descendant_count; i++) {
		if (!is_finished(&c->traces[i]))
			continue;
		if (launch_is_interrupted())
			left++;
		else
			/* The summary tells how many events were lost. */
			symbolize_trace_in_place(c->traces[i].path, lookup,
						 true, &counts);
	}
	if (left != 0)
		message_print("interrupted: functions and lines were not added "
			      "to %zu trace%s; 'hatf symbolize FILE' adds them",
			      left, figure_plural(left));
	tell_missing(c, report, lookup);
	symbol_lookup_close(lookup);
}
