/* SPDX-License-Identifier: MIT */
/*
 * batch.h - collect the records that a source makes from foreign items
 *
 * One item of a foreign format may become several records: a realloc and the
 * records that it announces, or stack definitions and the record that refers to
 * them.  The caller of source_ops.read() takes at most 'max' records.  A batch
 * keeps the surplus, the records beyond 'max', and the next batch begins with
 * the surplus.
 *
 * Use: call batch_begin(); while batch_has_room(), read an item and add its
 * records; return batch_end().  If memory runs out, a function sets
 * 'no_memory', and returns NULL or false.  batch_end() then stops the source
 * with HATF_NO_MEMORY, so a source need not check every result.  Memory is
 * bounded by the records of two batches, each with its surplus.  Zero a 'struct
 * batch' before use, and release it with batch_fini().  Only one thread may use
 * a batch.
 */
#ifndef HATF_BATCH_H
#define HATF_BATCH_H

#include "hatf/formats/common/format.h"

/*
 * The size of a chunk, which has room for the longest attributes of a record
 * plus a stack item.
 */
#define BATCH_CHUNK_NBYTES ((size_t)128 * 1024)

/* Memory to which records point. */
struct batch_memory {
	uint8_t **chunks; /* each has BATCH_CHUNK_NBYTES */
	size_t chunk_count, chunk_cap;
	/* Number of chunks in use; bytes used in the last chunk. */
	size_t chunks_used, used;
};

struct batch {
	struct hatf_record *records; /* the caller's array */
	size_t count, max;
	struct hatf_record *kept; /* the surplus, from index 'kept_first' on */
	size_t kept_first, kept_count, kept_cap;
	/*
	 * The records of new items point into memory[memory_idx].  If this
	 * batch began with a surplus, the records of the surplus point into the
	 * other memory.
	 */
	struct batch_memory memory[2];
	unsigned memory_idx;
	bool no_memory; /* an allocation has failed */
	/*
	 * The source has stopped; 'end' says why: the end of the trace or an
	 * error.  batch_end() reports 'end' after the surplus.
	 */
	bool has_ended;
	struct hatf_error end;
};

/* Free the memory of the batch, and zero it. */
void batch_fini(struct batch *b);

/*
 * Begin a batch with the surplus of the previous batch.  'records' must stay
 * valid until batch_end().
 */
void batch_begin(struct batch *b, struct hatf_record *records, size_t max);

/* Does the batch have room for the records of another item? */
static inline bool
batch_has_room(const struct batch *b)
{
	return b->count < b->max && !b->no_memory && !b->has_ended;
}

/*
 * Add a record.  Its tag is 'tag', and its other fields are 0.  The pointer is
 * valid until the next record is added.  Return NULL if memory runs out.
 */
struct hatf_record *batch_add(struct batch *b, unsigned tag);

/*
 * Reserve 'nbytes' bytes, at most BATCH_CHUNK_NBYTES, for the records of the
 * present item.  The bytes stay valid until the last of these records has been
 * returned and another batch begins.  Return NULL if memory runs out.
 */
uint8_t *batch_bytes(struct batch *b, size_t nbytes);

/*
 * Add a realloc and the records that it announces (FORMAT "Realloc").  The
 * realloc changes the block at 'rec->old_address' (0: NULL was passed) to
 * 'rec->size' bytes at 'rec->address'.  If 'rec->address' is 0, the call freed
 * the block ('frees' is set) or failed.  The tag of 'rec' is ignored; its other
 * fields are copied.  Return false if memory runs out.
 */
bool batch_realloc(struct batch *b, const struct hatf_record *rec, bool frees);

/*
 * Append a reference to stack number 'stack' to the attributes of a record; 0
 * means no stack.  Return false if memory runs out.
 */
bool batch_stack(struct batch *b, struct hatf_record *rec, uint64_t stack);

/*
 * Add comments that define the frames and stacks that were added to 'stacks'
 * since the previous call.  'offset' is the offset of the item.  Call this
 * before adding the record that refers to the stack.  Return false if memory
 * runs out.
 */
bool batch_define(struct batch *b, struct hatf_stacks *stacks, uint64_t offset);

/* Add a comment with a copy of the text.  Return false if memory runs out. */
bool batch_comment(struct batch *b, const char *text, size_t nbytes,
		   uint64_t offset);

/*
 * Return what source_ops.read() must return.  If source_stop() was called while
 * there is a surplus, hold back the end or error, and report it after the
 * surplus has been returned.  If memory ran out, stop with HATF_NO_MEMORY.
 */
size_t batch_end(struct batch *b, struct source *s);

#endif /* HATF_BATCH_H */
