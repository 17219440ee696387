/* SPDX-License-Identifier: MIT */
/* snapshot.c - see snapshot.h */
#include "snapshot.h"
#include "hatf.h"
#include "speak.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_AT_ONCE 256

struct live_list {
	struct hatf_live *items;
	size_t count, room;
	uint64_t nbytes;
	bool no_memory;
};

static bool
take_live(void *ctx, const struct hatf_live *live)
{
	struct live_list *const list = ctx;

	if (list->count == list->room) {
		const size_t room = list->room == 0 ? 1024 : 2 * list->room;
		struct hatf_live *const items =
			reallocarray(list->items, room, sizeof(*list->items));

		list->no_memory = items == NULL;
		if (items == NULL)
			return false;
		list->items = items;
		list->room = room;
	}
	list->items[list->count++] = *live;
	list->nbytes += live->size;
	return true;
}

/* By heap, then in the order of allocation. */
static int
compare(const void *a, const void *b)
{
	const struct hatf_live *const x = a, *const y = b;

	if (x->heap != y->heap)
		return x->heap < y->heap ? -1 : 1;
	return (x->object > y->object) - (x->object < y->object);
}

/* The header of 'from' without its first line; NULL without memory. */
static char *
copy_header(const char *from)
{
	struct hatf_record rec;
	struct hatf_reader *reader;
	char *lines = NULL;
	size_t n = 0;

	if (hatf_reader_open(from, 0, &reader, NULL) != HATF_OK)
		return strdup("");
	if (hatf_reader_read(reader, &rec, 1, &n) == HATF_OK && n == 1 &&
	    rec.tag == HATF_COMMENT) {
		const uint8_t *const end =
			memchr(rec.attributes, '\n', rec.attributes_nbytes);
		const size_t skip = end != NULL
					    ? (size_t)(end + 1 - rec.attributes)
					    : rec.attributes_nbytes;

		lines = strndup((const char *)rec.attributes + skip,
				rec.attributes_nbytes - skip);
	} else {
		lines = strdup("");
	}
	hatf_reader_close(reader);
	return lines;
}

/*
 * Read no more than so many events.  The trace is still being written, and may
 * grow faster than it can be read.
 */
static enum hatf_status
read_events(struct hatf_events *stage, uint64_t event_count)
{
	static struct hatf_event events[EVENTS_AT_ONCE];
	struct hatf_events_stats stats;
	enum hatf_status status = HATF_OK;
	size_t n;

	while (status == HATF_OK) {
		uint64_t left;

		hatf_events_get_stats(stage, &stats);
		left = event_count - stats.event_count;
		if (left == 0)
			return HATF_END;
		status = hatf_events_read(
			stage, events,
			left < EVENTS_AT_ONCE ? (size_t)left : EVENTS_AT_ONCE,
			&n);
	}
	return status;
}

static bool
read_trace(const char *from, uint64_t event_count, struct live_list *list,
	   bool *exact_ret)
{
	struct hatf_reader_stats stats;
	struct hatf_error err;
	struct hatf_reader *reader;
	struct hatf_events *stage;
	const char *live;
	enum hatf_status status;

	if (hatf_reader_open(from, 0, &reader, &err) != HATF_OK) {
		speak_error(from, &err);
		return false;
	}
	if (hatf_events_open(reader, &stage) != HATF_OK) {
		hatf_reader_close(reader);
		speak("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	status = read_events(stage, event_count);
	list->no_memory = status == HATF_NO_MEMORY;
	if (status != HATF_NO_MEMORY)
		hatf_events_visit_live(stage, take_live, list);
	hatf_reader_get_stats(reader, &stats);
	live = hatf_reader_header(reader, "live");
	*exact_ret = stats.lost_count == 0 &&
		     (live == NULL || strcmp(live, "exact") == 0);
	if (status != HATF_END && status != HATF_NO_TRAILER &&
	    status != HATF_TRUNCATED)
		speak_error(from, hatf_reader_error(reader));
	hatf_events_close(stage);
	hatf_reader_close(reader);
	if (list->no_memory)
		speak("%s", hatf_status_text(HATF_NO_MEMORY));
	return !list->no_memory &&
	       (status == HATF_END || status == HATF_NO_TRAILER ||
		status == HATF_TRUNCATED);
}

static void
put_live(struct hatf_writer *w, const struct live_list *list)
{
	static const uint8_t carried[] = { HATF_ATTR_CARRIED };
	struct hatf_record rec = {
		.attributes = carried,
		.attributes_nbytes = sizeof(carried),
	};

	for (size_t i = 0; i < list->count; i++) {
		const struct hatf_live *const live = &list->items[i];
		const bool new_heap = live->heap != rec.heap;

		rec.heap = live->heap;
		rec.address = rec.size = 0;
		rec.tag = HATF_CREATE_HEAP;
		if (new_heap)
			hatf_writer_write(w, &rec, 1);
		rec.tag = HATF_ALLOC;
		rec.address = live->address;
		rec.size = live->size;
		/* Errors are sticky: hatf_writer_close() tells. */
		hatf_writer_write(w, &rec, 1);
	}
}

static bool
write_list(const char *to, const struct live_list *list, const char *header)
{
	const struct hatf_writer_options options = { .header = header };
	struct hatf_writer *w;
	struct hatf_error err;

	if (hatf_writer_open(to, &options, &w, &err) != HATF_OK) {
		speak_error(to, &err);
		return false;
	}
	put_live(w, list);
	if (hatf_writer_close(w, &err) == HATF_OK)
		return true;
	speak_error(to, &err);
	return false;
}

bool
snapshot_write(const char *from, uint64_t event_count, const char *to,
	       uint64_t *count_ret, uint64_t *nbytes_ret)
{
	struct live_list list = { .items = NULL };
	char *old = NULL, *header = NULL;
	bool exact = false;
	bool ok = read_trace(from, event_count, &list, &exact);

	if (ok) {
		old = copy_header(from);
		/* Of a key that occurs twice, the first counts. */
		if (old == NULL ||
		    asprintf(&header,
			     "live=%s\ncarried=%zu\ncarried_bytes=%" PRIu64
			     "\n%s",
			     exact ? "exact" : "uncertain", list.count,
			     list.nbytes, old) < 0) {
			header = NULL;
			ok = false;
			speak("%s", hatf_status_text(HATF_NO_MEMORY));
		}
	}
	if (ok) {
		if (list.count != 0)
			qsort(list.items, list.count, sizeof(*list.items),
			      compare);
		ok = write_list(to, &list, header);
	}
	*count_ret = list.count;
	*nbytes_ret = list.nbytes;
	free(header);
	free(old);
	free(list.items);
	return ok;
}
