/* SPDX-License-Identifier: MIT */
/*
 * parent_heap.c - hatf_events_inherit: what a forked child has from its parent
 *
 * The parent's trace is read up to the number of events that the child's header
 * names; the live set at that point goes over to the child.  The parent's notes of
 * the fork follow there, one from before it and one from after; other threads may
 * have been at work between the two, and whether that was before the memory was
 * copied cannot be known.  So the addresses that they used are handed over as
 * unsure; those of a realloc that ends only after the second note stand in notes of
 * their own before that.
 *
 * A later segment of the child carries what the child itself allocated; what it
 * has from its parent is what is left of that at the end of the segment before.
 *
 * A parent that is itself such a child is first given what it inherited, and so
 * on.  What a header says may be anything, hence a bound on the number of
 * ancestors, and no trace is opened inside its own reading.
 */
#include "hatf/events/events.h"
#include "hatf/io/checked_file.h"
#include "hatf/io/paths.h"
#include "hatf/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH_COUNT 256

/* A longer comment is none of those that are of interest here. */
#define COMMENT_NBYTES 256

/* A trace that is being read, on behalf of the one below it. */
struct ancestor {
	const struct ancestor *child; /* NULL: that of the caller */
	unsigned depth;
	struct checked_file file;
	struct hatf_reader *reader;
	struct hatf_events *events;
};

/* What the header of the child says of the trace to be read before. */
struct birth {
	const char *parent_trace, *host;
	uint64_t parent_pid;
	uint64_t event;	  /* logical events of the parent before the fork */
	uint64_t fork;	  /* number of the fork; 0: not known */
	uint64_t segment; /* not 0: of a later segment of the child itself */
};

