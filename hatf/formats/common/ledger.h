/* SPDX-License-Identifier: MIT */
/*
 * ledger.h - track the live set for a sink, record by record
 *
 * Foreign formats have no heaps, represent a realloc as a free and an alloc, or
 * need sums over the live blocks.  The ledger says what each record does to
 * which block.  It skips the records that a realloc announces, so one call of
 * the program is one entry.  A block's 'object' is the sink's own number for
 * it.
 *
 * As in the event stage, the program is assumed correct where the trace is
 * wrong: a block lives from its latest alloc.  Memory is O(live blocks +
 * heaps).  One thread uses a ledger.
 */
#ifndef HATF_LEDGER_H
#define HATF_LEDGER_H

#include "hatf/codec/pairing.h"
#include "hatf/containers/heaps.h"

/* The effect of a record. */
enum ledger_kind {
	LEDGER_NONE,	/* not a call, or a part of the last one */
	LEDGER_ALLOC,	/* also a realloc of NULL */
	LEDGER_FREE,	/* also a realloc that freed */
	LEDGER_REALLOC, /* resized or moved */
	LEDGER_FAILED,	/* alloc or realloc that changed nothing */
};

/* A record, and the block that it affects. */
struct ledger_entry {
	enum ledger_kind kind;
	/*
	 * The block that was freed, or as it was before it was resized.
	 * 'known' is false if no record has allocated it.
	 */
	bool known;
	struct block old;
	/*
	 * Another live block had the new address; 'lost' is that block, which
	 * has left the live set.
	 */
	bool replaced;
	struct block lost;
	/*
	 * The block after an alloc or realloc, if 'lives'.  Its size and birth
	 * are set; the other fields are 0, or those before the realloc.  A sink
	 * that changes them calls ledger_keep().
	 */
	bool lives;
	struct block block;
};

struct ledger {
	struct heaps heaps;
	struct pairing pairing;
	uint64_t call_count; /* entries other than LEDGER_NONE */
};

/* Begin with an empty live set; ledger_fini() frees it. */
void ledger_init(struct ledger *ledger);
void ledger_fini(struct ledger *ledger);

/*
 * Enter a record and describe its effect in '*entry_ret'.  Returns false if
 * memory is short.  The destruction of a heap is LEDGER_NONE: call
 * ledger_destroy().
 */
bool ledger_enter(struct ledger *ledger, const struct hatf_record *rec,
		  struct ledger_entry *entry_ret);

/*
 * Store 'entry->block' as changed by the sink; 'rec' must be the last record
 * entered, 'entry' its entry.  Returns false if memory is short.
 */
bool ledger_keep(struct ledger *ledger, const struct hatf_record *rec,
		 const struct ledger_entry *entry);

/* Prefetch for the records after 'i', see heaps_prefetch(). */
static inline void
ledger_look_ahead(const struct ledger *ledger,
		  const struct hatf_record *records, size_t n, size_t i)
{
	heaps_prefetch(&ledger->heaps, records, n, i);
}

/*
 * Remove all blocks of the heap 'id'.  First call 'visit', unless NULL, for
 * each block in order of birth.  Returns false if memory is short, before any
 * call of 'visit'.
 */
bool ledger_destroy(struct ledger *ledger, uint64_t id,
		    void (*visit)(void *ctx, uint64_t address,
				  const struct block *block),
		    void *ctx);

/* Return true if a block of heap 0 is live at 'address'. */
bool ledger_is_live(struct ledger *ledger, uint64_t address);

#endif /* HATF_LEDGER_H */
