/* SPDX-License-Identifier: MIT */
/*
 * place.h - which metadata to write, and when
 *
 * A window of records in, decisions out.  A planner is told the layout before
 * the window and names the metadata that is to be written between the records,
 * so that each of them fits; encoder.h holds the records back until then.
 * place_window() is the planner of the recorder: it looks no further than the
 * window, and takes constant time and space for a record.  Others can take its
 * place, see 'struct place_planner'.
 *
 * Runs where encoder.h runs.
 */
#ifndef HATF_PLACE_H
#define HATF_PLACE_H

#include "hatf.h"
#include "layout.h"

/* Records that place_window() should be given at a time. */
#define PLACE_WINDOW_RECORDS 512

/* The most metadata before one record. */
#define PLACE_METADATA_MAX (6 * HATF_FIELD_COUNT)

/* A metadata record and its place: before 'records[before]' of the window. */
struct place_change {
	uint32_t before;
	struct hatf_metadata metadata;
};

/*
 * A planner decides what must precede each of 'records' (tags 0 to 10; comments
 * need nothing; 'n' is at least 1).  'layout' is the state before the window.
 * The changes are stored in order, with at most PLACE_METADATA_MAX of them
 * before one record, and '*count_ret' tells how many.  'cap' is at least
 * PLACE_METADATA_MAX.  With 'restart' a block begins: the changes before record
 * 0 then put every field, the last width that is not 0 included, into a state
 * that depends on no earlier byte.
 *
 * Returns the number of records decided, at least 1: fewer than 'n' only if
 * there is no room for further changes.  The next window begins behind them,
 * in the layout that the changes and values have led to.
 */
typedef size_t place_fn(void *context, const struct layout *layout,
			bool restart, const struct hatf_record *records,
			size_t n, struct place_change *changes, size_t cap,
			size_t *count_ret);

struct place_planner {
	place_fn *plan;
	void *context;	      /* its first argument */
	uint32_t records;     /* that it should be given at a time */
	uint32_t changes;     /* what it should have for 'cap' */
	bool is_window_block; /* a block ends where a window does */
};

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
	uint64_t record;     /* data records so far */
};

void place_init(struct place *p);

/* A 'place_fn' with a 'struct place' as context. */
size_t place_window(void *place, const struct layout *layout, bool restart,
		    const struct hatf_record *records, size_t n,
		    struct place_change *changes, size_t cap,
		    size_t *count_ret);

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

#endif /* HATF_PLACE_H */
