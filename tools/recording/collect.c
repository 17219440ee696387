/* SPDX-License-Identifier: MIT */
/* collect.c - see collect.h */
#include "tools/recording/collect.h"

#include "hatf/hatf.h"
#include "tools/recording/template.h"
#include "tools/trace/scan.h"
#include "tools/trace/trailer.h"
#include "tools/ui/message.h"

#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * To save time in a directory of old traces, do not open a file whose last
 * change was more than this many seconds before the start of the command.  Open
 * the files of the command's own process anyway.  The slack allows for a file
 * server whose clock lags.
 */
#define SLACK_S 5

static uint64_t
header_number(const struct hatf_reader *reader, const char *key)
{
	const char *const text = hatf_reader_header(reader, key);

	return text != NULL ? strtoull(text, NULL, 10) : 0;
}

static void
add_origin(struct collected_trace *trace, uint64_t pid)
{
	if (pid > 1 && trace->from_count < COLLECT_ANCESTORS_MAX)
		trace->from[trace->from_count++] = pid;
}

/*
 * Add to 'ret' the processes that the header names as parents and as ancestors
 * ("PID@START PID@START"), untraced ones included.  If the parent of the traced
 * process ended before the trace began, the header names another process as
 * parent, and only the ancestors lead to the command.
 */
static void
read_origins(const struct hatf_reader *reader, struct collected_trace *ret)
{
	const char *next = hatf_reader_header(reader, "ancestors");

	add_origin(ret, header_number(reader, "ppid"));
	add_origin(ret, header_number(reader, "parent_pid"));
	while (next != NULL && *next != '\0') {
		add_origin(ret, strtoull(next, NULL, 10));
		next = strchr(next, ' ');
		if (next != NULL)
			next++;
	}
}

static bool
read_header(const char *path, struct collected_trace *ret)
{
	struct hatf_reader *const reader = scan_found(path);
	const char *exe;

	if (reader == NULL)
		return false;
	/*
	 * Ignore a snapshot, which 'hatf ctl' writes, because a snapshot is not
	 * the trace of a run.
	 */
	if (hatf_reader_header(reader, "snapshot_of") != NULL) {
		hatf_reader_close(reader);
		return false;
	}
	*ret = (struct collected_trace){
		.pid = header_number(reader, "pid"),
		.is_late = hatf_reader_header(reader, "start") != NULL
	};
	read_origins(reader, ret);
	ret->start_ns = header_number(reader, "start_monotonic");
	ret->pid_start_ns = header_number(reader, "pid_start");
	ret->unit_ns = scan_unit_ns(hatf_reader_header(reader, "unit"));
	ret->segment = header_number(reader, "segment");
	ret->events_before = header_number(reader, "events_before");
	ret->lost_before = header_number(reader, "lost_before");
	ret->bytes_before = header_number(reader, "bytes_before");
	exe = hatf_reader_header(reader, "exe");
	ret->exe = strdup(exe != NULL ? exe : "");
	hatf_reader_close(reader);
	return ret->exe != NULL;
}

/* Append a trace.  The collection takes ownership of 'trace->exe'. */
static bool
append(struct collection *c, const char *path,
       const struct collected_trace *trace)
{
	if (c->count == c->cap) {
		const size_t cap = c->cap != 0 ? 2 * c->cap : 16;
		struct collected_trace *const grown =
			realloc(c->traces, cap * sizeof(*grown));

		if (grown == NULL) {
			free(trace->exe);
			return false;
		}
		c->traces = grown;
		c->cap = cap;
	}
	c->traces[c->count] = *trace;
	c->traces[c->count].path = strdup(path);
	return c->traces[c->count++].path != NULL;
}

static int
compare_path(const void *a, const void *b)
{
	const struct collected_trace *const x = a;
	const struct collected_trace *const y = b;

	return strcmp(x->path, y->path);
}

/*
 * Is the trace's process older than the command?  Return false if the start of
 * the process is unknown.
 */
static bool
is_older(const struct collected_trace *trace, const struct launch *l)
{
	return trace->pid_start_ns != 0 && trace->pid_start_ns < l->start_ns;
}

/*
 * Among the files whose paths match a pattern, find the traces, and add them.
 * If 'own' is true, add only traces of the command's own process, otherwise
 * only traces of other processes.  Skip traces of processes that are older than
 * the command.  Return false if there is no memory.
 */
