/* SPDX-License-Identifier: MIT */
/*
 * overlaps.h - find blocks that overlap a live block
 *
 * Blocks of one heap do not overlap.  Blocks of a pool lie inside blocks of
 * another heap.  A block of 0 bytes overlaps nothing.
 *
 * Each new block is compared with its neighbours in the live set of the event
 * stage, so the check keeps no set of its own.  Three kinds of blocks are
 * exempt: blocks of 0 bytes, blocks inherited by a child, and carried blocks
 * when some may have been freed.  The search behind a new block skips exempt
 * blocks.  The search before a new block skips them once a block may lie inside
 * another.  Each search looks at no more than OVERLAPS_STEPS blocks.
 *
 * With several threads, an allocation may stand in the trace before the realloc
 * that released its memory (hatf/rings/order.h): the position of a realloc is
 * exact only for the first byte of its old block.  If a new block overlaps an
 * older one, the older block is therefore only a suspect at first.  The suspect
 * is cleared if the next event of the older block is a realloc by another
 * thread that ends the overlap.  A realloc in progress when recording stops
 * appears as a free, the last record of its thread.  A free by another thread
 * therefore clears the suspect too, unless that thread has a later record.
 *
 * Not thread-safe.
 */
#ifndef OVERLAPS_H
#define OVERLAPS_H

#include "hatf/hatf.h"

/*
 * An older block that a newer one overlaps.  It is no fault if a realloc is
 * about to move the older block.
 */
struct overlaps_suspect {
	uint64_t heap, start; /* heap and address of the older block */
	/* the older block was freed, or its heap destroyed */
	bool is_gone;
	/* freed by 'thread'; the free may be the last record of that thread */
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
	uint64_t thread;  /* the first thread */
	/*
	 * For each thread, the number of its last record.  UINT64_MAX: the
	 * thread has no record or has ended.
	 */
	uint64_t *seen;
	uint64_t seen_count;
	struct overlaps_suspect suspects[OVERLAPS_SUSPECTS_MAX];
	unsigned suspect_count, freed_count;
	/* Called with the allocation of a block that overlaps another one. */
	void (*tell)(void *ctx, const struct hatf_event *newer);
	void *ctx;
};

/*
 * Start the check.  No event must have been read from 'events' yet.  Return
 * false if out of memory.
 */
bool overlaps_begin(struct overlaps *o, const struct hatf_reader *reader,
		    struct hatf_events *events);
void overlaps_end(struct overlaps *o);

/* Process 'e', the event read last.  Return false if out of memory. */
bool overlaps_note(struct overlaps *o, const struct hatf_event *e);

/* Report the remaining suspects after the last event. */
void overlaps_settle(struct overlaps *o);

#endif /* OVERLAPS_H */
