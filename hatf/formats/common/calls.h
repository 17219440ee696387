/* SPDX-License-Identifier: MIT */
/*
 * calls.h - turn records into malloc, free and realloc calls
 *
 * For sinks of formats that know no heaps: such a format describes one process
 * with one heap.  Destroying a heap becomes a free of each block in it.  A
 * block of another heap at the address of a live block of heap 0 is left out,
 * because the memory of that heap is itself a block of heap 0 and so already
 * counted.  Blocks that no record of the trace allocated may be freed and
 * resized.  Memory is O(live blocks + heaps).  One thread uses a 'struct
 * calls'.
 */
#ifndef HATF_CALLS_H
#define HATF_CALLS_H

#include "hatf/formats/common/format.h"
#include "hatf/formats/common/ledger.h"

/* One call of the program. */
struct call {
	enum ledger_kind kind;	       /* LEDGER_NONE: not a call */
	const struct hatf_record *rec; /* the record behind the call */
	uint64_t size;		       /* bytes */
	uint64_t address, old_address; /* of the new and of the old block */
	uint64_t number,
		old_number; /* numbers of the allocations, from 1; 0: unknown */
};

/* Write one call; kind LEDGER_NONE: a thread's creation or end. */
typedef void calls_put(struct sink *s, const struct call *call);

struct calls {
	struct ledger ledger;
	uint64_t alloc_count; /* allocation numbers given so far */
	/*
	 * Set by the sink: a realloc keeps the block's number.  'number' then
	 * equals 'old_number' unless the old number is unknown.
	 */
	bool keeps_numbers;
};

/*
 * Initialise and release.  A sink whose 'ctx' is a larger struct calls these
 * itself.
 */
void calls_init(struct calls *calls);
void calls_fini(struct calls *calls);

/*
 * For sink_ops.open and .close where s->ctx is a 'struct calls'.  Errors:
 * HATF_NO_MEMORY.
 */
enum hatf_status calls_open(struct sink *s);
void calls_close(struct sink *s);

/*
 * Pass each call that the records describe to 'put', and each creation and end
 * of a thread as LEDGER_NONE.  Returns as sink_ops.write.  Errors:
 * HATF_NO_MEMORY.
 */
enum hatf_status calls_write(struct calls *calls, struct sink *s,
			     const struct hatf_record *records, size_t n,
			     calls_put *put);

#endif /* HATF_CALLS_H */
