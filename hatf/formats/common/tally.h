/* SPDX-License-Identifier: MIT */
/* tally.h - count the records and logical events of a stream */
#ifndef HATF_TALLY_H
#define HATF_TALLY_H

#include "hatf/codec/hatf_record.h"
#include "hatf/codec/pairing.h"
#include "hatf/hatf.h"

/* The counts.  Zero them at the start of a trace. */
struct tally {
	uint64_t record_count; /* number of records with tags 0 to 10 */
	uint64_t event_count;  /* number of logical events */
	uint64_t tag_count[HATF_TAG_COUNT];
	struct pairing pairing;
};

/*
 * Count a data record.  If a record describes a block that was live when the
 * trace began, and no event precedes the record, the record is not an event.
 * Any other alloc or free is an event of its own, unless a realloc has
 * announced it.  So while no realloc waits for an announced record, the fast
 * path counts an alloc or free without a call of pairing_role().
 */
static inline void
tally_note(struct tally *t, const struct hatf_record *rec)
{
	const struct pairing *const p = &t->pairing;

	t->record_count++;
	t->tag_count[rec->tag]++;
	if (t->event_count == 0 && hatf_record_is_carried(rec))
		return;
	if (rec->tag <= HATF_FREE && !p->alloc_expected && !p->free_expected)
		t->event_count++;
	else
		t->event_count +=
			pairing_role(&t->pairing, rec) == PAIRING_EVENT;
}

#endif /* HATF_TALLY_H */