static bool
collect_glob(struct collection *c, const char *pattern, bool own,
	     const struct launch *l)
{
	glob_t files;
	bool ok = true;

	if (glob(pattern, GLOB_NOSORT, NULL, &files) != 0)
		return true;
	for (size_t i = 0; i < files.gl_pathc && ok; i++) {
		const char *const path = files.gl_pathv[i];
		struct collected_trace trace;
		struct stat st;

		if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
			continue;
		if (!own && st.st_mtim.tv_sec < l->start_time - SLACK_S)
			continue;
		if (!read_header(path, &trace))
			continue;
		if (is_older(&trace, l) ||
		    (trace.pid == (uint64_t)l->pid) != own)
			free(trace.exe);
		else
			ok = append(c, path, &trace);
	}
	globfree(&files);
	return ok;
}

/*
 * Add the traces whose names match the template, with or without a number that
 * the recorder appended.  'segments' is as for template_pattern().  Return
 * false if there is no memory.
 */
static bool
collect_names(struct collection *c, const char *text, bool own, bool segments,
	      const struct launch *l)
{
	char *const pattern =
		template_pattern(text, own ? l->pid : 0, segments);
	char *numbered = NULL;
	bool ok = false;

	if (pattern != NULL && asprintf(&numbered, "%s.[0-9]*", pattern) >= 0) {
		ok = collect_glob(c, pattern, own, l) &&
		     collect_glob(c, numbered, own, l);
		free(numbered);
	}
	free(pattern);
	return ok;
}

static void
free_trace(struct collected_trace *trace)
{
	free(trace->path);
	free(trace->exe);
}

/*
 * From the index 'from' on, sort the traces by their paths and remove
 * duplicates.  There may be duplicates, because two patterns may match the same
 * file.
 */
static void
drop_double(struct collection *c, size_t from)
{
	size_t kept = from;

	if (c->count - from < 2)
		return;
	qsort(c->traces + from, c->count - from, sizeof(*c->traces),
	      compare_path);
	for (size_t i = from; i < c->count; i++) {
		if (kept > from &&
		    strcmp(c->traces[kept - 1].path, c->traces[i].path) == 0)
			free_trace(&c->traces[i]);
		else
			c->traces[kept++] = c->traces[i];
	}
	c->count = kept;
}

static bool
collect_pattern(struct collection *c, const char *text, bool own,
		const struct launch *l)
{
	const size_t from = c->count;
	const bool ok = collect_names(c, text, own, false, l) &&
			collect_names(c, text, own, true, l);

	drop_double(c, from);
	return ok;
}

static int
compare_start(const void *a, const void *b)
{
	const struct collected_trace *const x = a;
	const struct collected_trace *const y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns > y->start_ns ? 1 : -1;
	return (x->segment > y->segment) - (x->segment < y->segment);
}

size_t
collect_segments(const struct collection *c)
{
	size_t n = 0;

	while (n < c->own_count && c->traces[c->own_count - 1 - n].start_ns ==
					   c->traces[c->own_count - 1].start_ns)
		n++;
	return n;
}

/* Return 'path' without the number at its end; NULL if it has no number. */
static char *
without_number(const char *path)
{
	const char *const dot = strrchr(path, '.');

	if (dot == NULL || dot[1] == '\0' ||
	    dot[1 + strspn(dot + 1, "0123456789")] != '\0')
		return NULL;
	return strndup(path, (size_t)(dot - path));
}

/* Does the template 'text' give this path, without an appended number? */
static bool
is_expansion(const char *text, const char *path)
{
	bool is_one = false;

	for (int segments = 0; segments < 2 && !is_one; segments++) {
		char *const pattern = template_pattern(text, 0, segments != 0);

		is_one = pattern != NULL &&
			 fnmatch(pattern, path, FNM_PATHNAME) == 0;
		free(pattern);
	}
	return is_one;
}

/* Is this the path of a trace of the command or of its descendants? */
static bool
is_of_run(const struct collection *c, const char *path)
{
	for (size_t i = 0; i < c->own_count + c->descendant_count; i++)
		if (strcmp(c->traces[i].path, path) == 0)
			return true;
	return false;
}

