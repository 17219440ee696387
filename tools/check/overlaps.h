/* SPDX-License-Identifier: MIT */
/*
 * overlaps.h - find blocks that overlap a live block
 *
 * Blocks of one heap do not overlap.  Blocks of a pool lie inside blocks of
 * another heap.  A block of 0 bytes overlaps nothing.
 *
 * Each new block is compared with its neighbours in the set of live blocks of
 * 'struct hatf_events', so the check keeps no set of its own.  It is no fault
 * if a new block overlaps an exempt block.  These blocks are exempt:
 *
 * - blocks of 0 bytes,
 * - blocks that a forked child inherited, and
 * - carried blocks (blocks live at the start of the segment), if the trace does
 *   not know exactly which blocks were live then.
 *
 * The search from a new block to higher addresses skips exempt blocks.  The
 * search to lower addresses stops at the first exempt block.  Once a block has
 * been seen that may lie inside another one, this search skips exempt blocks,
 * too.  Each search looks at no more than OVERLAPS_STEPS blocks.
 *
 * In a trace of several threads, an overlap may be legal: an allocation may
 * stand before the realloc by which another thread gave up the same memory
 * (FORMAT "Errors").  This happens if the recorder did not know the size of the
 * realloc's old block: the recorder then orders the realloc only before an
 * allocation that contains the first byte of the old block (list_realloc() in
 * hatf/rings/order.c).  The older block of an overlap is therefore only a
 * suspect at first.  Its next event decides.  In this list, "another thread" is
 * any thread except the one that allocated the newer block:
 *
 * - A realloc by another thread clears the suspect if it ends the overlap.
 * - A free by another thread clears the suspect, unless that thread has a later
 *   record.  The reason: if a realloc is in progress when recording stops, the
 *   trace may contain it as a free, the last record of its thread.
 * - Any other event proves a fault.
 *
 * Not thread-safe.
 */
#ifndef OVERLAPS_H
#define OVERLAPS_H

#include "hatf/hatf.h"

/*
 * An older block that a newer one overlaps.  The overlap is no fault if a
 * realloc is about to move the older block.
 */
struct overlaps_suspect {
	uint64_t heap, start; /* heap and address of the older block */
	/* the older block was freed, or its heap was destroyed */
	bool is_gone;
	/*
	 * 'thread' freed the older block, and has had no later record so far
	 */
	bool is_freed;
	uint64_t thread;
	struct hatf_event newer; /* the event that allocated the newer block */
};

#define OVERLAPS_SUSPECTS_MAX 256
#define OVERLAPS_STEPS	      256

struct overlaps {
	struct hatf_events *events;
	bool judges;
	/*
	 * The carried blocks are exactly those that were live when the segment
	 * began.
	 */
	bool is_exact;
	/* Has a block been seen that possibly lies inside another one? */
	bool has_covered;
	bool has_threads; /* there is more than one thread */
	uint64_t thread;  /* thread of the first event */
	/*
	 * For each thread, the number of its last record.  UINT64_MAX: the
	 * thread has no record or has ended.
	 */
	uint64_t *seen;
	uint64_t seen_count;
	struct overlaps_suspect suspects[OVERLAPS_SUSPECTS_MAX];
	unsigned suspect_count, freed_count;
	/*
	 * Called for each overlap, with the event that allocated the newer
	 * block.
	 */
	void (*tell)(void *ctx, const struct hatf_event *newer);
	void *ctx;
};

/*
 * Start the check.  The caller must not have read any event from 'events' yet.
 * Return false if out of memory.
 */
bool overlaps_begin(struct overlaps *o, const struct hatf_reader *reader,
		    struct hatf_events *events);
void overlaps_end(struct overlaps *o);

/* Process 'e', the event read last.  Return false if out of memory. */
bool overlaps_note(struct overlaps *o, const struct hatf_event *e);

/* Report the remaining suspects after the last event. */
void overlaps_settle(struct overlaps *o);

#endif /* OVERLAPS_H */
