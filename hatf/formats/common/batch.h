/* SPDX-License-Identifier: MIT */
/*
 * batch.h - collect the records that a source makes of foreign items
 *
 * One item of a foreign format may become several records: a realloc and the
 * parts it announces, or stack definitions and the record that refers to them.
 * The caller of source_ops.read() takes at most 'max' records.  A batch keeps
 * the surplus, and the next batch begins with it.
 *
 * Use: call batch_begin(); while batch_has_room(), read an item and add its
 * records; return batch_end().  A function that cannot get memory says so by
 * its result and marks the batch. batch_end() then stops the source with
 * HATF_NO_MEMORY, so a source need not check every result.  Memory is bounded
 * by the records of one item.  A 'struct batch' starts out all 0; release it
 * with batch_fini().  One thread uses a batch.
 */
#ifndef HATF_BATCH_H
#define HATF_BATCH_H

#include "hatf/formats/common/format.h"

/* A chunk has room for the longest attributes of a record plus a stack item. */
#define BATCH_CHUNK_NBYTES ((size_t)128 * 1024)

struct batch {
	struct hatf_record *records; /* of the caller */
	size_t count, max;
	struct hatf_record *kept; /* the surplus, from kept_first on */
	size_t kept_first, kept_count, kept_cap;
	/* Bytes that records point to, in chunks of BATCH_CHUNK_NBYTES. */
	uint8_t **chunks;
	size_t chunk_count, chunk_cap;
	size_t chunks_used, used; /* chunks begun; bytes used in the last */
	bool no_memory;		  /* an allocation has failed */
	/*
	 * The source has stopped with 'end', to be reported after the surplus.
	 */
	bool has_ended;
	struct hatf_error end;
};

/* Free everything that the batch owns, and clear it. */
void batch_fini(struct batch *b);

/*
 * Begin with the surplus of the last batch.  'records' must stay valid until
 * batch_end().
 */
void batch_begin(struct batch *b, struct hatf_record *records, size_t max);

/* Return true if the batch has room for the records of another item. */
static inline bool
batch_has_room(const struct batch *b)
{
	return b->count < b->max && !b->no_memory && !b->has_ended;
}

/*
 * Add a record with this tag, all other fields 0.  The pointer is valid until
 * the next record is added.  Returns NULL if memory is short.
 */
struct hatf_record *batch_add(struct batch *b, unsigned tag);

/*
 * Reserve at most BATCH_CHUNK_NBYTES bytes.  They stay valid, unchanged, while
 * the batch has records, the surplus included.  Returns NULL if memory is
 * short.
 */
uint8_t *batch_bytes(struct batch *b, size_t nbytes);

/*
 * Add a realloc of 'rec->old_address' (0: of NULL) to 'rec->size' bytes at
 * 'rec->address', and the records that it announces (FORMAT "Realloc").  An
 * address of 0 means that the call failed or, if 'frees', that it freed the
 * block.  The tag of 'rec' is ignored; its other fields are copied.  Returns
 * false if memory is short.
 */
bool batch_realloc(struct batch *b, const struct hatf_record *rec, bool frees);

/*
 * Append a reference to the stack with this number to the attributes of a
 * record; 0 means no stack.  Returns false if memory is short.
 */
bool batch_stack(struct batch *b, struct hatf_record *rec, uint64_t stack);

/*
 * Add comments that define what was added to 'stacks' since the last call;
 * 'offset' is that of the item.  Call this before adding the record that refers
 * to the stack.  Returns false if memory is short.
 */
bool batch_define(struct batch *b, struct hatf_stacks *stacks, uint64_t offset);

/* Add a comment with a copy of the text.  Returns false if memory is short. */
bool batch_comment(struct batch *b, const char *text, size_t nbytes,
		   uint64_t offset);

/*
 * Return what source_ops.read() must return.  If there is a surplus, postpone
 * the end or error that source_stop() set until the surplus has been delivered.
 * If memory was short, stop with HATF_NO_MEMORY.
 */
size_t batch_end(struct batch *b, struct source *s);

#endif /* HATF_BATCH_H */
