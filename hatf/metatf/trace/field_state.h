/* SPDX-License-Identifier: MIT */
/*
 * field_state.h - how the fields of a section are stored at a moment
 *
 * The DTD says how a trace begins, metadata records change it.  A number is
 *
 *	add + (keep & previous) + ((stored ^ sign) - sign)
 *
 * where 'stored' has 'width' bytes: one formula without branches for none,
 * default, baseOffset, delta, stride and sectionOffset.
 *
 * After default, stride and sectionStride a field stores nothing.  The others
 * bring back the last width above 0 (decisions 7 to 9 of FORMAT.md hold for
 * Meta-TF, too).
 */
#ifndef HATF_FIELD_STATE_H
#define HATF_FIELD_STATE_H

#include "hatf/metatf/schema.h"

enum field_kind {
	FIELD_NUMBER,
	FIELD_BYTES,
	FIELD_ELEMENT, /* sectionStride: a number of another section */
};

struct field_state {
	uint64_t add, keep, sign;
	uint32_t history;
	uint8_t kind;	    /* enum field_kind */
	uint8_t width;	    /* stored bytes of a number */
	uint8_t last_width; /* the last that was not 0 */
	uint8_t interpretation;
	uint32_t bytes_width; /* of bytes without width_from */
	uint32_t width_from;  /* of bytes: the field that tells, or NO */
	uint64_t args[2];     /* of the interpretation */
};

/* The fields of all records of a section. */
struct section_state {
	const struct schema_section *section;
	struct field_state *fields; /* by first_field + position */
	uint64_t *previous;	    /* by history */
	/* How many fields add to the previous value, by history. */
	uint32_t *keep_counts;
	uint64_t version; /* grows with each change, from 1 */
};

/* Begin as the DTD says.  False: no memory. */
bool section_state_init(struct section_state *s,
			const struct schema_section *section);
void section_state_fini(struct section_state *s);

/*
 * Carry out a metadata record: set the width (property 0) or the interpretation
 * (its code) of a field.  Return NULL, or say why it cannot be.
 */
const char *section_state_set(struct section_state *s,
			      const struct schema *schema,
			      const struct schema_record *record,
			      uint32_t field, unsigned property,
			      const uint64_t args[2]);

/* How many arguments the metadata record of a property has. */
unsigned metadata_argument_count(unsigned property);

/* Return the number that a field with these stored bytes has. */
static inline uint64_t
field_decode(const struct section_state *s, const struct field_state *f,
	     uint64_t stored)
{
	return f->add + (f->keep & s->previous[f->history]) +
	       ((stored ^ f->sign) - f->sign);
}

/*
 * Find what to store for a number.  False: the field cannot say this number
 * now.
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
	/* A signed rest fits if its upper bits are all like its sign. */
	return (rest + f->sign) >> bits == 0;
}

#endif /* HATF_FIELD_STATE_H */
