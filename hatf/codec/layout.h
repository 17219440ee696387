/* SPDX-License-Identifier: MIT */
/*
 * layout.h - the state of the six fields, as metadata records set it
 *
 * A 'struct layout' says how the next record of a stream is stored: it has the
 * width and the interpretation of each field, and the values that the
 * interpretation needs.  Readers and writers keep this state between two
 * records.  Encoder and decoder share this code, so they cannot differ.  The
 * code keeps the rules of encoder.h for code in traced programs.  A layout has
 * one owner, who serializes all calls.
 *
 * All five interpretations are kept in one form, so that encoding and decoding
 * a field need no branch on its interpretation (arithmetic is modulo 2^64):
 *
 *   raw     the stored number: the low 'nbytes' bytes of 'value - origin'
 *   value   origin + sign-extended raw;  'sign' is the sign bit, and 0 for
 *           "none", whose values are not sign-extended
 *   fits    value - origin + sign <= mask
 *   use     if 'follows' is set (delta, stride), origin becomes value + step
 *
 *   interpretation   origin             sign       mask   step
 *   none             0                  0          ones   0
 *   default          the default        0          0      0
 *   baseOffset       the base           top bit    ones   0
 *   delta            previous           top bit    ones   0
 *   stride           previous + stride  0          0      stride
 *
 * 'ones' are 8 * 'nbytes' bits that are all set; 'top bit' is the highest of
 * them.
 *
 * The attributes field is a byte string, not a number.  Of its 'struct
 * layout_field', only 'width', 'last_width' and 'interpretation' are used
 * (FORMAT "Attributes").
 */
#ifndef HATF_LAYOUT_H
#define HATF_LAYOUT_H

#include "hatf/codec/bytes.h"
#include "hatf/hatf.h"

/* the fields before HATF_FIELD_ATTRIBUTES are numbers */
#define LAYOUT_NUMBER_COUNT 5

/* Lengths of the shortest and of the longest metadata record. */
#define LAYOUT_METADATA_MIN_NBYTES 4
#define LAYOUT_METADATA_MAX_NBYTES 20

struct layout_field {
	uint64_t origin;
	uint64_t sign;
	uint64_t mask;
	uint64_t step;
	/*
	 * code of the stored width; 0 if the interpretation is default or
	 * stride
	 */
	uint8_t width;
	/*
	 * code of the last width that was not 0; 0 if there was none.  When the
	 * interpretation becomes none, baseOffset or delta, the field gets this
	 * width again.
	 */
	uint8_t last_width;
	uint8_t interpretation; /* an enum hatf_interpretation */
	/*
	 * number of bytes stored in each record; 0 for v1 and v2, which store a
	 * length in the record
	 */
	uint8_t nbytes;
	bool follows;
};

struct layout {
	struct layout_field field[HATF_FIELD_COUNT];
};

/* Set the standard state (FORMAT "Standard state"). */
void layout_init(struct layout *layout);

/*
 * Apply a metadata record and return NULL.  If the record is illegal, change
 * nothing and return the name that FORMAT.md gives to the illegal part: "op",
 * "field", "fieldWidth", "interpretation" or "default".  The string is static.
 */
const char *layout_apply(struct layout *layout,
			 const struct hatf_metadata *metadata);

/*
 * Return the length of a metadata record, tag included, from its first 4 bytes.
 * If the op or the interpretation is illegal, return 4; layout_apply() then
 * reports the error.
 */
size_t layout_metadata_nbytes(const uint8_t *p);

/* Read a metadata record of layout_metadata_nbytes(p) bytes. */
void layout_get_metadata(const uint8_t *p, struct hatf_metadata *metadata_ret);

/* Write a legal metadata record and return its length. */
size_t layout_put_metadata(uint8_t *p, const struct hatf_metadata *metadata);

/*
 * Return the fields that a record of this tag (0 to 11) has, as bits '1 <<
 * field'; 0 for comment and metadata.
 */
unsigned layout_tag_fields(unsigned tag);

/* Can the field, in its present state, store 'value'? */
static inline bool
layout_fits(const struct layout_field *f, uint64_t value)
{
	return value - f->origin + f->sign <= f->mask;
}

/* Can the attributes field store 'nbytes' bytes?  'nbytes' is at most 65535. */
static inline bool
layout_fits_bytes(const struct layout_field *f, size_t nbytes)
{
	if (f->width == HATF_WIDTH_V1)
		return nbytes <= UINT8_MAX;
	return f->width == HATF_WIDTH_V2 || nbytes == f->width;
}

/*
 * Return the number that stands for 'value', which must fit the field.  The
 * caller stores the low f->nbytes bytes of this number.
 */
static inline uint64_t
layout_raw(const struct layout_field *f, uint64_t value)
{
	return value - f->origin;
}

/*
 * Return the value that a stored number stands for.  'raw' is the number,
 * zero-extended; it is 0 if no bytes are stored.
 */
static inline uint64_t
layout_value(const struct layout_field *f, uint64_t raw)
{
	return f->origin + ((raw ^ f->sign) - f->sign);
}

/*
 * Update the field after a record with 'value': if the interpretation is delta
 * or stride, 'value' becomes the previous value.
 */
static inline void
layout_use(struct layout_field *f, uint64_t value)
{
	if (f->follows)
		f->origin = value + f->step;
}

#endif /* HATF_LAYOUT_H */
