/* SPDX-License-Identifier: MIT */
/*
 * ledger.h - track the live set for a sink, record by record
 *
 * A sink needs the live set if its format has no heaps, represents a realloc as
 * a free and an alloc, or has sums over the live blocks.  The ledger maintains
 * this set, and says for each record what the record does and to which block.
 * It skips the records that a realloc announces, so one call of the program is
 * one entry.  The sink may store a number of its own in the 'object' of a
 * block.
 *
 * If a record contradicts the live set, the ledger believes the record, like
 * the event stage: a block is live from its latest alloc on.  Memory is O(live
 * blocks + heaps).  Only one thread may use a ledger.
 */
#ifndef HATF_LEDGER_H
#define HATF_LEDGER_H

#include "hatf/codec/pairing.h"
#include "hatf/containers/heaps.h"

/* What a record does. */
enum ledger_kind {
	/* the record is not a call, or is a part of the previous call */
	LEDGER_NONE,
	LEDGER_ALLOC,	/* an alloc, or a realloc of NULL */
	LEDGER_FREE,	/* a free, or a realloc that only freed the block */
	LEDGER_REALLOC, /* a realloc that resized or moved the block */
	LEDGER_FAILED,	/* an alloc or realloc that failed */
};

/* What a record does, and to which block. */
struct ledger_entry {
	enum ledger_kind kind;
	/*
	 * 'old' is the block that was freed, or the old block of a realloc.
	 * 'known' is false if no record has allocated this block, or if there
	 * is no such block; in both cases, 'old' is undefined.
	 */
	bool known;
	struct block old;
	/*
	 * 'replaced' is set if another block was live at the new address.
	 * 'lost' is that block, which is no longer in the live set.
	 */
	bool replaced;
	struct block lost;
	/*
	 * 'lives' is set if the kind is LEDGER_ALLOC or LEDGER_REALLOC.  Then
	 * 'block' is the new block, with the size from the record.  After a
	 * realloc of a known block, the new block has the object and the birth
	 * of 'old'.  After other calls, its object is 0, and its birth is the
	 * time and the event of this record.  A sink that changes 'block' must
	 * call ledger_keep().
	 */
	bool lives;
	struct block block;
};

struct ledger {
	struct heaps heaps;
	struct pairing pairing;
	uint64_t call_count; /* number of entries other than LEDGER_NONE */
};

/* ledger_init() begins with an empty live set, ledger_fini() frees it. */
void ledger_init(struct ledger *ledger);
void ledger_fini(struct ledger *ledger);

/*
 * Apply a record, and describe what it does in '*entry_ret'.  Return false if
 * memory runs out.  If the record destroys a heap, the entry is LEDGER_NONE,
 * and the caller must call ledger_destroy().
 */
bool ledger_enter(struct ledger *ledger, const struct hatf_record *rec,
		  struct ledger_entry *entry_ret);

/*
 * Store 'entry->block', which the sink has changed.  'rec' must be the record
 * that was applied last, and 'entry' the entry of this record.  Return false if
 * memory runs out.
 */
bool ledger_keep(struct ledger *ledger, const struct hatf_record *rec,
		 const struct ledger_entry *entry);

/*
 * Prefetch the block of a record that follows record 'i' at some distance (see
 * heaps_prefetch()).
 */
static inline void
ledger_look_ahead(const struct ledger *ledger,
		  const struct hatf_record *records, size_t n, size_t i)
{
	heaps_prefetch(&ledger->heaps, records, n, i);
}

/*
 * Remove all blocks of the heap 'id'.  First call 'visit', unless it is NULL,
 * for each block in the order of birth.  If memory runs out, return false
 * without calling 'visit' or removing a block.
 */
bool ledger_destroy(struct ledger *ledger, uint64_t id,
		    void (*visit)(void *ctx, uint64_t address,
				  const struct block *block),
		    void *ctx);

/* Is a block of heap 0 live at 'address'? */
bool ledger_is_live(struct ledger *ledger, uint64_t address);

#endif /* HATF_LEDGER_H */
