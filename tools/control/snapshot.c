/* SPDX-License-Identifier: MIT */
/* snapshot.c - see snapshot.h */
#include "tools/control/snapshot.h"
#include "hatf/hatf.h"
#include "tools/control/existing.h"
#include "tools/control/needed_stacks.h"
#include "tools/control/origins.h"
#include "tools/trace/spool.h"
#include "tools/ui/message.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS_AT_ONCE 256

/* The number of default names to try before giving up. */
#define NAMES_MAX 10000

/* A block of the snapshot. */
struct item {
	uint64_t address, size, heap, object;
	uint64_t thread;
	uint64_t stack; /* id of the block's stack in the snapshot; 0: none */
};

struct live_list {
	struct item *items;
	size_t count, room;
	uint64_t nbytes;
	bool no_memory;
	uint64_t time; /* time of the last event read from the source */
	struct origins origins;
	struct existing existing;
	struct needed_stacks *stacks;
};

static void
free_list(struct live_list *list)
{
	free(list->items);
	origins_free(&list->origins);
	existing_free(&list->existing);
	needed_stacks_close(list->stacks);
}

static bool
make_room(struct live_list *list)
{
	const size_t room = list->room == 0 ? 1024 : 2 * list->room;
	struct item *items;

	if (list->count < list->room)
		return true;
	items = reallocarray(list->items, room, sizeof(*list->items));
	if (items == NULL)
		return false;
	list->items = items;
	list->room = room;
	return true;
}

static bool
take_live(void *ctx, const struct hatf_live *live)
{
	struct live_list *const list = ctx;
	const struct origin from = origins_find(&list->origins, live);
	struct item item = {
		.address = live->address,
		.size = live->size,
		.heap = live->heap,
		.object = live->object,
		.thread = from.thread,
	};

	list->no_memory =
		!make_room(list) ||
		!needed_stacks_need(list->stacks, from.stack, &item.stack);
	if (list->no_memory)
		return false;
	list->items[list->count++] = item;
	list->nbytes += live->size;
	return true;
}

/* Order blocks by heap, then by the time of their allocation. */
static int
compare(const void *a, const void *b)
{
	const struct item *const x = a, *const y = b;

	if (x->heap != y->heap)
		return x->heap < y->heap ? -1 : 1;
	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

/* -------------------------------------------------------------- the header */

/*
 * Must this line of the source's header be left out of the snapshot?  A line
 * about segments, inheritance or ring files would be false, because the
 * snapshot is not a segment, contains the inherited blocks itself, and has no
 * ring file.  make_header() writes new lines about the source and the live
 * blocks.
 */
static bool
is_dropped(const char *line)
{
	static const char *const keys[] = {
		"segment=",
		"previous=",
		"events_before=",
		"lost_before=",
		"bytes_before=",
		"live=",
		"carried=",
		"carried_bytes=",
		"rings=",
		"parent_pid=",
		"parent_trace=",
		"parent_event=",
		"parent_event_exact=",
		"parent_fork=",
		"snapshot_of=",
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strncmp(line, keys[i], strlen(keys[i])) == 0)
			return true;
	return false;
}

/*
 * Remove the first line, which says that the comment is a header, and all lines
 * for which is_dropped() is true.
 */
static void
drop_lines(char *lines)
{
	char *from = lines, *to = lines;

	while (*from != '\0') {
		char *const end = strchr(from, '\n');
		const size_t n =
			end != NULL ? (size_t)(end + 1 - from) : strlen(from);

		if (from != lines && !is_dropped(from)) {
			memmove(to, from, n);
			to += n;
		}
		from += n;
	}
	*to = '\0';
}

/*
 * Return the lines of the trace's header that are also true of the snapshot, or
 * "" if the trace has no header.  The caller frees the result.  Return NULL if
 * out of memory.
 */
static char *
copy_header(int fd)
{
	struct hatf_record rec;
	struct hatf_reader *reader;
	char *lines = NULL;
	size_t n = 0;

	if (spool_reader_of(fd, 0, &reader, NULL) != HATF_OK)
		return strdup("");
	if (hatf_reader_read(reader, &rec, 1, &n) == HATF_OK && n == 1 &&
	    rec.tag == HATF_COMMENT)
		lines = strndup((const char *)rec.attributes,
				rec.attributes_nbytes);
	else
		lines = strdup("");
	hatf_reader_close(reader);
	if (lines != NULL)
		drop_lines(lines);
	return lines;
}

const char *
snapshot_live_word(enum snapshot_live live)
{
	static const char *const words[] = {
		[SNAPSHOT_EXACT] = "exact",
		[SNAPSHOT_UNCERTAIN] = "uncertain",
		[SNAPSHOT_UNKNOWN] = "unknown",
	};

	return words[live];
}

static bool
says(const struct hatf_reader *reader, const char *key, const char *word)
{
	const char *const value = hatf_reader_header(reader, key);

	return value != NULL && strcmp(value, word) == 0;
}

static enum snapshot_live
live_of(const struct hatf_reader *reader)
{
	if (says(reader, "live", "unknown") || says(reader, "start", "late"))
		return SNAPSHOT_UNKNOWN;
	return says(reader, "live", "uncertain") ? SNAPSHOT_UNCERTAIN
						 : SNAPSHOT_EXACT;
}

enum snapshot_live
snapshot_live_of(int fd)
{
	struct hatf_reader *reader;
	enum snapshot_live live;

	if (spool_reader_of(fd, 0, &reader, NULL) != HATF_OK)
		return SNAPSHOT_EXACT;
	live = live_of(reader);
	hatf_reader_close(reader);
	return live;
}

/*
 * Return the base name of the trace, with control bytes (such as newlines) and
 * backslashes as \xHH; the caller frees it.  NULL if out of memory.
 */
static char *
escaped_name(const char *path)
{
	const char *const slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	char *const text = malloc(4 * strlen(name) + 1);
	char *to = text;

	for (; text != NULL && *name != '\0'; name++) {
		const unsigned char c = (unsigned char)*name;

		if (c < 0x20 || c == 0x7f || c == '\\')
			to += sprintf(to, "\\x%02x", c);
		else
			*to++ = (char)c;
	}
	if (text != NULL)
		*to = '\0';
	return text;
}

static char *
make_header(const struct snapshot *s)
{
	char *const old = copy_header(s->from_fd);
	char *const name = escaped_name(s->from);
	char *header = NULL;

	if (old == NULL || name == NULL ||
	    asprintf(&header,
		     "snapshot_of=%s\nlive=%s\ncarried=%" PRIu64
		     "\ncarried_bytes=%" PRIu64 "\n%s",
		     name, snapshot_live_word(s->live), s->live_count,
		     s->live_nbytes, old) < 0) {
		header = NULL;
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	}
	free(old);
	free(name);
	return header;
}

/* --------------------------------------------------------- the source trace */

static bool
note_events(struct live_list *list, const struct hatf_event *events, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!origins_note(&list->origins, &events[i]) ||
		    !existing_note(&list->existing, &events[i]) ||
		    (events[i].kind == HATF_EVENT_COMMENT &&
		     !needed_stacks_note(list->stacks, &events[i])))
			return false;
	return true;
}