static bool
header_u64(const struct hatf_reader *reader, const char *key, uint64_t *n_ret)
{
	const char *const text = hatf_reader_header(reader, key);
	char *end;

	if (text == NULL || text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*n_ret = strtoull(text, &end, 10);
	return *end == '\0' && errno == 0;
}

/* Are there blocks that lived before the trace and of which it does not tell? */
static bool
has_unknown_blocks(const struct hatf_reader *reader)
{
	const char *const start = hatf_reader_header(reader, "start");
	const char *const live = hatf_reader_header(reader, "live");

	return (start != NULL && strcmp(start, "late") == 0) ||
	       (live != NULL && strcmp(live, "exact") != 0);
}

static enum hatf_heritage
read_birth(const struct hatf_reader *child, struct birth *ret)
{
	uint64_t is_exact;

	if (hatf_reader_header(child, "parent_pid") == NULL)
		return HATF_HERITAGE_NONE;
	ret->host = hatf_reader_header(child, "host");
	if (header_u64(child, "segment", &ret->segment) && ret->segment != 0) {
		ret->parent_trace = hatf_reader_header(child, "previous");
		ret->event = UINT64_MAX;
		ret->fork = 0;
		return ret->parent_trace != NULL &&
				       !has_unknown_blocks(child) &&
				       header_u64(child, "pid",
						  &ret->parent_pid)
			       ? HATF_HERITAGE_EXACT
			       : HATF_HERITAGE_INEXACT;
	}
	ret->segment = 0;
	ret->parent_trace = hatf_reader_header(child, "parent_trace");
	if (ret->parent_trace == NULL || has_unknown_blocks(child) ||
	    !header_u64(child, "parent_pid", &ret->parent_pid) ||
	    !header_u64(child, "parent_event", &ret->event) ||
	    !header_u64(child, "parent_event_exact", &is_exact) ||
	    is_exact != 1)
		return HATF_HERITAGE_INEXACT;
	if (!header_u64(child, "parent_fork", &ret->fork))
		ret->fork = 0;
	return HATF_HERITAGE_EXACT;
}

static void
close_ancestor(struct ancestor *a)
{
	hatf_events_close(a->events);
	hatf_reader_close(a->reader);
	checked_file_close(&a->file);
}

/* Is it being read already, by us or on behalf of somebody below? */
static bool
is_open(const struct ancestor *a)
{
	for (const struct ancestor *i = a->child; i != NULL; i = i->child)
		if (checked_file_is_same(&i->file.st, &a->file.st))
			return true;
	return false;
}

static bool
is_parent(const struct ancestor *a, const struct birth *birth)
{
	const char *const host = hatf_reader_header(a->reader, "host");
	uint64_t pid, segment = 0;

	header_u64(a->reader, "segment", &segment);
	if (birth->segment != 0 && segment != birth->segment - 1)
		return false;
	return header_u64(a->reader, "pid", &pid) && pid == birth->parent_pid &&
	       (host == NULL || birth->host == NULL ||
		strcmp(host, birth->host) == 0);
}

/* Is a->file the trace of the parent?  If not, it is closed. */
static bool
take_file(struct ancestor *a, const struct birth *birth)
{
	if (!is_open(a) &&
	    hatf_reader_open_fd(a->file.fd, 0, &a->reader, NULL) == HATF_OK) {
		if (is_parent(a, birth))
			return true;
		hatf_reader_close(a->reader);
	}
	a->reader = NULL;
	checked_file_close(&a->file);
	return false;
}

/*
 * Find it in the folder of the child's trace, which an ancestor holds open, or
 * which is that of the path that the user gave.
 */
static bool
find_beside(struct ancestor *a, const char *child_path,
	    const struct birth *birth)
{
	const char *const name = paths_base(birth->parent_trace);
	bool found;

	if (a->child != NULL)
		return checked_file_open_in(&a->file, a->child->file.dir_fd,
					    name, O_RDONLY) &&
		       take_file(a, birth);

	const int dir_fd =
		checked_file_folder(child_path != NULL ? child_path : "-");

	found = dir_fd >= 0 &&
		checked_file_open_in(&a->file, dir_fd, name, O_RDONLY);
	if (dir_fd >= 0)
		close(dir_fd);
	return found && take_file(a, birth);
}

/* Find it at the header's path, which may be any: the trace's owner must own
 * it. */
static bool
find_at_header_path(struct ancestor *a, const struct hatf_reader *child,
		    const struct birth *birth)
{
	struct stat st;

	return fstat(reader_fd(child), &st) == 0 && S_ISREG(st.st_mode) &&
	       checked_file_open_untrusted(&a->file, birth->parent_trace,
					   O_RDONLY, st.st_uid) &&
	       take_file(a, birth);
}

/* Let the parent do what it did before the fork, or to its end. */
static enum hatf_heritage
replay(struct ancestor *a, uint64_t event)
{
	enum hatf_status status = HATF_OK;
	struct hatf_event batch[BATCH_COUNT];
	struct hatf_events_stats seen;
	struct hatf_reader_stats read;
	size_t n;

	hatf_events_get_stats(a->events, &seen);
	while (status == HATF_OK && seen.event_count < event) {
		const uint64_t left = event - seen.event_count;

		/* No more than are left, so that it is never one too many. */
		status = hatf_events_read(
			a->events, batch,
			left < BATCH_COUNT ? (size_t)left : BATCH_COUNT, &n);
		hatf_events_get_stats(a->events, &seen);
	}
	if (status != (event == UINT64_MAX ? HATF_END : HATF_OK))
		return HATF_HERITAGE_DAMAGED;
	hatf_reader_get_stats(a->reader, &read);
	return read.lost_count == 0 ? HATF_HERITAGE_EXACT
				    : HATF_HERITAGE_DAMAGED;
}

/* The text of a comment of this kind ("HATF fork\n"), if it is one. */
static bool
read_comment(const struct hatf_event *e, const char *kind,
	     char text[COMMENT_NBYTES])
{
	const size_t n = strlen(kind);

	if (e->kind != HATF_EVENT_COMMENT ||
	    e->attributes_nbytes >= COMMENT_NBYTES ||
	    e->attributes_nbytes < n || memcmp(e->attributes, kind, n) != 0)
		return false;
	memcpy(text, e->attributes, e->attributes_nbytes);
	text[e->attributes_nbytes] = '\0';
	return true;
}

/* Is this a note of the fork?  '*after_ret': the one from after it. */
static bool
is_note(const struct hatf_event *e, uint64_t fork, bool *after_ret)
{
	char text[COMMENT_NBYTES], line[48];

	if (!read_comment(e, "HATF fork\n", text))
		return false;
	*after_ret = strstr(text, "\nforked=1\n") != NULL;
	snprintf(line, sizeof(line), "\nfork=%llu\n", (unsigned long long)fork);
	return strstr(text, line) != NULL;
}

/*
 * What is no logical event may have come since the last one, and blocks that
 * a segment begins with: read up to the first note, which the recorder writes before
 * any further event.
 */
static enum hatf_heritage
seek_note(struct ancestor *a, uint64_t fork)
{
	bool after = false;
	struct hatf_event e;
	size_t n;

	while (hatf_events_read(a->events, &e, 1, &n) == HATF_OK &&
	       (e.kind > HATF_EVENT_REALLOC ||
		(e.kind == HATF_EVENT_ALLOC && e.carried)))
		if (is_note(&e, fork, &after) && !after)
			return HATF_HERITAGE_EXACT;
	return HATF_HERITAGE_DAMAGED;
}

static bool
note_unsure(struct live *unsure, uint64_t address)
{
	bool added;

	return address == 0 || live_put(unsure, address, &added) != NULL;
}

/* The number of the line "KEY=..."; 0: there is none. */
static uint64_t
line_u64(const char *text, const char *key)
{
	char start[16];
	const char *line;

	snprintf(start, sizeof(start), "\n%s=", key);
	line = strstr(text, start);
	return line != NULL ? strtoull(line + strlen(start), NULL, 10) : 0;
}

/*
 * What of the old and the new block of a realloc was there?  It was under way when
 * a fork was over, so its own record comes after that.  False: no memory.
 */
static bool
note_realloc(struct live *unsure, const struct hatf_event *e)
{
	char text[COMMENT_NBYTES];

	return !read_comment(e, "HATF realloc\n", text) ||
	       (note_unsure(unsure, line_u64(text, "old")) &&
		note_unsure(unsure, line_u64(text, "address")));
}

/*
 * Collect what is used between the two notes of the fork; a trace that ends in
 * between ends the collection too, but where the process went on: then '*whole_ret'
 * is false.  False: no memory.
 */
static bool
collect_unsure(struct ancestor *a, uint64_t fork, struct live *unsure,
	       bool *whole_ret)
{
	const char *end;
	bool after = false;
	struct hatf_event e;
	size_t n;

	while (hatf_events_read(a->events, &e, 1, &n) == HATF_OK) {
		if (is_note(&e, fork, &after) && after) {
			*whole_ret = true;
			return true;
		}
		if (!note_realloc(unsure, &e))
			return false;
		/* Heap 0 is the one that threads share unawares. */
		if (e.kind > HATF_EVENT_REALLOC || e.heap != 0)
			continue;
		if (!note_unsure(unsure, e.address) ||
		    !note_unsure(unsure, e.old_address))
			return false;
	}
	end = hatf_reader_trailer(a->reader, "end");
	*whole_ret = end == NULL ||
		     (strcmp(end, "rotate") != 0 && strcmp(end, "stop") != 0);
	return true;
}

static enum hatf_status inherit(struct hatf_events *events, const char *path,
				const struct ancestor *child,
				enum hatf_heritage *heritage_ret);

static enum hatf_status
hand_over(struct ancestor *a, const struct birth *birth,
	  struct hatf_events *child, enum hatf_heritage *heritage_ret)
{
	struct heaps heaps;
	struct live unsure;
	bool whole = true;

	events_take_heaps(a->events, &heaps, &unsure);
	if (birth->segment != 0 && !heaps_keep_forgotten(&heaps)) {
		heaps_fini(&heaps);
		live_fini(&unsure);
		return HATF_NO_MEMORY;
	}
	if (birth->fork != 0 &&
	    !collect_unsure(a, birth->fork, &unsure, &whole)) {
		heaps_fini(&heaps);
		live_fini(&unsure);
		return HATF_NO_MEMORY;
	}
	if (!whole) {
		heaps_fini(&heaps);
		live_fini(&unsure);
		*heritage_ret = HATF_HERITAGE_DAMAGED;
		return HATF_OK;
	}
	events_give_heaps(child, &heaps, &unsure);
	return HATF_OK;
}

/* 'a' is the trace of the parent: read it. */
static enum hatf_status
replay_parent(struct ancestor *a, const struct birth *birth,
	      struct hatf_events *child, enum hatf_heritage *heritage_ret)
{
	enum hatf_status status = hatf_events_open(a->reader, &a->events);

	if (status == HATF_OK)
		status = inherit(a->events, NULL, a, heritage_ret);
	if (status != HATF_OK || (*heritage_ret != HATF_HERITAGE_EXACT &&
				  *heritage_ret != HATF_HERITAGE_NONE))
		return status;
	*heritage_ret = has_unknown_blocks(a->reader) ? HATF_HERITAGE_DAMAGED
						      : replay(a, birth->event);
	if (*heritage_ret == HATF_HERITAGE_EXACT && birth->fork != 0)
		*heritage_ret = seek_note(a, birth->fork);
	if (*heritage_ret != HATF_HERITAGE_EXACT)
		return HATF_OK;
	return hand_over(a, birth, child, heritage_ret);
}

static enum hatf_status
inherit(struct hatf_events *events, const char *path,
	const struct ancestor *child, enum hatf_heritage *heritage_ret)
{
	struct ancestor a = {
		.child = child,
		.depth = child != NULL ? child->depth + 1 : 0,
		.file = CHECKED_FILE_NONE,
	};
	const struct hatf_reader *const reader = events->reader;
	struct birth birth;
	enum hatf_status status = HATF_OK;

	*heritage_ret = read_birth(reader, &birth);
	if (*heritage_ret == HATF_HERITAGE_EXACT &&
	    (a.depth >= HATF_ANCESTORS_MAX ||
	     (!find_beside(&a, path, &birth) &&
	      !find_at_header_path(&a, reader, &birth))))
		*heritage_ret = HATF_HERITAGE_MISSING;
	if (*heritage_ret == HATF_HERITAGE_EXACT)
		status = replay_parent(&a, &birth, events, heritage_ret);
	close_ancestor(&a);
	if (status == HATF_OK)
		events->stats.heritage = *heritage_ret;
	return status;
}

enum hatf_status
hatf_events_inherit(struct hatf_events *events, const char *path,
		    enum hatf_heritage *heritage_ret)
{
	return inherit(events, path, NULL, heritage_ret);
}
