/* SPDX-License-Identifier: MIT */
/*
 * overlaps.h - find blocks that overlap a live block
 *
 * Blocks of one heap do not overlap.  Blocks of a pool lie inside blocks of
 * another heap.  A block of 0 bytes overlaps nothing.
 *
 * Each new block is compared with its neighbours in the set of live blocks of
 * 'struct hatf_events', so the check keeps no set of its own.  Three kinds of
 * blocks are exempt: blocks of 0 bytes, blocks that a forked child inherited,
 * and carried blocks (blocks live at the start of the segment) if the trace
 * does not know exactly which blocks were live then.  The search from a new
 * block to higher addresses skips exempt blocks.  The search to lower addresses
 * stops at an exempt block, unless some block may lie inside another one; then
 * this search skips exempt blocks, too.  Each search looks at no more than
 * OVERLAPS_STEPS blocks.
 *
 * With several threads, an allocation may stand in the trace before the realloc
 * by which another thread gave up the same memory (FORMAT "Errors").  If the
 * recorder did not know the size of the old block, only an allocation that
 * contains the first byte of the old block is sure to stand after the realloc
 * (list_realloc(), hatf/rings/order.c).  If a new block overlaps an older one,
 * the older block is therefore only a suspect at first.  The suspect is cleared
 * if the next event of the older block is a realloc by another thread that ends
 * the overlap.  If a realloc is in progress when recording stops, the trace may
 * contain it as a free, which is then the last record of its thread.  A free by
 * another thread therefore clears the suspect too, unless that thread has a
 * later record.
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
	 * 'thread' freed the older block; the free may be the last record of
	 * 'thread'
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
	bool has_covered; /* a block may lie inside another one */
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