/*
 * Read the 'carried' blocks that were live when the trace began, and at most
 * 'event_count' events.  The limit is needed because the trace may grow faster
 * than this function can read it.
 */
static enum hatf_status
read_events(struct hatf_events *stage, uint64_t carried, uint64_t event_count,
	    struct live_list *list)
{
	static struct hatf_event events[EVENTS_AT_ONCE];
	struct hatf_events_stats stats = { .struct_nbytes = sizeof(stats) };
	enum hatf_status status = HATF_OK;
	size_t n;

	while (status == HATF_OK) {
		uint64_t left = 0;

		n = 0;
		hatf_events_get_stats(stage, &stats);
		if (event_count > stats.event_count)
			left = event_count - stats.event_count;
		/* After the first event, no more carried blocks follow. */
		if (stats.event_count == 0 && stats.carried_count < carried)
			left += carried - stats.carried_count;
		if (left == 0)
			return HATF_END;
		status = hatf_events_read(
			stage, events,
			left < EVENTS_AT_ONCE ? (size_t)left : EVENTS_AT_ONCE,
			&n);
		if (!note_events(list, events, n))
			status = HATF_NO_MEMORY;
	}
	return status;
}

/*
 * Does 'status' mean that read_events() has succeeded?  It is no error if the
 * trace is truncated or lacks a trailer, because the recorder may still be
 * writing it.
 */
static bool
is_read(enum hatf_status status)
{
	return status == HATF_END || status == HATF_NO_TRAILER ||
	       status == HATF_TRUNCATED;
}

static bool
read_live(struct snapshot *s, struct hatf_reader *reader,
	  struct hatf_events *stage, struct live_list *list)
{
	const char *const carried = hatf_reader_header(reader, "carried");
	enum hatf_heritage heritage = HATF_HERITAGE_NONE;
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_events_stats seen = { .struct_nbytes = sizeof(seen) };
	enum hatf_status status = hatf_events_number_blocks(stage);

	if (status == HATF_OK)
		status = hatf_events_inherit(stage, s->from, &heritage);
	if (status == HATF_OK)
		status = read_events(
			stage,
			carried != NULL ? strtoull(carried, NULL, 10) : 0,
			s->event_count, list);

