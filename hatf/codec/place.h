/* SPDX-License-Identifier: MIT */
/*
 * place.h - which metadata to write, and when
 *
 * A window of records in, decisions out.  A planner is told the layout before
 * the window and names the metadata that is to be written between the records,
 * so that each of them fits; encoder.h holds the records back until then.
 * place_window() is the planner of the recorder: it looks no further than the
 * window, and takes constant time for a record.  Others can take its place, see
 * 'struct place_planner'.
 *
 * Runs where encoder.h runs.
 */
#ifndef HATF_PLACE_H
#define HATF_PLACE_H

#include "hatf/codec/field_states.h"
#include "hatf/codec/field_uses.h"
#include "hatf/codec/layout.h"
#include "hatf/codec/trellis.h"
#include "hatf/hatf.h"

/* Records that place_window() should be given, and looks at, at a time. */
#define PLACE_WINDOW_RECORDS FIELD_USES_RECORDS

/* The most metadata before one record: three for each field. */
#define PLACE_METADATA_MAX (3 * HATF_FIELD_COUNT)

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
 * Returns the number of records decided, at least 1: fewer than 'n' where there
 * is no room for further changes, or the planner looks no further.  The next
 * window begins behind them, in the layout that the changes and values have led
 * to.
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

/* Changes of one field that a window may have; it is cut short at more. */
#define PLACE_FIELD_CHANGES 128

#define PLACE_CANDIDATES 2

/*
 * What place_window() needs, about 60 KB.  Only the bases are kept from one
 * window to the next; all else would be on the stack, if that was large enough.
 */
struct place {
	/* FORMAT "Interpretations": what 'baseOffset' of the address uses now,
	 * and what else it could be. */
	uint64_t base, candidate[PLACE_CANDIDATES];
	uint32_t window_count;
	bool base_known;
	struct field_states states;
	struct field_uses uses;
	struct trellis_path path[2];
	struct trellis_turn turns[TRELLIS_USES];
	struct place_change list[HATF_FIELD_COUNT][PLACE_FIELD_CHANGES];
	uint32_t list_count[HATF_FIELD_COUNT];
};

void place_init(struct place *p);

/* A 'place_fn' with a 'struct place' as context. */
size_t place_window(void *place, const struct layout *layout, bool restart,
		    const struct hatf_record *records, size_t n,
		    struct place_change *changes, size_t cap,
		    size_t *count_ret);

/*
 * The same, for one who is in haste: a field keeps its state as long as the whole
 * window fits it, and else gets one that the window fits, and most of what may
 * follow.  Takes some more bytes.  Uses the same 'struct place'.
 */
size_t place_fast(void *place, const struct layout *layout, bool restart,
		  const struct hatf_record *records, size_t n,
		  struct place_change *changes, size_t cap, size_t *count_ret);

#endif /* HATF_PLACE_H */