char *
collect_taken_name(const struct collection *c, const char *text)
{
	char *const name = without_number(c->traces[c->own_count - 1].path);
	struct stat st;

	if (name != NULL && is_expansion(text, name) && !is_of_run(c, name) &&
	    lstat(name, &st) == 0)
		return name;
	free(name);
	return NULL;
}

bool
collect(struct collection *c, const char *text, const struct launch *l)
{
	memset(c, 0, sizeof(*c));
	if (!collect_pattern(c, text, true, l))
		return false;
	c->own_count = c->count;
	if (c->own_count != 0)
		qsort(c->traces, c->own_count, sizeof(*c->traces),
		      compare_start);
	return collect_pattern(c, text, false, l);
}

void
collect_free(struct collection *c)
{
	for (size_t i = 0; i < c->count; i++)
		free_trace(&c->traces[i]);
	free(c->traces);
}

/*
 * The paths come from a directory and are untrusted, so let the library refuse
 * links and special files.
 */
static const struct hatf_reader_options found_options = {
	.struct_nbytes = sizeof(found_options),
	.flags = HATF_READER_FOUND,
};

/* Get the figures of a trace by reading all of the trace. */
static bool
summary_by_reading(const struct collected_trace *found,
		   struct collect_summary *ret)
{
	struct scan *const s = malloc(sizeof(*s));
	struct hatf_events_stats seen = { .struct_nbytes = sizeof(seen) };
	struct hatf_reader_stats read = { .struct_nbytes = sizeof(read) };
	const char *fault;

	if (s == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	if (!scan_open(s, found->path, &found_options, false)) {
		free(s);
		return false;
	}
	while (scan_read(s) > 0)
		;
	fault = scan_fault(s, ret->fault, sizeof(ret->fault));
	ret->complete = fault == NULL;
	if (fault != NULL && fault != ret->fault)
		snprintf(ret->fault, sizeof(ret->fault), "%s", fault);
	hatf_events_get_stats(s->events, &seen);
	hatf_reader_get_stats(s->reader, &read);
	ret->event_count = seen.event_count;
	ret->lost_count = read.lost_count;
	/*
	 * Times are counted from the start of the first segment.  For a later
	 * segment, the time of its last event is therefore the duration of all
	 * segments.
	 */
	if (found->segment != 0)
		ret->has_duration =
			seen.last_time != 0 &&
			!__builtin_mul_overflow(seen.last_time, found->unit_ns,
						&ret->duration_ns) &&
			ret->duration_ns != 0;
	else
		ret->has_duration = scan_duration_ns(s, &ret->duration_ns);
	scan_close(s);
	free(s);
	return true;
}

static bool
summary_of_file(const struct collected_trace *found,
		struct collect_summary *ret)
{
	struct stat st;
	struct trailer tail;

	memset(ret, 0, sizeof(*ret));
	if (lstat(found->path, &st) == 0)
		ret->file_nbytes = (uint64_t)st.st_size;
	/*
	 * The figures of the trailer are valid if the trace is complete, or if
	 * the trailer explains why the trace is incomplete.
	 */
	if (!trailer_read(found->path, true, &tail) ||
	    (!tail.complete && tail.lost_count == 0 && tail.error[0] == '\0' &&
	     tail.missed[0] == '\0'))
		return summary_by_reading(found, ret);
	ret->complete = tail.complete;
	memcpy(ret->error, tail.error, sizeof(ret->error));
	if (tail.missed[0] != '\0')
		snprintf(ret->fault, sizeof(ret->fault), SCAN_MISSED "%s",
			 tail.missed);
	ret->event_count = tail.event_count;
	ret->lost_count = tail.lost_count;
	ret->has_duration = found->unit_ns != 0 &&
			    (found->segment == 0 || tail.time != 0) &&
			    !__builtin_mul_overflow(tail.time, found->unit_ns,
						    &ret->duration_ns);
	return true;
}

bool
collect_summary(const struct collected_trace *found,
		struct collect_summary *ret)
{
	if (!summary_of_file(found, ret))
		return false;
	ret->event_count += found->events_before;
	ret->lost_count += found->lost_before;
	ret->complete = ret->complete && ret->lost_count == 0;
	ret->file_nbytes += found->bytes_before;
	return true;
}
