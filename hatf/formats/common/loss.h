/* SPDX-License-Identifier: MIT */
/*
 * loss.h - count what a sink leaves out
 *
 * A format that keeps a field may still be unable to represent some records, or
 * have no room for a long name.  The sink then continues and counts the loss in
 * s->losses; hatf_writer callers can ask for these counts.
 */
#ifndef HATF_LOSS_H
#define HATF_LOSS_H

#include "hatf/formats/common/format.h"
#include "hatf/formats/common/ledger.h"

/* Count one loss. */
static inline void
loss_count(struct sink *s, enum sink_loss loss)
{
	s->losses[loss]++;
}

/*
 * Count the loss of a record by a sink that writes only blocks it knows: failed
 * calls, and frees of blocks that no record has allocated.
 */
void loss_count_call(struct sink *s, const struct hatf_record *rec,
		     const struct ledger_entry *entry);

/*
 * Add the stack definition in a comment, if any, to 'stacks'.  Count and skip a
 * malformed one, as every reader does.  Errors, also set in 's':
 * HATF_NO_MEMORY.
 */
enum hatf_status loss_note_stack(struct sink *s, struct hatf_stacks *stacks,
				 const struct hatf_record *rec);

#endif /* HATF_LOSS_H */
