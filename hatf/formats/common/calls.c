/* SPDX-License-Identifier: MIT */
/*
 * calls.c - see calls.h
 *
 * The ledger stores the number of a block as its 'object'.  A block that was
 * omitted has the number 0.
 */
#include "hatf/formats/common/calls.h"

#include <stdlib.h>

void
calls_init(struct calls *calls)
{
	ledger_init(&calls->ledger);
	calls->alloc_count = 0;
	calls->keeps_numbers = false;
}

void
calls_fini(struct calls *calls)
{
	ledger_fini(&calls->ledger);
}

enum hatf_status
calls_open(struct sink *s)
{
	s->ctx = malloc(sizeof(struct calls));
	if (s->ctx == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	calls_init(s->ctx);
	return HATF_OK;
}

void
calls_close(struct sink *s)
{
	if (s->ctx != NULL)
		calls_fini(s->ctx);
	free(s->ctx);
}

/*
 * Did the record's heap take the memory of the record's new block from heap 0?
 * It did if a block of heap 0 is live at the same address.
 */
static bool
is_within(struct calls *calls, const struct hatf_record *rec)
{
	return rec->heap != 0 && ledger_is_live(&calls->ledger, rec->address);
}

/*
 * Write a realloc.  If only the old block is omitted, write an alloc of the new
 * block; if only the new block is omitted, write a free of the old block.
 * Return false if memory runs out.
 */
static bool
put_realloc(struct calls *calls, struct sink *s, struct ledger_entry *entry,
	    struct call *call, calls_put *put)
{
	const bool was_left_out = entry->known && entry->old.object == 0;
	const bool is_left_out = is_within(calls, call->rec);

	if (is_left_out)
		entry->block.object = 0;
	else if (!calls->keeps_numbers || !entry->known || was_left_out)
		entry->block.object = ++calls->alloc_count;
	call->number = entry->block.object;
	if (!ledger_keep(&calls->ledger, call->rec, entry))
		return false;
	if (was_left_out && is_left_out)
		return true;
	if (was_left_out)
		call->kind = LEDGER_ALLOC;
	else if (is_left_out)
		call->kind = LEDGER_FREE;
	put(s, call);
	return true;
}

static bool
put_call(struct calls *calls, struct sink *s, const struct hatf_record *rec,
	 struct ledger_entry *entry, calls_put *put)
{
	struct call call = {
		.kind = entry->kind,
		.rec = rec,
		.size = rec->size,
		.address = rec->address,
		.old_address =
			rec->tag == HATF_FREE ? rec->address : rec->old_address,
		.old_number = entry->known ? entry->old.object : 0,
	};

	if (entry->kind == LEDGER_REALLOC) {
		return put_realloc(calls, s, entry, &call, put);
	} else if (entry->kind == LEDGER_ALLOC) {
		if (is_within(calls, rec))
			return true;
		entry->block.object = call.number = ++calls->alloc_count;
		put(s, &call);
		return ledger_keep(&calls->ledger, rec, entry);
	} else if (entry->kind == LEDGER_FAILED ||
		   (entry->known ? entry->old.object != 0
				 : call.old_address != 0)) {
		/*
		 * Pass on a failed call or a free.  The condition above
		 * excludes a free(NULL) and the free of an omitted block.
		 */
		put(s, &call);
	}
	return true;
}

struct destruction {
	struct sink *s;
	const struct hatf_record *rec;
	calls_put *put;
};

static void
free_block(void *ctx, uint64_t address, const struct block *block)
{
	const struct destruction *const d = ctx;
	const struct call call = {
		.kind = LEDGER_FREE,
		.rec = d->rec,
		.old_address = address,
		.old_number = block->object,
	};

	if (block->object != 0)
		d->put(d->s, &call);
}

static bool
put_other(struct calls *calls, struct sink *s, const struct hatf_record *rec,
	  calls_put *put)
{
	struct destruction d = { s, rec, put };
	const struct call none = { .kind = LEDGER_NONE, .rec = rec };

	if (rec->tag == HATF_DESTROY_HEAP)
		return ledger_destroy(&calls->ledger, rec->heap, free_block,
				      &d);
	if (rec->tag == HATF_CREATE_THREAD || rec->tag == HATF_DESTROY_THREAD)
		put(s, &none);
	return true;
}

enum hatf_status
calls_write(struct calls *calls, struct sink *s,
	    const struct hatf_record *records, size_t n, calls_put *put)
{
	for (size_t i = 0; i < n; i++) {
		struct ledger_entry entry;

		ledger_look_ahead(&calls->ledger, records, n, i);
		if (!ledger_enter(&calls->ledger, &records[i], &entry))
			return sink_fail(s, HATF_NO_MEMORY, NULL);
		if (!(entry.kind != LEDGER_NONE
			      ? put_call(calls, s, &records[i], &entry, put)
			      : put_other(calls, s, &records[i], put)))
			return sink_fail(s, HATF_NO_MEMORY, NULL);
	}
	return HATF_OK;
}
