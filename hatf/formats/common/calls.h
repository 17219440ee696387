/* SPDX-License-Identifier: MIT */
/*
 * calls.h - turn records into malloc, free and realloc calls
 *
 * Sinks use this for formats without heaps: such a format describes one process
 * with one heap.  If a record destroys a heap, calls_write() passes on a free
 * of each block of that heap.  calls_write() omits a block of a heap other than
 * heap 0 if a block of heap 0 is live at the same address, because the other
 * heap took this memory from heap 0, and the memory is already counted.
 * Records may free and resize blocks that no record allocated.  Memory is
 * O(live blocks + heaps).  Only one thread may use a 'struct calls'.
 */
#ifndef HATF_CALLS_H
#define HATF_CALLS_H

#include "hatf/formats/common/format.h"
#include "hatf/formats/common/ledger.h"

/* One call of the program. */
struct call {
	/* LEDGER_NONE: the record is not a call of malloc, free or realloc */
	enum ledger_kind kind;
	const struct hatf_record *rec; /* the record that describes the call */
	uint64_t size;		       /* the size in the record, in bytes */
	/* Addresses of the new and of the old block. */
	uint64_t address, old_address;
	/*
	 * Numbers of the new and of the old block, from 1 in order of
	 * allocation; 0: unknown.
	 */
	uint64_t number, old_number;
};

/*
 * Write one call.  If the kind is LEDGER_NONE, 'call' is not a call, but the
 * creation or the end of a thread.
 */
typedef void calls_put(struct sink *s, const struct call *call);

struct calls {
	struct ledger ledger;
	/* the highest number given to a block so far */
	uint64_t alloc_count;
	/*
	 * The sink sets this flag if, in its format, a realloc keeps the number
	 * of the block.  If the flag is set, 'number' equals 'old_number' in
	 * each realloc, unless 'old_number' is unknown.
	 */
	bool keeps_numbers;
};

/*
 * calls_init() initializes a 'struct calls', and calls_fini() frees its memory.
 * If a 'struct calls' is only a part of a sink's 'ctx', the sink must call
 * these two functions itself.
 */
void calls_init(struct calls *calls);
void calls_fini(struct calls *calls);

/*
 * Use calls_open() and calls_close() as sink_ops.open and .close if s->ctx is a
 * 'struct calls'.  Errors: HATF_NO_MEMORY.
 */
enum hatf_status calls_open(struct sink *s);
void calls_close(struct sink *s);

/*
 * Call 'put' for each call that the records describe, except free(NULL) and the
 * calls of omitted blocks.  Also call 'put', with the kind LEDGER_NONE, for
 * each creation and each end of a thread.  Return what sink_ops.write must
 * return.  Errors: HATF_NO_MEMORY.
 */
enum hatf_status calls_write(struct calls *calls, struct sink *s,
			     const struct hatf_record *records, size_t n,
			     calls_put *put);

#endif /* HATF_CALLS_H */
