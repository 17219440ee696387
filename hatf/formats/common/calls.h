/* SPDX-License-Identifier: MIT */
/*
 * calls.h - records into malloc, free and realloc: for formats that know no heaps
 *
 * What such formats write is one process with one heap.  So destroying a heap is a
 * free of each block in it, and a block of a pool that has the address of a live
 * block of heap 0, the memory that the pool lives in, is left out: there, the memory is
 * counted already.  A block of which the trace has not told may be freed and resized.
 */
#ifndef HATF_CALLS_H
#define HATF_CALLS_H

#include "hatf/formats/common/format.h"
#include "hatf/formats/common/ledger.h"

struct call {
	enum ledger_kind kind;	       /* LEDGER_NONE: the record is no call */
	const struct hatf_record *rec; /* that it comes from */
	uint64_t size;		       /* bytes */
	uint64_t address, old_address; /* of the new and of the old block */
	uint64_t number,
		old_number; /* of the allocations, from 1; 0: unknown */
};

/* Write one of them. */
typedef void calls_put(struct sink *s, const struct call *call);

struct calls {
	struct ledger ledger;
	uint64_t alloc_count; /* numbers that have been given */
	/*
	 * A realloc leaves a block its number: 'number' is 'old_number', unless
	 * that is unknown.  Set by the sink.
	 */
	bool keeps_numbers;
};

/* Begin and end; a sink with more than this in its 'ctx' calls them itself. */
void calls_init(struct calls *calls);
void calls_fini(struct calls *calls);

/* For sink_ops.open and .close: s->ctx is a 'struct calls'. */
enum hatf_status calls_open(struct sink *s);
void calls_close(struct sink *s);

/*
 * Hand each call that the records tell of to 'put', and the threads' creations and
 * ends as LEDGER_NONE.  Returns as sink_ops.write.
 */
enum hatf_status calls_write(struct calls *calls, struct sink *s,
			     const struct hatf_record *records, size_t n,
			     calls_put *put);

#endif /* HATF_CALLS_H */
