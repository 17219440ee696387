/* SPDX-License-Identifier: MIT */
/*
 * place.h - which metadata to write, and when, while recording
 *
 * Decides for each record, without looking ahead and in constant time and
 * space, whether a field's width or interpretation should change before it.
 * The only things others know of this module are: place_block() names the
 * metadata that begins a block, place_record() names what must precede a
 * record, and place_keeps() tells quickly that place_record() would name none.
 *
 * Runs where encoder.h runs.
 *
 * Invariant: after each call, 'layout' is in the state that a reader has after
 * the metadata named so far, and after place_record() the record fits it.
 */
#ifndef HATF_PLACE_H
#define HATF_PLACE_H

#include "hatf.h"
#include "layout.h"

/* The most records that one call names; place.c tells how this comes about. */
#define PLACE_METADATA_MAX (3 * HATF_FIELD_COUNT)

/*
 * Renting or buying.  A field is in a state that every value fits but that
 * costs 'gain' bytes more for some values than a cheaper state would; changing
 * to that one costs a metadata record now, and a second one when a value comes
 * that it does not fit.  'regret' is what we would have saved so far had we
 * changed: it grows by 'gain' with each value that fits the cheaper state,
 * shrinks by 'loss' (what the excursion would have cost) with each other, and
 * is never below 0. When it reaches 'limit', the cheaper state has proved
 * itself.  No sequence of values can make this much worse than knowing the
 * future.
 *
 * A value fits the cheaper state if 'value - origin + sign <= mask', as in
 * layout.h; 'follows': origin is the previous value.  'gain' 0: there is no
 * cheaper state.
 */
struct place_watch {
	uint64_t origin, sign, mask;
	int32_t gain, loss, limit; /* bytes */
	int32_t regret;		   /* bytes */
	bool follows;
};

struct place {
	struct place_watch watch[HATF_FIELD_COUNT]; /* by field */
	unsigned watching; /* bits '1 << field': watches that are on */
	/* Fields under "default": since when, and what the changes cost. */
	uint64_t run_start[HATF_FIELD_COUNT]; /* count of records */
	int32_t run_regret[HATF_FIELD_COUNT]; /* bytes */
	struct place_watch far; /* address: another base, near recent ones */
	uint64_t narrow_start;	/* address: record at which it became narrow */
	int32_t narrow_limit;	/* address: 'limit' to become narrow again */
	uint64_t attributes_record; /* the last one that had attributes */
	int32_t empty_limit; /* attributes: 'limit' to store none again */
	bool base_known;     /* address: an address has chosen the base */
};

void place_init(struct place *p);

/*
 * Name the metadata that puts 'layout' into a state, for all fields, that a
 * reader without any earlier byte shares: widths and bases as they were,
 * 'time' and 'thread' as the values to expect.  Returns the number of records.
 */
size_t place_block(struct place *p, struct layout *layout, uint64_t time,
		   uint64_t thread, struct hatf_metadata *out);

/*
 * Name the metadata that must precede 'rec' (tag 0 to 9), and take note of its
 * values.  'record' is the number of data records before it.  Returns the
 * number of metadata records, at most PLACE_METADATA_MAX.
 */
size_t place_record(struct place *p, struct layout *layout,
		    const struct hatf_record *rec, uint64_t record,
		    struct hatf_metadata *out);

/* The regret after 'value'; at or above 'limit' it is time to change. */
static inline int32_t
place_watch_regret(const struct place_watch *w, uint64_t value)
{
	const bool fits = value - w->origin + w->sign <= w->mask;
	const int32_t regret = w->regret + (fits ? w->gain : -w->loss);

	return regret < 0 ? 0 : regret;
}

static inline void
place_watch_note(struct place_watch *w, int32_t regret, uint64_t value)
{
	w->regret = regret;
	if (w->follows)
		w->origin = value;
}

/*
 * For an alloc or free without attributes that fits the layout: does it want no
 * metadata?  If so, its values are noted; if not, nothing is, and
 * place_record() has to be asked.
 */
static inline bool
place_keeps(struct place *p, const struct hatf_record *rec)
{
	if (__builtin_expect(p->watching == 0, 1))
		return true;

	const uint64_t values[HATF_FIELD_COUNT] = {
		rec->size, rec->address, rec->time, rec->thread, rec->heap, 0,
	};
	int32_t regret[HATF_FIELD_COUNT];

	for (unsigned left = p->watching; left != 0; left &= left - 1) {
		const unsigned field = (unsigned)__builtin_ctz(left);
		const struct place_watch *const w = &p->watch[field];
		const bool has_field =
			field != HATF_FIELD_SIZE || rec->tag == HATF_ALLOC;

		regret[field] = has_field ? place_watch_regret(w, values[field])
					  : w->regret;
		if (regret[field] >= w->limit)
			return false;
	}
	for (unsigned left = p->watching; left != 0; left &= left - 1) {
		const unsigned field = (unsigned)__builtin_ctz(left);

		place_watch_note(&p->watch[field], regret[field],
				 values[field]);
	}
	return true;
}

#endif /* HATF_PLACE_H */
