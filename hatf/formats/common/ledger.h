/* SPDX-License-Identifier: MIT */
/*
 * ledger.h - for sinks that must know what lives: each record against the live set
 *
 * Formats of other systems have no heaps, have a realloc as a free and an alloc, or
 * want sums over what is live.  The ledger says of each record what it does to which
 * block; what a realloc announces is passed over, so one call of the program is one
 * entry.  A block's 'object' is the sink's own number for it.
 *
 * As in the event stage, the program is taken to be right where a trace is wrong: a
 * block lives from its latest alloc on.  Memory is O(live blocks + heaps).  Used by
 * one thread at a time.
 */
#ifndef HATF_LEDGER_H
#define HATF_LEDGER_H

#include "hatf/codec/pairing.h"
#include "hatf/containers/heaps.h"

enum ledger_kind {
	LEDGER_NONE,	/* no call, or a part of the last one */
	LEDGER_ALLOC,	/* also a realloc of NULL */
	LEDGER_FREE,	/* also a realloc that freed */
	LEDGER_REALLOC, /* resized or moved */
	LEDGER_FAILED,	/* an alloc or realloc that changed nothing */
};

struct ledger_entry {
	enum ledger_kind kind;
	/*
	 * The block that died, or as it was before it was resized; not if no
	 * record has told of it.
	 */
	bool known;
	struct block old;
	/* A block at the new address that has not been freed, and is no more. */
	bool replaced;
	struct block lost;
	/*
	 * After an alloc or realloc: does a block live, and which?  Its size
	 * and birth are set; the rest is 0, or as before the realloc.  A sink
	 * that changes it calls ledger_keep().
	 */
	bool lives;
	struct block block;
};

struct ledger {
	struct heaps heaps;
	struct pairing pairing;
	uint64_t call_count; /* entries other than LEDGER_NONE */
};

void ledger_init(struct ledger *ledger);
void ledger_fini(struct ledger *ledger);

/*
 * Enter a record.  False if there is no memory.  The destruction of a heap is
 * LEDGER_NONE: see ledger_destroy().
 */
bool ledger_enter(struct ledger *ledger, const struct hatf_record *rec,
		  struct ledger_entry *entry_ret);

/*
 * Store the values of 'entry->block' for the block of an entry; 'rec' is the
 * record of the entry, the last one entered.  False if there is no memory.
 */
bool ledger_keep(struct ledger *ledger, const struct hatf_record *rec,
		 const struct ledger_entry *entry);

/* See heaps_prefetch(). */
static inline void
ledger_look_ahead(const struct ledger *ledger,
		  const struct hatf_record *records, size_t n, size_t i)
{
	heaps_prefetch(&ledger->heaps, records, n, i);
}

/*
 * Everything in the heap 'id' dies: call 'visit', if not NULL, for each block, in the
 * order of their births.  False if there is no memory: then nothing has been visited.
 */
bool ledger_destroy(struct ledger *ledger, uint64_t id,
		    void (*visit)(void *ctx, uint64_t address,
				  const struct block *block),
		    void *ctx);

/* Is there a live block at 'address' in heap 0? */
bool ledger_is_live(struct ledger *ledger, uint64_t address);

#endif /* HATF_LEDGER_H */
