/* SPDX-License-Identifier: MIT */
/*
 * loss.h - what a sink leaves out, counted for who asks the writer
 *
 * A format that keeps a field may still have no way to write some of the records, or
 * no room for all of a name.  The sink goes on, and counts here what it has left out.
 */
#ifndef HATF_LOSS_H
#define HATF_LOSS_H

#include "hatf/formats/common/format.h"
#include "hatf/formats/common/ledger.h"

static inline void
loss_count(struct sink *s, enum sink_loss loss)
{
	s->losses[loss]++;
}

/*
 * Count what is lost of a record by a sink that writes only what it knows the blocks
 * of: calls that failed, and the end of a block that no record has told of.
 */
void loss_count_call(struct sink *s, const struct hatf_record *rec,
		     const struct ledger_entry *entry);

/*
 * Take a comment's definition of a stack, if it has one; one that is wrong is counted
 * and left out, as every reader does.  Errors, kept in 's' too: HATF_NO_MEMORY.
 */
enum hatf_status loss_note_stack(struct sink *s, struct hatf_stacks *stacks,
				 const struct hatf_record *rec);

#endif /* HATF_LOSS_H */
