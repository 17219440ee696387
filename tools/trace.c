/* SPDX-License-Identifier: MIT */
/* trace.c - see trace.h */
#include "trace.h"

#include "speak.h"

#include <stdio.h>
#include <string.h>

bool
trace_open(struct trace *t, const char *path)
{
	struct hatf_error err;

	t->path = path;
	t->events = NULL;
	t->status = HATF_OK;
	if (hatf_reader_open(path, 0, &t->reader, &err) != HATF_OK) {
		speak_error(path, &err);
		return false;
	}
	if (hatf_events_open(t->reader, &t->events) != HATF_OK) {
		speak("%s: %s", speak_path(path),
		      hatf_status_text(HATF_NO_MEMORY));
		hatf_reader_close(t->reader);
		return false;
	}
	progress_begin(&t->progress, path, false);
	return true;
}

size_t
trace_read(struct trace *t)
{
	size_t n = 0;

	t->status = hatf_events_read(t->events, t->batch, TRACE_BATCH, &n);
	if (t->progress.enabled) {
		struct hatf_reader_stats read;
		struct hatf_events_stats seen;

		hatf_reader_get_stats(t->reader, &read);
		hatf_events_get_stats(t->events, &seen);
		progress_update(&t->progress, read.file_nbytes,
				seen.event_count);
	}
	if (t->status == HATF_OK)
		return n;
	progress_end(&t->progress);
	return 0;
}

const char *
trace_fault(const struct trace *t, char *buf, size_t nbytes)
{
	struct hatf_reader_stats stats;

	if (t->status == HATF_NO_MEMORY)
		return hatf_status_text(HATF_NO_MEMORY);
	if (t->status != HATF_END)
		return speak_error_text(hatf_reader_error(t->reader), buf,
					nbytes);
	hatf_reader_get_stats(t->reader, &stats);
	if (stats.complete)
		return NULL;

	const char *const end = hatf_reader_trailer(t->reader, "end");

	snprintf(buf, nbytes, "the trace says that it is not complete%s%.80s",
		 end != NULL ? ": " : "", end != NULL ? end : "");
	return buf;
}

void
trace_close(struct trace *t)
{
	progress_end(&t->progress);
	hatf_events_close(t->events);
	hatf_reader_close(t->reader);
}

uint64_t
trace_unit_ns(const char *unit)
{
	if (unit == NULL)
		return 0;
	if (strcmp(unit, "ns") == 0)
		return 1;
	return strcmp(unit, "us") == 0 ? 1000 : 0;
}

bool
trace_duration_ns(const struct trace *t, uint64_t *ns_ret)
{
	const uint64_t unit =
		trace_unit_ns(hatf_reader_header(t->reader, "unit"));
	struct hatf_events_stats stats;

	hatf_events_get_stats(t->events, &stats);
	return unit != 0 && stats.last_time >= stats.first_time &&
	       !__builtin_mul_overflow(stats.last_time - stats.first_time, unit,
				       ns_ret);
}
