/* SPDX-License-Identifier: MIT */
/*
 * loss.h - count what a sink omits
 *
 * A format that keeps a field may still be unable to represent some records, or
 * have no room for a long name.  In such a case, the sink counts the loss in
 * s->losses and continues.  The callers of hatf_writer can ask for these
 * counts.
 */
#ifndef HATF_LOSS_H
#define HATF_LOSS_H

#include "hatf/formats/common/format.h"
#include "hatf/formats/common/ledger.h"

/* Count one omission for this reason. */
static inline void
loss_count(struct sink *s, enum sink_loss loss)
{
	s->losses[loss]++;
}

/*
 * If the record is a failed call, or a free or realloc of a block that no
 * record has allocated, count the record.  Call this for a sink that writes
 * only blocks that it knows.
 */
void loss_count_call(struct sink *s, const struct hatf_record *rec,
		     const struct ledger_entry *entry);

/*
 * If the comment defines a frame or stack, add the definition to 'stacks'.
 * Count and skip a malformed definition, as every reader does.  Errors, which
 * are also set in 's': HATF_NO_MEMORY.
 */
enum hatf_status loss_note_stack(struct sink *s, struct hatf_stacks *stacks,
				 const struct hatf_record *rec);

#endif /* HATF_LOSS_H */
