/* SPDX-License-Identifier: MIT */
/*
 * field_state.h - how the fields of a section are stored at present
 *
 * The DTD defines the state at the start of a trace; metadata records change
 * it.  The number that a field represents is
 *
 * 	add + (keep & previous) + ((stored ^ sign) - sign)
 *
 * where 'stored' is the number that the record stores, in 'width' bytes, and
 * 'previous' is the previous value of the field.  This one formula without
 * branches serves the interpretations none, default, baseOffset, delta, stride
 * and sectionOffset.
 *
 * Under default, stride and sectionStride a field stores nothing.  When
 * metadata sets one of the other interpretations, the field's 'width' becomes
 * 'last_width', as FORMAT.md, "Widths", requires for HATF.
 */
#ifndef HATF_FIELD_STATE_H
#define HATF_FIELD_STATE_H

#include "hatf/metatf/schema.h"

enum field_kind {
	FIELD_NUMBER,
	FIELD_BYTES,
	/* under sectionStride: the number comes from another section */
	FIELD_ELEMENT,
};

struct field_state {
	uint64_t add, keep, sign;
	uint32_t history;
	uint8_t kind;	    /* enum field_kind */
	uint8_t width;	    /* number of bytes that store a value */
	uint8_t last_width; /* last width that was not 0 */
	uint8_t interpretation;
	/* for a field of bytes: its width if no other field holds the width */
	uint32_t bytes_width;
	/*
	 * For a field of bytes: the index, in the record, of the field that
	 * holds the width, or SCHEMA_NO_FIELD.
	 */
	uint32_t width_from;
	uint64_t args[2]; /* arguments of the interpretation */
};

/* The fields of all records of a section. */
struct section_state {
	const struct schema_section *section;
	/* fields[r->first_field + i]: the state of field i of the record r */
	struct field_state *fields;
	/* previous[h]: the previous value of the fields whose 'history' is h */
	uint64_t *previous;
	/* keep_counts[h]: number of fields that use previous[h] */
	uint32_t *keep_counts;
	uint64_t version; /* starts at 1 and grows with each change */
};

/* Set the state that the DTD defines.  Return false if there is no memory. */
bool section_state_init(struct section_state *s,
			const struct schema_section *section);
void section_state_fini(struct section_state *s);

/*
 * Continue with another version of the section, which has more own records
 * after the old ones.  The fields of the old own records keep their state.  All
 * other fields get the state that the DTD defines.  Return false and leave the
 * state unchanged if there is no memory, or if 'section' changes the tags or
 * fields of the old own records.
 */
bool section_state_extend(struct section_state *s,
			  const struct schema_section *section);

/*
 * Carry out a metadata record, which changes the field with the index 'field'
 * in 'record'.  If 'property' is 0, set the width of the field.  Otherwise, set
 * its interpretation to 'property', an enum dtd_interpretation.  Return NULL,
 * or the reason why the metadata record is illegal.
 */
const char *section_state_set(struct section_state *s,
			      const struct schema *schema,
			      const struct schema_record *record,
			      uint32_t field, unsigned property,
			      const uint64_t args[2]);

/* Return how many arguments the metadata record of a property has. */
unsigned metadata_argument_count(unsigned property);

/* Return the number that these stored bytes of a field represent. */
static inline uint64_t
field_decode(const struct section_state *s, const struct field_state *f,
	     uint64_t stored)
{
	return f->add + (f->keep & s->previous[f->history]) +
	       ((stored ^ f->sign) - f->sign);
}

/*
 * Set '*stored_ret' to the number that the record must store, so that the field
 * represents 'number'.  Return false if the field cannot represent 'number' in
 * its present state.
 */
static inline bool
field_encode(const struct section_state *s, const struct field_state *f,
	     uint64_t number, uint64_t *stored_ret)
{
	const uint64_t rest =
		number - f->add - (f->keep & s->previous[f->history]);
	const unsigned bits = 8u * f->width;

	*stored_ret = rest;
	if (bits == 64)
		return true;
	/*
	 * 'sign' is 0 for unsigned numbers.  For signed numbers, adding 'sign'
	 * maps the numbers that fit into 'bits' bits to 0, ..., 2^bits - 1.
	 */
	return (rest + f->sign) >> bits == 0;
}

#endif /* HATF_FIELD_STATE_H */
