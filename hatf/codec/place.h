/* SPDX-License-Identifier: MIT */
/*
 * place.h - decide which metadata to write, and where
 *
 * A planner gets a span of records and the layout before the span.  It decides
 * which metadata to write between the records, so that each record fits the
 * layout at its place.  Until the planner has decided, the encoder keeps the
 * records in its span.  place_span() is the default planner, and the planner of
 * the recorder except in fast mode (place_fast()).  place_span() considers one
 * span at a time, and takes constant time per record.  A caller of the encoder
 * can supply another planner, see 'struct place_planner'.
 *
 * These functions keep the rules of encoder.h for code in traced programs.  A
 * 'struct place' has one owner, who serializes all calls.
 */
#ifndef HATF_PLACE_H
#define HATF_PLACE_H

#include "hatf/codec/field_states.h"
#include "hatf/codec/field_uses.h"
#include "hatf/codec/layout.h"
#include "hatf/codec/trellis.h"
#include "hatf/hatf.h"

/*
 * Maximum number of records that place_span() and place_fast() plan in one
 * call.
 */
#define PLACE_SPAN_RECORDS FIELD_USES_RECORDS

/* Maximum number of metadata records before one record: three per field. */
#define PLACE_METADATA_MAX (3 * HATF_FIELD_COUNT)

/* A metadata record to write before 'records[before]' of the span. */
struct place_change {
	uint32_t before;
	struct hatf_metadata metadata;
};

/*
 * A planner decides which metadata must precede each of 'n' records.  'n' is at
 * least 1; the records have tags 0 to 10, and comments need no metadata.
 * 'layout' is the state before the span.  Store the changes in the order of
 * their records, at most PLACE_METADATA_MAX of them before one record, and
 * their number in '*count_ret'.  'changes' has room for 'cap' changes, at least
 * PLACE_METADATA_MAX.
 *
 * If 'restart' is set, a block begins.  In this case, the changes before record
 * 0 must set the interpretation and the width of every field, and a
 * 'last_width' (layout.h) other than 0, so that the layout does not depend on
 * the bytes before the block.
 *
 * Return the number of records planned, at least 1.  It is less than 'n' if
 * there is no room for more changes, or if 'n' is more than the planner plans
 * in one call.  The next span begins after these records, with the resulting
 * layout.
 */
typedef size_t place_fn(void *context, const struct layout *layout,
			bool restart, const struct hatf_record *records,
			size_t n, struct place_change *changes, size_t cap,
			size_t *count_ret);

struct place_planner {
	place_fn *plan;
	void *context;	  /* the first argument of the planner */
	uint32_t records; /* number of records in a full span */
	/* number of changes for which the planner needs room ('cap') */
	uint32_t changes;
	/*
	 * the caller of the encoder should end the block after each full span
	 */
	bool is_span_block;
};

/*
 * Maximum number of changes of one field in a span.  place_span() ends the span
 * earlier if a field would need more changes.
 */
#define PLACE_FIELD_CHANGES 128

#define PLACE_CANDIDATES 2

/*
 * The state and scratch memory of place_span() and place_fast(), about 60 KB.
 * The members before 'list_count' last from one span to the next; the others
 * are here because the stack of the writer thread is too small for them.
 */
struct place {
	/* The base of the address under baseOffset (FORMAT "Interpretations"),
	 * and the candidates for a better base. */
	uint64_t base, candidate[PLACE_CANDIDATES];
	uint32_t span_count;
	bool base_known;
	/* How many exceptions place_exception() has made in this block. */
	uint32_t exceptions[HATF_FIELD_COUNT];
	struct field_states states;
	/*
	 * The changes of each field.  The first changes of all fields are next
	 * to each other, since a short trace has only few changes, which then
	 * take one page of memory.
	 */
	uint32_t list_count[HATF_FIELD_COUNT];
	struct place_change list[PLACE_FIELD_CHANGES][HATF_FIELD_COUNT];
	struct field_uses uses;
	struct trellis_path path[2];
	struct trellis_turn turns[TRELLIS_USES];
};

/*
 * Initialize '*p'; the base of the address is still unknown.  Only one encoder
 * may use '*p'.
 */
void place_init(struct place *p);

/* Call this when a block begins: place_exception() may make new exceptions. */
static inline void
place_begin_block(struct place *p)
{
	memset(p->exceptions, 0, sizeof(p->exceptions));
}

/* The default planner: a 'place_fn' with a 'struct place' as context. */
size_t place_span(void *place, const struct layout *layout, bool restart,
		  const struct hatf_record *records, size_t n,
		  struct place_change *changes, size_t cap, size_t *count_ret);

/*
 * The planner of fast mode: like place_span(), a 'place_fn' with a 'struct
 * place' as context.  Inside a block, a field keeps its state if all values of
 * the span fit this state.  Else the field gets a state that fits the span and
 * probably most later records.  This planner takes less time than place_span(),
 * but the records take more bytes.
 */
size_t place_fast(void *place, const struct layout *layout, bool restart,
		  const struct hatf_record *records, size_t n,
		  struct place_change *changes, size_t cap, size_t *count_ret);

/* Maximum number of changes that place_exception() stores. */
#define PLACE_EXCEPTION_CHANGES (2 * HATF_FIELD_COUNT)

/*
 * Fast mode, inside a block: make an exception for a single record that does
 * not fit the layout.  Store in 'changes' the metadata before the record
 * ('before' is 0), which widens fields, and the metadata after it ('before' is
 * 1), which restores their widths.  So one far address or long pause does not
 * widen a field for the rest of the block.
 *
 * 'nbytes' is the length of the block so far.  It limits how many exceptions a
 * field may have: the longer the block, the more.  A field that needs more
 * exceptions than that should be wider.  Return false if a field has reached
 * this limit, or if no width of a field can store its value.
 */
bool place_exception(struct place *p, const struct layout *layout,
		     const struct hatf_record *rec, size_t nbytes,
		     struct place_change *changes, size_t *count_ret);

#endif /* HATF_PLACE_H */
