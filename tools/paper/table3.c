/* SPDX-License-Identifier: MIT */
/* table3.c - see table3.h */
#include "tools/paper/table3.h"

#include "tools/trace/scan.h"
#include "tools/ui/message.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 1024

static void
count_record(struct table3 *c, const struct hatf_record *rec)
{
	c->all_records += rec->tag < HATF_COMMENT;
	if (rec->tag > HATF_REALLOC_FREE)
		return;
	c->data_records++;
	if (rec->tag == HATF_FREE) {
		c->free_count++;
	} else if (rec->tag != HATF_ALLOC) {
		c->realloc_count++;
	} else if (rec->address != 0) {
		c->alloc_count++;
		c->nbytes += (double)rec->size;
	}
}

/*
 * Count the records.  Ignore errors in the trace, because follow_events() has
 * reported them.  On any other error, print a message and return false.
 */
static bool
count_records(struct table3 *c, const struct spool *trace)
{
	struct hatf_record *const records = calloc(BATCH, sizeof(*records));
	struct hatf_reader *reader;
	struct hatf_error err;
	size_t n;

	if (records == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	if (spool_reader(trace, 0, &reader, &err) != HATF_OK) {
		message_error(trace->path, &err);
		free(records);
		return false;
	}
	while (hatf_reader_read(reader, records, BATCH, &n) == HATF_OK)
		for (size_t i = 0; i < n; i++)
			count_record(c, &records[i]);
	hatf_reader_close(reader);
	free(records);
	return true;
}

/*
 * Turn the records of an open reader into events (hatf_events.h), to find the
 * peaks of live blocks and of live bytes.  If the trace is damaged or
 * incomplete, or on another error, print a message and return false.
 */
static bool
follow_events(struct table3 *c, struct scan *s)
{
	struct hatf_events_stats stats = { .struct_nbytes = sizeof(stats) };
	const char *fault;
	char buf[512];

	if (hatf_events_open(s->reader, &s->events) != HATF_OK ||
	    hatf_events_inherit(s->events, s->path, &s->heritage) != HATF_OK) {
		message_print("%s: %s", message_path(s->path),
			      hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	while (scan_read(s) > 0)
		continue;
	hatf_events_get_stats(s->events, &stats);
	c->max_objects = stats.peak_live_count;
	c->max_nbytes = stats.peak_live_nbytes;
	fault = scan_fault(s, buf, sizeof(buf));
	if (fault != NULL)
		message_print("%s: %s", message_path(s->path), fault);
	return fault == NULL;
}

bool
table3_take(struct table3 *c, const struct spool *trace)
{
	struct scan *const s = calloc(1, sizeof(*s));
	struct hatf_error err;
	bool is_whole = false;

	memset(c, 0, sizeof(*c));
	if (s == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	s->path = trace->path;
	if (spool_reader(trace, 0, &s->reader, &err) != HATF_OK) {
		message_error(trace->path, &err);
	} else {
		is_whole = follow_events(c, s);
		scan_close(s);
		is_whole = count_records(c, trace) && is_whole;
	}
	free(s);
	return is_whole;
}
