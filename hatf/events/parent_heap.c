/* SPDX-License-Identifier: MIT */
/*
 * parent_heap.c - hatf_events_inherit: give a forked child its parent's blocks
 *
 * Read as many events of the parent's trace as the child's header says, and
 * move the live set at that point to the child.  The parent writes two comments
 * about the fork, one before the fork and one after it.  Between the two
 * comments, other threads may have allocated and freed blocks, and the trace
 * does not show whether this was before the kernel copied the memory.  The
 * state of the addresses that these threads used is therefore unknown
 * ('unsure').  If a realloc is still in progress at the second comment, its
 * record comes later.  A "HATF realloc" comment between the two comments
 * therefore gives the addresses of the realloc.
 *
 * A trace can be split into segments.  A later segment of the child begins with
 * the live blocks that the child itself allocated, but does not repeat the
 * inherited blocks.  Its inherited blocks are those that are still live at the
 * end of the segment before it.
 *
 * If the parent is itself a forked child, first give the parent's stage the
 * blocks that the parent inherited, and so on.  A header may contain anything,
 * so the number of ancestors is limited, and no trace may be its own ancestor.
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

/*
 * Upper bound of the length of the comments about forks and reallocs, in bytes.
 */
#define COMMENT_NBYTES 256

/*
 * A trace that is read to find the inherited blocks of another trace, its
 * child.  It is the trace of the parent process or, if the child is a later
 * segment, the segment before the child.
 */
struct ancestor {
	/*
	 * the child for which this trace is read; NULL: the child is the
	 * caller's trace
	 */
	const struct ancestor *child;
	unsigned depth;
	struct checked_file file;
	struct hatf_reader *reader;
	struct hatf_events *events;
};

/*
 * What the header of a child's trace says about the trace that must be read
 * first.
 */
struct birth {
	const char *parent_trace, *host;
	uint64_t parent_pid;
	/*
	 * number of logical events of the parent before the fork; UINT64_MAX:
	 * read all events
	 */
	uint64_t event;
	uint64_t fork; /* number of the fork in the parent; 0: unknown */
	/* number of the child's segment; 0 if it is the first */
	uint64_t segment;
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

/*
 * Does the header say that the trace may lack blocks that were live when it
 * began, or may contain wrong ones?
 */
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

/* Is this file already being read, because it is the trace of a descendant? */
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

/*
 * Open a reader if a->file is the trace of the parent.  Otherwise close the
 * file and return false.
 */
static bool
take_file(struct ancestor *a, const struct birth *birth)
{
	if (!is_open(a) && reader_open_fd(a->file.fd, &a->reader) == HATF_OK) {
		if (is_parent(a, birth))
			return true;
		hatf_reader_close(a->reader);
	}
	a->reader = NULL;
	checked_file_close(&a->file);
	return false;
}

/*
 * Find the parent's trace in the folder of the child's trace.  If the child is
 * the caller's trace (a->child is NULL), this is the folder of 'child_path'.
 * Otherwise, the child is itself an ancestor, and its 'file' has a descriptor
 * of the folder.
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

/*
 * Find the parent's trace at the path that the child's header gives.  The path
 * is untrusted, so accept the file only if the owner of the child's trace also
 * owns the file.
 */
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

/*
 * Read the first 'event' logical events of the parent's trace, which precede
 * the fork.  If 'event' is UINT64_MAX, read the trace to its end.
 */
static enum hatf_heritage
replay(struct ancestor *a, uint64_t event)
{
	enum hatf_status status = HATF_OK;
	struct hatf_event batch[BATCH_COUNT];
	struct hatf_events_stats seen = { .struct_nbytes = sizeof(seen) };
	struct hatf_reader_stats read = { .struct_nbytes = sizeof(read) };
	size_t n;

	hatf_events_get_stats(a->events, &seen);
	while (status == HATF_OK && seen.event_count < event) {
		const uint64_t left = event - seen.event_count;

		/*
		 * Limit the number of events, so that the stage applies no
		 * event after the fork.
		 */
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

/*
 * Is the event a comment that begins with 'kind' (for example "HATF fork\n")?
 * If so, copy the text of the comment.
 */
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

/*
 * Is this a comment about fork number 'fork'?  '*after_ret' is true for the
 * comment that was written after the fork.
 */
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
 * Read up to the comment that was written before the fork.  replay() has read
 * all logical events that precede this comment.  Only records that are not
 * logical events may still come before this comment, such as the carried
 * records at the start of a segment.
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
note_unsure(struct u64_map *unsure, uint64_t address)
{
	bool added;

	return address == 0 || u64_map_put(unsure, address, &added) != NULL;
}

/* Return the number in the line "KEY=...", or 0 if there is none. */
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
 * A "HATF realloc" comment is about a realloc that was in progress when the
 * fork returned, and whose record comes later in the trace.  If 'e' is such a
 * comment, add the addresses of the realloc to 'unsure'.  Return false if there
 * is no memory.
 */
static bool
note_realloc(struct u64_map *unsure, const struct hatf_event *e)
{
	char text[COMMENT_NBYTES];

	return !read_comment(e, "HATF realloc\n", text) ||
	       (note_unsure(unsure, line_u64(text, "old")) &&
		note_unsure(unsure, line_u64(text, "address")));
}

/*
 * Collect the addresses that were used between the two comments about the fork.
 * If the second comment is missing, collect up to the end of the trace.  Set
 * '*whole_ret' to false if addresses may be missing: the second comment is
 * missing, and the trace ended before the process did.  Return false if there
 * is no memory.
 */
static bool
collect_unsure(struct ancestor *a, uint64_t fork, struct u64_map *unsure,
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
		/*
		 * Several threads can use heap 0 at the same time.  Assume that
		 * the program uses no other heap while another thread forks, so
		 * that only addresses of heap 0 are in doubt.
		 */
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
	struct u64_map unsure;
	bool whole = true;

	events_take_heaps(a->events, &heaps, &unsure);
	if (birth->segment != 0 && !heaps_keep_without_history(&heaps)) {
		heaps_fini(&heaps);
		u64_map_fini(&unsure);
		return HATF_NO_MEMORY;
	}
	if (birth->fork != 0 &&
	    !collect_unsure(a, birth->fork, &unsure, &whole)) {
		heaps_fini(&heaps);
		u64_map_fini(&unsure);
		return HATF_NO_MEMORY;
	}
	if (!whole) {
		heaps_fini(&heaps);
		u64_map_fini(&unsure);
		*heritage_ret = HATF_HERITAGE_DAMAGED;
		return HATF_OK;
	}
	events_give_heaps(child, &heaps, &unsure);
	return HATF_OK;
}

/* Read 'a', the trace of the parent, and move its live blocks to the child. */
static enum hatf_status
replay_parent(struct ancestor *a, const struct birth *birth,
	      struct hatf_events *child, enum hatf_heritage *heritage_ret)
{
	enum hatf_status status = hatf_events_open(a->reader, &a->events);

	/*
	 * The child takes over the heaps of the parent's stage.  So if the
	 * child's heaps number their blocks, the parent's heaps must, too.
	 */
	if (status == HATF_OK && child->heaps.numbers_blocks)
		status = hatf_events_number_blocks(a->events);
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
