/* SPDX-License-Identifier: MIT */
/*
 * field_uses.h - what the records of a window use, by classes
 *
 * Looks at the records of a window once and tells for each use of a field its
 * class (field_states.h).  Size and address share the numbers of their uses: each
 * record with an address is a use, a realloc two of them, the first with its
 * size.  For the other fields each record is a use.
 *
 * Runs where encoder.h runs.
 */
#ifndef FIELD_USES_H
#define FIELD_USES_H

#include "hatf/codec/field_states.h"
#include "hatf/codec/layout.h"
#include "hatf/hatf.h"

#define FIELD_USES_RECORDS 256 /* the most of a window */

_Static_assert(2 * FIELD_USES_RECORDS <= TRELLIS_USES, "reallocs alone");

struct field_uses {
	/* The window; 'restart': any state may begin it. */
	const struct hatf_record *records;
	const struct layout *layout;
	size_t record_count;
	bool restart;
	/* Of size and address. */
	size_t count;
	uint16_t record[TRELLIS_USES];
	_Alignas(16) uint8_t address_class[TRELLIS_USES];
	_Alignas(16) uint8_t size_class[TRELLIS_USES];
	/* Bits that differ from the value before; lengths of attributes. */
	uint64_t time, thread, heap;
	uint32_t attributes;
	/* Of the field that was classified last. */
	uint8_t field_class[FIELD_USES_RECORDS];
	/* Between the two passes of field_uses_scan(). */
	_Alignas(16) uint32_t difference[TRELLIS_USES];
	_Alignas(16) uint32_t offset[TRELLIS_USES];
	_Alignas(16) uint32_t size[TRELLIS_USES];
};

/* What is the (for a realloc, first) value of a field that 'rec' has? */
uint64_t field_uses_value(const struct hatf_record *rec, unsigned field);

/*
 * What the first use of a field is compared with: the value that the field has
 * now, or, where any state may begin the window, the first value itself.
 */
uint64_t field_uses_previous(const struct field_uses *u, unsigned field);

/* The first value of a field in the window; 0 if there is none. */
uint64_t field_uses_first(const struct field_uses *u, unsigned field);

/* Begin a window, with 'base' the base of the address. */
void field_uses_scan(struct field_uses *u, const struct hatf_record *records,
		     size_t n, const struct layout *layout, bool restart,
		     uint64_t base);

/* Classify the addresses once more, as if this was the base. */
void field_uses_rebase(struct field_uses *u, uint64_t base);

/* Classify time, thread, heap or attributes into 'field_class'. */
void field_uses_classify(struct field_uses *u, unsigned field);

/* Of a difference: 0, 1, 2, 3, 4 for 0, 1, 2, 4, 8 bytes. */
static inline unsigned
field_uses_delta_class(uint64_t difference)
{
	/* 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
	const uint64_t folded = difference << 1 ^ (0 - (difference >> 63));

	return (folded != 0) + (folded > UINT8_MAX) + (folded > UINT16_MAX) +
	       (folded > UINT32_MAX);
}

#endif /* FIELD_USES_H */
