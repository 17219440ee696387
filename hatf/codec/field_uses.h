/* SPDX-License-Identifier: MIT */
/*
 * field_uses.h - classify the uses of each field in a span of records
 *
 * field_uses_scan() gives each use of the size and of the address its class
 * (field_states.h).  Size and address share the numbering of their uses: a
 * record with one address is one use; a realloc, which has two addresses, is
 * two uses, and its size belongs to the first of them.  For the other fields
 * each record is one use, and field_uses_classify() finds the classes.
 *
 * These functions keep the rules of encoder.h for code in traced programs.  A
 * 'struct field_uses' has one owner, who serializes all calls.
 */
#ifndef HATF_FIELD_USES_H
#define HATF_FIELD_USES_H

#include "hatf/codec/field_states.h"
#include "hatf/codec/layout.h"
#include "hatf/hatf.h"

#define FIELD_USES_RECORDS 256 /* maximum number of records in a span */

_Static_assert(2 * FIELD_USES_RECORDS <= TRELLIS_USES,
	       "the trellis must have room for a span of nothing but reallocs");

struct field_uses {
	/*
	 * The span and the layout before it.  If 'restart' is set, ignore the
	 * layout, because the span begins a block, and the metadata of a new
	 * block must set every field.
	 */
	const struct hatf_record *records;
	const struct layout *layout;
	size_t record_count;
	bool restart;
	/*
	 * The 'count' uses of size and address.  For each use, the arrays have
	 * the index of its record, the class of its address and the class of
	 * its size.
	 */
	size_t count;
	uint16_t record[TRELLIS_USES];
	_Alignas(16) uint8_t address_class[TRELLIS_USES];
	_Alignas(16) uint8_t size_class[TRELLIS_USES];
	/*
	 * Each of these four members is the OR of one number per record of the
	 * span, except comments.  For time, thread and heap, this number is the
	 * record's value XOR field_uses_previous(), so 0 means that the field
	 * never changes in the span.  For 'attributes', this number is the
	 * length of the record's attributes, so 0 means that no record has
	 * attributes.
	 */
	uint64_t time, thread, heap;
	uint32_t attributes;
	/* The classes that field_uses_classify() found, one per record. */
	uint8_t field_class[FIELD_USES_RECORDS];
	/*
	 * What the first pass of field_uses_scan() stores for its second pass.
	 */
	_Alignas(16) uint32_t difference[TRELLIS_USES];
	_Alignas(16) uint32_t offset[TRELLIS_USES];
	_Alignas(16) uint32_t size[TRELLIS_USES];
};

/*
 * Return the value of a field of 'rec'.  If the field is the address and 'rec'
 * is a realloc, return the old address, which the record stores first.
 */
uint64_t field_uses_value(const struct hatf_record *rec, unsigned field);

/*
 * Return the value with which the first use of a field in the span is compared.
 * On a restart, this is the first value of the span itself.  Otherwise it is
 * 'origin' of the field in the layout: for example, the previous value if the
 * interpretation is delta, and the default value if the interpretation is
 * default.
 */
uint64_t field_uses_previous(const struct field_uses *u, unsigned field);

/* Return the first value of a field in the span; 0 if there is none. */
uint64_t field_uses_first(const struct field_uses *u, unsigned field);

/*
 * Begin a span of 'n' records and classify sizes and addresses; 'base' is the
 * base of the address.  The caller owns the span and the layout, and must keep
 * both until the next call of this function.
 */
void field_uses_scan(struct field_uses *u, const struct hatf_record *records,
		     size_t n, const struct layout *layout, bool restart,
		     uint64_t base);

/* Classify the addresses again, with another base. */
void field_uses_rebase(struct field_uses *u, uint64_t base);

/* Classify time, thread, heap or attributes into 'field_class'. */
void field_uses_classify(struct field_uses *u, unsigned field);

/*
 * Return the class of a difference: 0, 1, 2, 3 or 4 if the difference needs 0,
 * 1, 2, 4 or 8 bytes.
 */
static inline unsigned
field_uses_delta_class(uint64_t difference)
{
	/* Map 0, -1, 1, -2, ... to 0, 1, 2, 3, ... */
	const uint64_t folded = difference << 1 ^ (0 - (difference >> 63));

	return (folded != 0) + (folded > UINT8_MAX) + (folded > UINT16_MAX) +
	       (folded > UINT32_MAX);
}

#endif /* HATF_FIELD_USES_H */
