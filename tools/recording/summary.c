/* SPDX-License-Identifier: MIT */
/* summary.c - see summary.h */
#include "tools/recording/summary.h"

#include "tools/recording/template.h"
#include "tools/ui/figure.h"
#include "tools/ui/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------- children */

typedef bool trace_test(const struct collected_trace *trace);

/* Does the trace lack a trailer although its process has ended? */
static bool
is_unfinished(const struct collected_trace *t)
{
	return !t->has_trailer && !t->is_running;
}

static bool
is_running(const struct collected_trace *t)
{
	return !t->has_trailer && t->is_running;
}

/* Does the trailer state that the trace is incomplete? */
static bool
is_incomplete(const struct collected_trace *t)
{
	return t->has_trailer && !t->is_complete;
}

static bool
is_mended(const struct collected_trace *t)
{
	return t->is_mended;
}

static bool
has_vanished(const struct collected_trace *t)
{
	return t->has_vanished;
}

/*
 * Return true if recording stopped before the process ended, or if it started
 * late.  A later segment is never late, because it continues an earlier one.
 */
static bool
is_paused(const struct collected_trace *t)
{
	return t->has_stopped || (t->is_late && t->segment == 0);
}

/*
 * Properties that traces of child processes may have.  'text' is what to print
 * after the number of traces that have the property.
 */
static const struct {
	trace_test *test;
	const char *text;
	bool may_lack; /* events may be missing from such a trace */
} findings[] = {
	{ is_mended, "completed by 'hatf record' after an abrupt end", false },
	{ is_running, "still being written: the processes are running", true },
	{ is_paused,
	  "with only a part of the run, because 'hatf ctl' or the program "
	  "started or stopped the recording",
	  false },
	{ has_vanished, "processes then executed a program that left no trace",
	  false },
	{ is_incomplete, "NOT COMPLETE: 'hatf verify' says why", true },
	{ is_unfinished,
	  "NOT COMPLETE: 'hatf recover' completes the traces of killed "
	  "processes",
	  true },
};

#define FINDING_COUNT (sizeof(findings) / sizeof(findings[0]))

/* The traces of child processes. */
struct children {
	size_t traces; /* all segments of a process are one trace */
	size_t segments;
	uint64_t all_segments; /* including those that no longer exist */
	/* for each element of 'findings': how many traces have the property */
	size_t found[FINDING_COUNT];
};

/* Return the number of segments of the trace whose first segment is 't'. */
static size_t
count_segments(const struct collected_trace *t,
	       const struct collected_trace *end)
{
	const struct collected_trace *const first = t;

	while (t != end && t->pid == first->pid &&
	       t->start_ns == first->start_ns)
		t++;
	return (size_t)(t - first);
}

/* Has one of the segments of a trace the property? */
static bool
has_property(const struct collected_trace *first, size_t segments,
	     trace_test *test)
{
	size_t i = 0;

	while (i < segments && !test(&first[i]))
		i++;
	return i < segments;
}

static struct children
count_children(const struct collection *c)
{
	const struct collected_trace *t = c->traces + c->own_count;
	const struct collected_trace *const end = t + c->descendant_count;
	struct children children = { .segments = c->descendant_count };

	while (t != end) {
		const size_t n = count_segments(t, end);

		children.traces++;
		children.all_segments += t[n - 1].segment + 1;
		for (size_t i = 0; i < FINDING_COUNT; i++)
			children.found[i] +=
				has_property(t, n, findings[i].test);
		t += n;
	}
	return children;
}

static void __attribute__((format(printf, 3, 4)))
append(char *buf, size_t cap, const char *format, ...)
{
	const size_t used = strlen(buf);
	va_list list;

	va_start(list, format);
	vsnprintf(buf + used, cap - used, format, list);
	va_end(list);
}

static void
append_count(const struct children *children, char *buf, size_t cap)
{
	append(buf, cap, "%zu trace%s of child processes", children->traces,
	       figure_plural(children->traces));
	if (children->all_segments != children->traces)
		append(buf, cap, " in %zu of %s segments", children->segments,
		       figure_count(children->all_segments).text);
}

void
summary_count_children(const struct collection *c, char *buf, size_t cap)
{
	const struct children children = count_children(c);

	buf[0] = '\0';
	append_count(&children, buf, cap);
}

static void
describe_children(const struct collection *c, char *buf, size_t cap)
{
	const struct children children = count_children(c);
	bool is_whole = true;

	append_count(&children, buf, cap);
	for (size_t i = 0; i < FINDING_COUNT; i++) {
		if (children.found[i] == 0)
			continue;
		append(buf, cap, ", %zu of these %s", children.found[i],
		       findings[i].text);
		is_whole = is_whole && !findings[i].may_lack;
	}
	if (is_whole)
		append(buf, cap, ", no events lost in these");
}

void
summary_describe_others(const struct collection *c, char *buf, size_t cap)
{
	const size_t before = c->own_count - collect_segments(c);

	buf[0] = '\0';
	if (before == 0 && c->descendant_count == 0)
		return;
	append(buf, cap, " (+ ");
	if (before != 0)
		append(buf, cap, "%zu trace%s before exec%s", before,
		       figure_plural(before),
		       c->descendant_count != 0 ? ", " : "");
	if (c->descendant_count != 0)
		describe_children(c, buf, cap);
	append(buf, cap, ")");
}

/* ---------------------------------------------------------------- one trace */

/*
 * Return how many of the 'count' segments must still exist after the run.  The
 * recorder may have removed the others (HATFTRACE_KEEP).
 */
