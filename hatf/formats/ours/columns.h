/* SPDX-License-Identifier: MIT */
/*
 * columns.h - collect records field by field
 *
 * Shared by the sections of Simple Binary and the groups of Split Stream
 * (FORMATS "Columns"): which numbers a record of each kind has.  For writing,
 * the columns collect records until they are full, because only then is the
 * width of each field known.  One thread uses a 'struct columns'.
 */
#ifndef HATF_COLUMNS_H
#define HATF_COLUMNS_H

#include "hatf/hatf.h"

/* In the order in which the numbers are stored, after the tag. */
enum column {
	COLUMN_SIZE = 0, /* of a comment: the length of its text */
	COLUMN_ADDRESS = 1,
	COLUMN_OLD_ADDRESS = 2,
	COLUMN_THREAD = 3,
	COLUMN_HEAP = 4,
	COLUMN_TIME = 5,
	COLUMN_LENGTH = 6, /* of the attributes; of a comment: 0 */
};
#define COLUMN_COUNT 7

/* Simple Binary and Split Stream have the first three columns in any case. */
#define COLUMN_ALWAYS 3

/* Offset of a column's value in a record; not for COLUMN_LENGTH. */
extern const uint16_t column_offsets[COLUMN_LENGTH];

/*
 * Bits that may be set in a column of a record with 'tag' (0 to 10): all, or
 * none where the record has no such field.  The size of a comment is the only
 * value that HATF does not have as a field.
 */
extern const uint64_t column_mask[HATF_COMMENT + 1][COLUMN_COUNT];

/* Return the name of a column in FORMATS.md. */
const char *column_name(enum column column);

/*
 * Return the address for a stored number: 0 for 0, otherwise an offset from
 * 'base', so that 4 bytes suffice for addresses anywhere.
 */
static inline uint64_t
column_address(uint64_t raw, uint64_t base)
{
	return raw == 0 ? 0 : base + raw;
}

/* Bytes of attributes and comments that make the columns full. */
#define COLUMNS_BYTES_NBYTES ((size_t)1 << 20)
#define COLUMNS_BYTES_MAX    (COLUMNS_BYTES_NBYTES + 65535)

struct columns {
	size_t cap, count; /* records */
	size_t bytes_used;
	/* What 4-byte addresses are relative to. */
	uint64_t base;
	uint64_t any[COLUMN_COUNT]; /* bits set in any value */
	/* Range of both address columns without 0; an empty one is ~0, 0. */
	uint64_t lowest[2], highest[2];
	uint8_t *tags;
	uint64_t *values[COLUMN_COUNT];
	uint8_t *bytes; /* concatenated attributes and comments */
};

/*
 * Allocate room for 'cap' records.  Errors: HATF_NO_MEMORY.  Call
 * columns_fini() whatever the result.
 */
enum hatf_status columns_init(struct columns *c, size_t cap);
void columns_fini(struct columns *c);

/* Append a record, tag 0 to 10.  The columns must not be full. */
void columns_put(struct columns *c, const struct hatf_record *rec);

/* Return true if the columns have no room for another record. */
static inline bool
columns_are_full(const struct columns *c)
{
	return c->count == c->cap || c->bytes_used >= COLUMNS_BYTES_NBYTES;
}

/*
 * Choose the base: keep the last one if it suits, so that equal addresses are
 * stored as equal numbers.  Call this before columns_width().
 */
void columns_choose_base(struct columns *c);

/*
 * Return the bytes that each value of a column needs: 4, 8, or 0 if all are 0.
 */
unsigned columns_width(const struct columns *c, enum column column);

/* Return the stored form of a value in a column that is 'width' bytes wide. */
static inline uint64_t
columns_raw(const struct columns *c, enum column column, size_t idx,
	    unsigned width)
{
	const uint64_t value = c->values[column][idx];
	const bool counts =
		width == 4 && value != 0 &&
		(column == COLUMN_ADDRESS || column == COLUMN_OLD_ADDRESS);

	return counts ? value - c->base : value;
}

/* Forget the records.  Keep the base. */
void columns_reset(struct columns *c);

/*
 * Return true if 4 bytes suffice for addresses between 'lowest' and 'highest',
 * relative to 'base'.  The base itself must not be among them: it would be
 * stored as 0.
 */
static inline bool
column_fits(uint64_t lowest, uint64_t highest, uint64_t base)
{
	return lowest > highest ||
	       (base < lowest && highest - base <= UINT32_MAX);
}

/*
 * Return a base for addresses between 'lowest' and 'highest': 'base' if it
 * suits, else another one if that is better, else 'base'.
 */
uint64_t column_choose_base(uint64_t lowest, uint64_t highest, uint64_t base);

#endif /* HATF_COLUMNS_H */
