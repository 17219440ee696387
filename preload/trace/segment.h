/* SPDX-License-Identifier: MIT */
/*
 * segment.h - the trace as a sequence of files, each complete in itself
 *
 * The writer thread, or the thread of the program that does the writer's work,
 * calls these functions, between events.  The thread that starts the trace may
 * call segment_init().  A segment begins with a header and, if live blocks are
 * tracked (live_blocks.h), with those blocks (FORMAT.md, "Segments").  It ends
 * with its own trailer.  'struct segment' has the segment numbers, the sums of
 * earlier segments, and the list of files that retention may remove.
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

/* Maximum number of finished segments that retention keeps. */
#define SEGMENT_KEEP_MAX 4096u

/* A finished segment. */
struct segment_file {
	uint64_t segment, number; /* arguments of output_remove() */
	struct file_id id;
	uint64_t nbytes;
};

/* Maximum number of heaps that are tracked besides malloc's. */
#define SEGMENT_HEAPS_MAX 4096u

struct segment_heap {
	uint64_t id, name[2]; /* as in EVENT_CREATE_HEAP */
};

/*
 * Size of the buffer for the program's DTDs, which later segments repeat.  Each
 * part of a DTD takes two more bytes, for its length.
 */
#define SEGMENT_DTDS_NBYTES (64u << 10)

/*
 * The parts of the program's DTDs, each after its length in two bytes.  Each
 * later segment repeats these parts.
 */
struct segment_dtds {
	uint8_t bytes[SEGMENT_DTDS_NBYTES];
	uint32_t nbytes;
	uint32_t part_nbytes; /* bytes so far of the part that is being added */
	bool is_full;	      /* a DTD did not fit, and this was reported */
};

struct segment {
	struct trace *trace;
	const struct config *config;
	struct live_blocks live;
	/* number of the open segment or, if none is open, of the next one */
	uint64_t number;
	bool is_open;
	bool is_late; /* unrecorded events preceded this segment */
	/*
	 * If the table 'live' exists, does it have every live block of the
	 * trace?
	 */
	bool is_known;
	/* Sums over the earlier segments. */
	uint64_t events_before, lost_before, bytes_before;
	uint64_t waits, wait_ns, cpu_ns;
	char previous[NAME_MAX + 1];
	/* The next three members decide when the next segment is due. */
	uint64_t head_nbytes; /* size of the file before its first event */
	/*
	 * When the file began, or when the last rotation failed;
	 * CLOCK_MONOTONIC.
	 */
	uint64_t since_ns;
	/* length of the file at which to retry a failed rotation */
	uint64_t retry_nbytes;
	/* The next file could not be opened, and this was reported. */
	bool is_failing;
	struct segment_file kept[SEGMENT_KEEP_MAX]; /* a circular buffer */
	uint32_t kept_first, kept_count;
	uint64_t kept_nbytes;
	struct segment_heap heaps[SEGMENT_HEAPS_MAX]; /* the existing heaps */
	uint32_t heap_count;
	/*
	 * There was no room in 'heaps' for a heap.  Later segments may use this
	 * heap without creating it, so their headers say "live=uncertain".
	 */
	bool lacks_heap;
	struct segment_dtds dtds;
};

/*
 * Initialize '*s', which must be zeroed.  The segment has no file yet.
 * 'is_late' means that the process has been running without being traced.
 */
void segment_init(struct segment *s, struct trace *t,
		  const struct config *config, bool is_late);

/*
 * Begin the first segment in the file that the trace's output already has open.
 * This may run on a thread of the program that has little stack.  On failure
 * print one line and return false; the file stays open.
 */
bool segment_begin_first(struct segment *s);

/*
 * Create the file of the next segment, with its header, threads, heaps, DTDs
 * and live blocks.  On failure print one line and return false, with no file
 * open.
 */
bool segment_open(struct segment *s);

/*
 * Write the trailer of the open segment, with the figures of this segment
 * alone.  'end' has the figures of the whole process.  The file stays open, but
 * no event may follow the trailer.  Return the same as trace_commit().
 */
bool segment_end(struct segment *s, struct narrate_trailer *end);

/* Like segment_end(), after an error; see trace_finish_failed(). */
bool segment_end_failed(struct segment *s, const struct narrate_trailer *end);

/*
 * Try again to write a trailer for which the disk had no room; see
 * trace_finish_late().  Otherwise like segment_end_failed().
 */
bool segment_end_late(struct segment *s, const struct narrate_trailer *end);

/*
 * Close the file, after segment_end() or segment_end_failed().  Until the next
 * segment_open(), events are not recorded, so the next segment is late
 * ('is_late').
 */
void segment_close(struct segment *s, const struct narrate_trailer *end);

/*
 * End this segment and begin the next.  The caller must then commit the state
 * of the rings (writer_commit_rings()).  If the next file cannot be created,
 * continue with the current file, and print one line for the first of several
 * failures in a row.  Return false if the trace cannot continue.
 */
bool segment_rotate(struct segment *s, struct narrate_trailer *end,
		    uint64_t now_ns);

/*
 * Call this if the file of this segment cannot be opened again.  All blocks of
 * the segment must have been committed.  Continue in the next file; the present
 * file gets no trailer.  'end' has the figures of the whole process.  Return
 * the same as segment_open().
 */
bool segment_abandon(struct segment *s, const struct narrate_trailer *end);

/* Is it time to rotate? */
bool segment_is_due(const struct segment *s, uint64_t now_ns);

/*
 * Call this if there is no memory for the live blocks.  Report that later
 * segments begin without them.
 */
void segment_lose_track(struct segment *s);

/*
 * Remember an EVENT_CREATE_HEAP or EVENT_DESTROY_HEAP that goes into the trace.
 */
void segment_note_heap(struct segment *s, const struct event *ev);

/*
 * Remember a piece of an EVENT_CLIENT_DTD, since later segments repeat the
 * DTDs.
 */
void segment_note_dtd(struct segment *s, const struct event *ev);

/* Call this for each event, before the event goes into the trace. */
static inline void
segment_note_event(struct segment *s, const struct order_producer *producer,
		   const struct event *ev)
{
	if (s->live.slots != NULL &&
	    !live_blocks_add_event(&s->live, producer, ev))
		segment_lose_track(s);
}

#endif /* SEGMENT_H */
