/* SPDX-License-Identifier: MIT */
/*
 * loss.c - see loss.h
 */
#include "hatf/formats/common/loss.h"

void
loss_count_call(struct sink *s, const struct hatf_record *rec,
		const struct ledger_entry *entry)
{
	const uint64_t old_address =
		rec->tag == HATF_FREE ? rec->address : rec->old_address;

	if (entry->kind == LEDGER_FAILED)
		loss_count(s, SINK_LOSS_FAILED);
	else if ((entry->kind == LEDGER_FREE ||
		  entry->kind == LEDGER_REALLOC) &&
		 !entry->known && old_address != 0)
		loss_count(s, SINK_LOSS_FREE);
}

enum hatf_status
loss_note_stack(struct sink *s, struct hatf_stacks *stacks,
		const struct hatf_record *rec)
{
	const enum hatf_status status = hatf_stacks_note(stacks, rec, NULL);

	if (status == HATF_NO_MEMORY)
		return sink_fail(s, status, NULL);
	if (status != HATF_OK)
		loss_count(s, SINK_LOSS_DEFINITION);
	return HATF_OK;
}