static uint64_t
kept_segments(uint64_t count)
{
	const char *const keep = getenv("HATFTRACE_KEEP");
	char *end;
	unsigned long long n;

	if (keep == NULL || keep[0] == '\0' || strcmp(keep, "all") == 0)
		return count;
	n = strtoull(keep, &end, 10);
	/* With a limit in bytes, only the last segment is certain to exist. */
	if (*end != '\0')
		n = 1;
	return n < count ? n : count;
}

/*
 * Describe what the segments of a trace have lost.  'trace' is the last
 * segment; 'segments' is the number of segments that exist.
 */
static void
describe_losses(const struct collected_trace *trace, size_t segments,
		const struct collect_summary *s, char *buf, size_t cap)
{
	const uint64_t expected = kept_segments(trace->segment + 1);
	const uint64_t gone = expected > segments ? expected - segments : 0;

	if (s->error[0] != '\0')
		snprintf(buf, cap,
			 "ended early (%s): %s event%s LOST by then; later "
			 "events are not counted",
			 s->error, figure_count(s->lost_count).text,
			 figure_plural(s->lost_count));
	else if (s->lost_count != 0)
		snprintf(buf, cap, "%s event%s LOST",
			 figure_count(s->lost_count).text,
			 figure_plural(s->lost_count));
	else if (gone != 0)
		snprintf(buf, cap, "%s %s GONE", figure_count(gone).text,
			 gone == 1 ? "segment is" : "segments are");
	else
		snprintf(buf, cap, "no events lost");
}

/*
 * If recording was stopped, or if it began late, return the words that say
 * this, otherwise "".
 */
static const char *
describe_pause(const struct collection *c)
{
	bool has_stopped = false, is_late = false;

	if (c->traces[c->own_count - 1].has_stopped)
		return "; its recording was stopped before the process ended";
	for (size_t i = 0; i < c->own_count; i++) {
		has_stopped = has_stopped || c->traces[i].has_stopped;
		is_late = is_late || is_paused(&c->traces[i]);
	}
	if (has_stopped)
		return "; its recording was stopped for a while";
	return is_late ? "; its recording began late" : "";
}

static const char *
describe_end(const struct collected_trace *last)
{
	if (last->is_mended)
		return ", completed after an abrupt end";
	return last->has_vanished
		       ? "; the program that it executed then left no trace"
		       : "";
}

/* Write " in 12.345 ms in 2 of 3 segments, 1.31 bytes/event" to 'buf'. */
static void
describe_size(const struct collected_trace *trace, size_t segments,
	      const struct collect_summary *s, char *buf, size_t cap)
{
	buf[0] = '\0';
	if (s->has_duration)
		append(buf, cap, " in %s", figure_ns(s->duration_ns).text);
	if (trace->segment != 0)
		append(buf, cap, " in %zu of %s segments", segments,
		       figure_count(trace->segment + 1).text);
	if (s->event_count != 0)
		append(buf, cap, ", %.2f bytes/event",
		       (double)s->file_nbytes / (double)s->event_count);
}

/*
 * Print the line about the command's last trace.  Return false if the trace is
 * incomplete.
 */
static bool
print_summary(const struct collection *c)
{
	const struct collected_trace *const last = &c->traces[c->own_count - 1];
	const size_t segments = collect_segments(c);
	char size[192], lost[192], others[640];
	struct collect_summary s;

	if (!collect_summary(last, &s))
		return false;
	describe_size(last, segments, &s, size, sizeof(size));
	describe_losses(last, segments, &s, lost, sizeof(lost));
	summary_describe_others(c, others, sizeof(others));
	message_print(
		"%s: %s event%s%s, %s%s%s%s%s%s", template_short(last->path),
		figure_count(s.event_count).text, figure_plural(s.event_count),
		size, s.fault[0] != '\0' ? "NOT COMPLETE: " : "",
		s.fault[0] != '\0' ? s.fault : lost,
		s.fault[0] != '\0' && s.lost_count != 0
			? ", and events were lost"
			: "",
		describe_end(last), describe_pause(c), others);
	return s.complete;
}

/*
 * Check a trace that print_summary() does not describe.  If the trace is
 * incomplete, print why and return false.
 */
static bool
check_other(const struct collected_trace *trace)
{
	struct collect_summary s;

	if (!collect_summary(trace, &s))
		return false;
	if (s.complete)
		return true;
	if (is_running(trace))
		snprintf(s.fault, sizeof(s.fault),
			 "its process is still running");
	else if (s.fault[0] == '\0' && s.error[0] == '\0')
		snprintf(s.fault, sizeof(s.fault), "%s event%s LOST",
			 figure_count(s.lost_count).text,
			 figure_plural(s.lost_count));
	else if (s.fault[0] == '\0')
		snprintf(s.fault, sizeof(s.fault), "ended early (%s)", s.error);
	message_print("%s: NOT COMPLETE: %s", template_short(trace->path),
		      s.fault);
	return false;
}

/* Print a line if the last trace has a number because its name was taken. */
static void
tell_taken(const struct collection *c, const char *text)
{
	const char *const path = c->traces[c->own_count - 1].path;
	char *const taken = collect_taken_name(c, text);

	if (taken != NULL)
		message_print("%s exists already, so the trace is %s",
			      template_short(taken), template_short(path));
	free(taken);
}

bool
summary_report_own(const struct collection *c, const char *text)
{
	bool ok = true;

	for (size_t i = 0; i + 1 < c->own_count; i++)
		ok = check_other(&c->traces[i]) && ok;
	tell_taken(c, text);
	return print_summary(c) && ok;
}

bool
summary_check_children(const struct collection *c)
{
	bool ok = true;

	for (size_t i = 0; i < c->descendant_count; i++)
		ok = check_other(&c->traces[c->own_count + i]) && ok;
	return ok;
}
