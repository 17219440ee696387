/* SPDX-License-Identifier: MIT */
/* scan.c - see scan.h */
#include "tools/trace/scan.h"

#include "tools/trace/cutoff.h"
#include "tools/ui/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool
open_scan(struct scan *s, const char *path,
	  const struct hatf_reader_options *options, bool inherit,
	  bool is_numbered)
{
	struct hatf_error err;
	enum hatf_status status;

	s->path = path;
	s->events = NULL;
	s->status = HATF_OK;
	s->next_count = 0;
	if (hatf_reader_open(path, options, &s->reader, &err) != HATF_OK) {
		message_error(path, &err);
		return false;
	}
	status = hatf_events_open(s->reader, &s->events);
	s->heritage = HATF_HERITAGE_NONE;
	if (status == HATF_OK && is_numbered)
		status = hatf_events_number_blocks(s->events);
	if (status == HATF_OK && inherit)
		status = hatf_events_inherit(s->events, path, &s->heritage);
	if (status != HATF_OK) {
		hatf_events_close(s->events);
		message_print("%s: %s", message_path(path),
			      hatf_status_text(HATF_NO_MEMORY));
		hatf_reader_close(s->reader);
		return false;
	}
	progress_begin(&s->progress, path, false);
	return true;
}

bool
scan_open(struct scan *s, const char *path,
	  const struct hatf_reader_options *options, bool inherit)
{
	return open_scan(s, path, options, inherit, false);
}

bool
scan_open_numbered(struct scan *s, const char *path,
		   const struct hatf_reader_options *options, bool inherit)
{
	return open_scan(s, path, options, inherit, true);
}

struct hatf_reader *
scan_found(const char *path)
{
	const struct hatf_reader_options options = {
		.struct_nbytes = sizeof(options),
		.flags = HATF_READER_FOUND,
	};
	struct hatf_reader *reader;

	return hatf_reader_open(path, &options, &reader, NULL) == HATF_OK
		       ? reader
		       : NULL;
}

const char *
scan_unknown_heritage(const struct scan *s)
{
	if (s->heritage == HATF_HERITAGE_NONE ||
	    s->heritage == HATF_HERITAGE_EXACT)
		return NULL;
	return hatf_heritage_text(s->heritage);
}

const char *
scan_unknown_start(const struct scan *s)
{
	const char *const segment = hatf_reader_header(s->reader, "segment");
	const char *const live = hatf_reader_header(s->reader, "live");

	if (segment == NULL || live == NULL || strcmp(live, "exact") == 0)
		return NULL;
	return "the segment lacks blocks that were live at its start, so its "
	       "live bytes are too low (with HATFTRACE_ROTATE, the recorder "
	       "keeps these blocks)";
}

static void
show_progress(struct scan *s)
{
	struct hatf_reader_stats read = { .struct_nbytes = sizeof(read) };
	struct hatf_events_stats seen = { .struct_nbytes = sizeof(seen) };

	if (!s->progress.enabled)
		return;
	hatf_reader_get_stats(s->reader, &read);
	hatf_events_get_stats(s->events, &seen);
	progress_update(&s->progress, read.file_nbytes, seen.event_count);
}

/* Read up to 'max' events into 'batch'.  Return the number of events. */
static size_t
read_some(struct scan *s, size_t max)
{
	size_t n = 0;

	s->status = hatf_events_read(s->events, s->batch, max, &n);
	if (s->status == HATF_OK)
		return n;
	progress_end(&s->progress);
	return 0;
}

size_t
scan_read(struct scan *s)
{
	show_progress(s);
	return read_some(s, SCAN_BATCH);
}

const struct hatf_event *
scan_next(struct scan *s)
{
	if (s->next_count++ % SCAN_BATCH == 0)
		show_progress(s);
	return read_some(s, 1) != 0 ? &s->batch[0] : NULL;
}

uint64_t
scan_writer(const struct scan *s)
{
	struct hatf_rings rings = { .struct_nbytes = sizeof(rings) };

	return cutoff_find_rings(s->path, s->status, &rings) && rings.in_use
		       ? rings.pid
		       : 0;
}

const char *
scan_fault(const struct scan *s, char *buf, size_t nbytes)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	const char *end, *missed;

	if (s->status == HATF_NO_MEMORY)
		return hatf_status_text(HATF_NO_MEMORY);
	if (s->status != HATF_END) {
		cutoff_describe(s->path, hatf_reader_error(s->reader), buf,
				nbytes);
		return buf;
	}
	hatf_reader_get_stats(s->reader, &stats);
	if (stats.complete)
		return NULL;
	end = hatf_reader_trailer(s->reader, "end");
	missed = hatf_reader_trailer(s->reader, "missed");
	if (missed != NULL && stats.lost_count == 0)
		snprintf(buf, nbytes, SCAN_MISSED "%.200s", missed);
	else if (stats.lost_count != 0)
		snprintf(buf, nbytes,
			 "%" PRIu64 " event%s lost while recording",
			 stats.lost_count,
			 stats.lost_count == 1 ? " was" : "s were");
	else
		snprintf(buf, nbytes,
			 "the trace says that it is not complete%s%.80s",
			 end != NULL ? ": " : "", end != NULL ? end : "");
	return buf;
}

void
scan_close(struct scan *s)
{
	progress_end(&s->progress);
	hatf_events_close(s->events);
	hatf_reader_close(s->reader);
}

uint64_t
scan_unit_ns(const char *unit)
{
	if (unit == NULL)
		return 0;
	if (strcmp(unit, "ns") == 0)
		return 1;
	return strcmp(unit, "us") == 0 ? 1000 : 0;
}

bool
scan_duration_ns(const struct scan *s, uint64_t *ns_ret)
{
	const uint64_t unit =
		scan_unit_ns(hatf_reader_header(s->reader, "unit"));
	struct hatf_events_stats stats = { .struct_nbytes = sizeof(stats) };

	hatf_events_get_stats(s->events, &stats);
	return unit != 0 && stats.last_time >= stats.first_time &&
	       !__builtin_mul_overflow(stats.last_time - stats.first_time, unit,
				       ns_ret);
}

bool
scan_began_late(const struct scan *s)
{
	const char *const start = hatf_reader_header(s->reader, "start");
	const char *const live = hatf_reader_header(s->reader, "live");

	return (start != NULL && strcmp(start, "late") == 0) ||
	       (live != NULL && strcmp(live, "unknown") == 0);
}
