/* SPDX-License-Identifier: MIT */
/*
 * batch.h - the records that a source makes of one item of a foreign format
 *
 * What another system writes as one item may be several records here: a realloc and
 * what it announces, the definitions of a stack before the record that refers to
 * it.  The caller of source_ops.read() wants no more than 'max' of them; what goes
 * beyond is kept, and is what the next batch begins with.
 *
 * Use: batch_begin(); as long as batch_has_room(), take an item and add its records;
 * return batch_end().  What needs memory tells by its result that there was none;
 * batch_end() sees to it, so that a source may well not look.  Memory is that of one item's records.  A 'struct batch' is
 * all 0 at first and ends with batch_fini().
 */
#ifndef HATF_BATCH_H
#define HATF_BATCH_H

#include "hatf/formats/common/format.h"

/* Holds the attributes of any record, and a stack behind them. */
#define BATCH_CHUNK_NBYTES ((size_t)128 * 1024)

struct batch {
	struct hatf_record *records; /* the caller's */
	size_t count, max;
	struct hatf_record *kept; /* beyond these; from kept_first on */
	size_t kept_first, kept_count, kept_cap;
	/* What records point to: chunks of BATCH_CHUNK_NBYTES. */
	uint8_t **chunks;
	size_t chunk_count, chunk_cap;
	size_t chunks_used, used; /* chunks begun, bytes of the last of them */
	bool no_memory;		  /* once something was not to be had */
	/* Reading has ended, which is to be told behind what is left over. */
	bool has_ended;
	struct hatf_error end;
};

void batch_fini(struct batch *b);

/* Begin with what is left over. */
void batch_begin(struct batch *b, struct hatf_record *records, size_t max);

/* Is there room for the records of another item? */
static inline bool
batch_has_room(const struct batch *b)
{
	return b->count < b->max && !b->no_memory && !b->has_ended;
}

/*
 * A record with this tag and all else 0.  Valid until the next one is added.  NULL
 * if there is no memory.
 */
struct hatf_record *batch_add(struct batch *b, unsigned tag);

/*
 * Bytes, at most BATCH_CHUNK_NBYTES, that stay what they are as long as this batch does and,
 * if records are left over, the next.  NULL if there is no memory.
 */
uint8_t *batch_bytes(struct batch *b, size_t nbytes);

/*
 * A realloc of 'rec->old_address' (0: of nothing) to 'rec->size' bytes at
 * 'rec->address' (0: that failed or, if 'frees', freed the block), and what it
 * announces (FORMAT "Realloc"); the tag of 'rec' does not matter, all else is
 * that of the records.  False if there is no memory.
 */
bool batch_realloc(struct batch *b, const struct hatf_record *rec, bool frees);

/*
 * Let a record refer to a stack, behind the attributes that it has; 0 is none.
 * False if there is no memory.
 */
bool batch_stack(struct batch *b, struct hatf_record *rec, uint64_t stack);

/*
 * Comments that define what has been added to 'stacks' and not been told of yet;
 * 'offset' is that of the item.  Before the record that refers to it is added.
 * False if there is no memory.
 */
bool batch_define(struct batch *b, struct hatf_stacks *stacks, uint64_t offset);

/* A comment; false if there is no memory. */
bool batch_comment(struct batch *b, const char *text, size_t nbytes,
		   uint64_t offset);

/*
 * What source_ops.read() is to return.  Records that are left over are for the next
 * batch, and so is the end that source_stop() may have told of.  Calls
 * source_stop() if memory was missing.
 */
size_t batch_end(struct batch *b, struct source *s);

#endif /* HATF_BATCH_H */
