/* SPDX-License-Identifier: MIT */
/*
 * segment.h - the trace as a row of files, each complete in itself
 *
 * Belongs to the writer thread, which calls it between events.  A segment begins
 * with a header and, where live blocks are kept track of (live_blocks.h), with these
 * (FORMAT.md, "Segments"), and ends with a trailer of its own.  Owns the numbers,
 * what the segments before have come to, and the files that retention may remove.
 */
#ifndef SEGMENT_H
#define SEGMENT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "hatf/recorder/config.h"
#include "hatf/rings/narrate.h"
#include "preload/sys/file.h"
#include "preload/trace/live_blocks.h"
#include "preload/trace/trace.h"

/* Finished segments that retention remembers, and keeps, at the most. */
#define SEGMENT_KEEP_MAX 4096u

/* A file that is finished. */
struct segment_file {
	uint64_t segment, number; /* as in output_remove() */
	struct file_id id;
	uint64_t nbytes;
};

/* Heaps besides malloc's that are kept track of. */
#define SEGMENT_HEAPS_MAX 4096u

struct segment_heap {
	uint64_t id, name[2]; /* as in EVENT_HEAP */
};

struct segment {
	struct trace *trace;
	const struct config *config;
	struct live_blocks live;
	uint64_t number; /* of the open file, or of the next one */
	bool is_open;
	bool is_late;  /* the process did more than is told */
	bool is_known; /* what the carried blocks were so far is right */
	/* Of the segments before. */
	uint64_t events_before, lost_before, bytes_before;
	uint64_t waits, wait_ns, cpu_ns;
	char previous[NAME_MAX + 1];
	/* When the next one is due. */
	uint64_t head_nbytes; /* of the file before its first event */
	uint64_t since_ns, retry_nbytes;
	bool is_failing; /* to open another file, which has been said */
	struct segment_file kept[SEGMENT_KEEP_MAX]; /* a ring */
	uint32_t kept_first, kept_count;
	uint64_t kept_nbytes;
	struct segment_heap heaps[SEGMENT_HEAPS_MAX]; /* that there are */
	uint32_t heap_count;
};

/*
 * Set up, on zeroed memory, with no file.  'is_late': the process has been
 * running without being traced.
 */
void segment_init(struct segment *s, struct trace *t,
		  const struct config *config, bool is_late);

/*
 * Begin the first segment in the file that the trace's output has open already.
 * Runs on a thread of the program with little stack.  False: see trace_commit().
 */
bool segment_begin_first(struct segment *s);

/*
 * Create the file of the next segment and write what it begins with.  On failure
 * says so in one line and returns false, with no file open.
 */
bool segment_open(struct segment *s);

/*
 * Write the trailer of the open segment, with the figures of this segment alone
 * ('end' has those of the whole process), and go on in the same file, whatever
 * comes.  False: see trace_commit().
 */
bool segment_end(struct segment *s, struct narrate_end *end);

/* The same after an error, with a trailer that says so; see trace_finish_failed(). */
bool segment_end_failed(struct segment *s, const struct narrate_end *end);

/*
 * After either: close the file.  The next segment_open() is a late start.
 */
void segment_close(struct segment *s, const struct narrate_end *end);

/*
 * End this segment and begin the next; nothing may be committed elsewhere between.
 * If no file can be created, says so once and goes on with this one.  False if
 * the trace cannot go on.
 */
bool segment_rotate(struct segment *s, struct narrate_end *end,
		    uint64_t now_ns);

/*
 * The file of this segment, which is all committed, cannot be written to any
 * more: go on in the next file.  'end' as in segment_end().  False as
 * segment_open().
 */
bool segment_abandon(struct segment *s, const struct narrate_end *end);

/* Is it time to rotate? */
bool segment_is_due(const struct segment *s, uint64_t now_ns);

/* There was no memory for the live blocks. */
void segment_lose_track(struct segment *s);

/* An EVENT_HEAP or EVENT_HEAP_GONE that goes into the trace. */
void segment_note_heap(struct segment *s, const struct event *ev);

/* Each event that goes into the trace, before it does. */
static inline void
segment_note_event(struct segment *s, const struct order_source *source,
		   const struct event *ev)
{
	if (s->live.slots != NULL &&
	    !live_blocks_add_event(&s->live, source, ev))
		segment_lose_track(s);
}

#endif /* SEGMENT_H */
