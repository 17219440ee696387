/* SPDX-License-Identifier: MIT */
/*
 * tally.h - how many records and logical events a stream has had so far
 */
#ifndef HATF_TALLY_H
#define HATF_TALLY_H

#include "hatf.h"
#include "pairing.h"

/* All 0 at the start of a trace. */
struct tally {
	uint64_t record_count; /* tags 0 to 10 */
	uint64_t event_count;  /* logical events */
	uint64_t tag_count[HATF_TAG_COUNT];
	struct pairing pairing;
};

/* Count a data record. */
static inline void
tally_note(struct tally *t, const struct hatf_record *rec)
{
	t->record_count++;
	t->tag_count[rec->tag]++;
	t->event_count += pairing_role(&t->pairing, rec) == PAIRING_EVENT;
}

#endif /* HATF_TALLY_H */