	hatf_events_get_stats(stage, &seen);
	list->time = seen.last_time;
	if (status != HATF_NO_MEMORY)
		hatf_events_visit_live(stage, take_live, list);
	if (list->no_memory)
		status = HATF_NO_MEMORY;
	hatf_reader_get_stats(reader, &stats);
	s->live = live_of(reader);
	if (s->live == SNAPSHOT_EXACT && stats.lost_count != 0)
		s->live = SNAPSHOT_UNCERTAIN;
	if (heritage != HATF_HERITAGE_NONE && heritage != HATF_HERITAGE_EXACT)
		s->live = SNAPSHOT_UNKNOWN;
	s->live_count = list->count;
	s->live_nbytes = list->nbytes;
	if (status == HATF_NO_MEMORY)
		message_print("%s", hatf_status_text(status));
	else if (!is_read(status))
		message_error(s->from, hatf_reader_error(reader));
	return is_read(status);
}

static bool
read_trace(struct snapshot *s, struct live_list *list)
{
	struct hatf_error err;
	struct hatf_reader *reader;
	struct hatf_events *stage;
	bool is_fine;

	if (spool_reader_of(s->from_fd, 0, &reader, &err) != HATF_OK) {
		message_error(s->from, &err);
		return false;
	}
	if (hatf_events_open(reader, &stage) != HATF_OK) {
		hatf_reader_close(reader);
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	is_fine = read_live(s, reader, stage, list);
	hatf_events_close(stage);
	hatf_reader_close(reader);
	return is_fine;
}

/* ------------------------------------------------------------- the snapshot */

static void
put_block(struct hatf_writer *w, const struct item *item, uint64_t time)
{
	uint8_t attributes[16] = { HATF_ATTR_CARRIED };
	const struct hatf_attr_item stack = {
		.key = HATF_ATTR_STACK,
		.value = item->stack,
	};
	size_t used = 1;

	if (item->stack != 0)
		hatf_attr_put(attributes, sizeof(attributes), &used, &stack);

	const struct hatf_record rec = {
		.tag = HATF_ALLOC,
		.address = item->address,
		.size = item->size,
		.heap = item->heap,
		.thread = item->thread,
		.time = time,
		.attributes = attributes,
		.attributes_nbytes = (uint32_t)used,
	};

	/*
	 * Ignore the status, because hatf_writer_close() returns the first
	 * error.
	 */
	hatf_writer_write(w, &rec, 1);
}

static void
put_live(struct hatf_writer *w, const struct live_list *list)
{
	uint64_t heap = 0;

	existing_write_threads(&list->existing, list->time, w);
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].heap != heap)
			existing_write_heap(&list->existing,
					    list->items[i].heap, list->time, w);
		heap = list->items[i].heap;
		put_block(w, &list->items[i], list->time);
	}
}

static bool
write_list(int fd, const char *to, const struct live_list *list,
	   const char *header)
{
	const struct hatf_writer_options options = {
		.struct_nbytes = sizeof(options),
		.header = header,
		.fd = fd,
	};
	struct hatf_writer *w;
	struct hatf_error err;
	bool has_memory;

	if (hatf_writer_open(NULL, &options, &w, &err) != HATF_OK) {
		message_error(to, &err);
		return false;
	}
	has_memory = needed_stacks_write(list->stacks, w);
	put_live(w, list);
	if (!has_memory)
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	if (hatf_writer_close(w, &err) == HATF_OK)
		return has_memory;
	message_error(to, &err);
	return false;
}

static int
create(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* Create a file with the first default name that does not exist yet. */
static int
create_default(struct snapshot *s)
{
	int fd;

	s->to = s->name;
	snprintf(s->name, sizeof(s->name), "snapshot.%ld.hatf.gz", s->pid);
	fd = create(s->to);
	for (unsigned i = 1; fd < 0 && errno == EEXIST && i < NAMES_MAX; i++) {
		snprintf(s->name, sizeof(s->name), "snapshot.%ld.%u.hatf.gz",
			 s->pid, i);
		fd = create(s->to);
	}
	return fd;
}

static bool
write_file(struct snapshot *s, const struct live_list *list, const char *header)
{
	const bool is_stdout = s->to != NULL && strcmp(s->to, "-") == 0;
	bool is_fine;
	int fd;

	if (is_stdout)
		return write_list(STDOUT_FILENO, s->to, list, header);
	fd = s->to != NULL ? create(s->to) : create_default(s);
	if (fd < 0) {
		message_print("%s: %s", s->to, strerror(errno));
		return false;
	}
	is_fine = write_list(fd, s->to, list, header);
	if (close(fd) != 0 && is_fine) {
		message_print("%s: %s", s->to, strerror(errno));
		is_fine = false;
	}
	if (!is_fine)
		unlink(s->to);
	return is_fine;
}

bool
snapshot_write(struct snapshot *s)
{
	struct live_list list = { .stacks = needed_stacks_open() };
	char *header = NULL;
	bool is_fine = list.stacks != NULL;

	if (!is_fine)
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	is_fine = is_fine && read_trace(s, &list);
	if (is_fine) {
		header = make_header(s);
		is_fine = header != NULL;
	}
	if (is_fine) {
		if (list.count != 0)
			qsort(list.items, list.count, sizeof(*list.items),
			      compare);
		is_fine = write_file(s, &list, header);
	}
	free(header);
	free_list(&list);
	return is_fine;
}
