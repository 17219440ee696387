/* SPDX-License-Identifier: MIT */
/*
 * columns.h - some records, each field by itself
 *
 * What the sections of Simple Binary and the groups of Split Stream have in common
 * (FORMAT "Columns"): which numbers a record of each kind has, and, for writing,
 * records kept by field until their number is reached and it is known how wide
 * each field must be.  Used by one thread at a time.
 */
#ifndef HATF_COLUMNS_H
#define HATF_COLUMNS_H

#include "hatf/hatf.h"

/* In the order in which they are stored, behind the tag. */
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

/* Simple Binary and Split Stream always have the first three. */
#define COLUMN_ALWAYS 3

/* Where a column's value is in a record; not for COLUMN_LENGTH. */
extern const uint16_t column_place[COLUMN_LENGTH];

/*
 * Which bits of a column may be set in a record of 'tag' (0 to 10): all, or none
 * where it has no such field.  A comment's size is the only one of a field that
 * HATF does not give it.
 */
extern const uint64_t column_mask[HATF_COMMENT + 1][COLUMN_COUNT];

/* The name of a column in FORMAT.md. */
const char *column_name(enum column column);

/*
 * A stored address: 0 is 0, anything else counts from 'base', so that 4 bytes do
 * for addresses anywhere.
 */
static inline uint64_t
column_address(uint64_t raw, uint64_t base)
{
	return raw == 0 ? 0 : base + raw;
}

/* Bytes of attributes and comments after which columns_are_full(). */
#define COLUMNS_BYTES_NBYTES ((size_t)1 << 20)
#define COLUMNS_BYTES_MAX    (COLUMNS_BYTES_NBYTES + 65535)

struct columns {
	size_t cap, count; /* records */
	size_t bytes_used;
	/* What addresses count from where they are 4 bytes wide. */
	uint64_t base;
	uint64_t any[COLUMN_COUNT]; /* bits that are set in some value */
	/* Of both address columns, without 0; if there is none: ~0, 0. */
	uint64_t lowest[2], highest[2];
	uint8_t *tags;
	uint64_t *values[COLUMN_COUNT];
	uint8_t *bytes; /* attributes and comments, one behind the other */
};

/*
 * Make room for 'cap' records.  Errors: HATF_NO_MEMORY.  Needs columns_fini()
 * whatever the result.
 */
enum hatf_status columns_init(struct columns *c, size_t cap);
void columns_fini(struct columns *c);

/* Append a record, tag 0 to 10; the columns must not be full. */
void columns_put(struct columns *c, const struct hatf_record *rec);

static inline bool
columns_are_full(const struct columns *c)
{
	return c->count == c->cap || c->bytes_used >= COLUMNS_BYTES_NBYTES;
}

/*
 * Choose the base: the one before if that still does, so that the same addresses
 * look the same.  To be called before columns_width().
 */
void columns_choose_base(struct columns *c);

/* The bytes that each value of a column needs: 4, 8, or 0 if all are 0. */
unsigned columns_width(const struct columns *c, enum column column);

/* The stored form of a value, in a column that is 'width' bytes wide. */
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

/* Forget the records, not the base. */
void columns_reset(struct columns *c);

/*
 * May addresses between 'lowest' and 'highest' count from 'base' in 4 bytes?  The
 * base itself may not be one, as it would be stored as 0.
 */
static inline bool
column_fits(uint64_t lowest, uint64_t highest, uint64_t base)
{
	return lowest > highest ||
	       (base < lowest && highest - base <= UINT32_MAX);
}

/*
 * What addresses between 'lowest' and 'highest' are to count from: 'base' if they
 * may, another one if that is better, or 'base' if nothing is.
 */
uint64_t column_choose_base(uint64_t lowest, uint64_t highest, uint64_t base);

#endif /* HATF_COLUMNS_H */
