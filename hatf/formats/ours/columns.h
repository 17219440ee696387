/* SPDX-License-Identifier: MIT */
/*
 * columns.h - collect records field by field
 *
 * A section of Simple Binary and a group of Split Stream both consist of
 * columns (FORMATS "Columns").  This header says which numbers a record of each
 * tag has.  The width of a column is known only when all its values are known,
 * so a writer collects records in a 'struct columns' until it is full.  Only
 * one thread may use a 'struct columns'.
 */
#ifndef HATF_COLUMNS_H
#define HATF_COLUMNS_H

#include "hatf/hatf.h"

/*
 * The columns, in the order of a row of Simple Binary.  (A HATF record has
 * another order: FORMAT "Records".)
 */
enum column {
	/* Size of a block; for a comment, the length of its text. */
	COLUMN_SIZE = 0,
	COLUMN_ADDRESS = 1,
	COLUMN_OLD_ADDRESS = 2,
	COLUMN_THREAD = 3,
	COLUMN_HEAP = 4,
	COLUMN_TIME = 5,
	COLUMN_LENGTH = 6, /* length of the attributes; for a comment 0 */
};
#define COLUMN_COUNT 7

/*
 * Simple Binary and Split Stream always have the first COLUMN_ALWAYS columns.
 */
#define COLUMN_ALWAYS 3

/* Offset of a column's value in 'struct hatf_record'; not for COLUMN_LENGTH. */
extern const uint16_t column_offsets[COLUMN_LENGTH];

/*
 * The bits that may be set in a column, by tag of the record (0 to 10): all
 * bits, the low 16 bits for a length, or none if the record has no such field.
 * A comment record of HATF has no size; here, its size is the length of its
 * text.
 */
extern const uint64_t column_mask[HATF_COMMENT + 1][COLUMN_COUNT];

/* Return the name of a column in FORMATS.md. */
const char *column_name(enum column column);

/*
 * Return the address that a stored number stands for: 0 for 0, otherwise the
 * sum of the number and 'base'.  With a base, 4 bytes suffice for an address,
 * wherever the heap is.
 */
static inline uint64_t
column_address(uint64_t raw, uint64_t base)
{
	return raw == 0 ? 0 : base + raw;
}

/*
 * The columns are full, even with fewer than 'cap' records, when they contain
 * COLUMNS_BYTES_NBYTES bytes of attributes and comments.  Before the last
 * record they contain less, and this record adds at most 65535 bytes, so all
 * fit into COLUMNS_BYTES_MAX.
 */
#define COLUMNS_BYTES_NBYTES ((size_t)1 << 20)
#define COLUMNS_BYTES_MAX    (COLUMNS_BYTES_NBYTES + 65535)

struct columns {
	size_t cap, count; /* how many records fit, and how many there are */
	size_t bytes_used;
	/* 4-byte addresses are relative to this address. */
	uint64_t base;
	/* all values of each column, ORed together */
	uint64_t any[COLUMN_COUNT];
	/*
	 * The lowest and the highest address other than 0 in each of the two
	 * address columns.  If a column has no such address, its 'lowest' is ~0
	 * and its 'highest' is 0.
	 */
	uint64_t lowest[2], highest[2];
	uint8_t *tags;
	uint64_t *values[COLUMN_COUNT];
	uint8_t *bytes; /* all attributes and comments, one after the other */
};

/*
 * Allocate memory for 'cap' records.  Errors: HATF_NO_MEMORY.  Call
 * columns_fini() whatever the result.
 */
enum hatf_status columns_init(struct columns *c, size_t cap);
void columns_fini(struct columns *c);

/* Append a record with a tag of 0 to 10.  The columns must not be full. */
void columns_put(struct columns *c, const struct hatf_record *rec);

/* Are the columns full?  If so, the caller must not add a record. */
static inline bool
columns_are_full(const struct columns *c)
{
	return c->count == c->cap || c->bytes_used >= COLUMNS_BYTES_NBYTES;
}

/*
 * Choose the base for the addresses of the collected records.  Keep the present
 * base if it suits them, so that an address is stored as the same number as in
 * the sections or groups before.  Call this before columns_width().
 */
void columns_choose_base(struct columns *c);

/*
 * Return how many bytes each value of a column needs: 4, 8, or 0 if all values
 * are 0.
 */
unsigned columns_width(const struct columns *c, enum column column);

/*
 * Return the number that stands for the value of record 'idx' in a column that
 * is 'width' bytes wide.
 */
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

/* Remove all records.  Keep the base. */
void columns_reset(struct columns *c);

/*
 * Do 4 bytes suffice for addresses between 'lowest' and 'highest', relative to
 * 'base'?  The base itself must not be among them, because it would be stored
 * as 0, which stands for address 0.
 */
static inline bool
column_fits(uint64_t lowest, uint64_t highest, uint64_t base)
{
	return lowest > highest ||
	       (base < lowest && highest - base <= UINT32_MAX);
}

/*
 * Return a base for addresses between 'lowest' and 'highest'.  'base' is the
 * present base; 0: there is none yet.  Keep the present base if it suits the
 * addresses, as column_fits() says.  If it does not, change to the highest
 * multiple of 2^28 below 'lowest'.  Exception: if there is a present base, and
 * this multiple does not suit the addresses either, keep the present base.
 */
uint64_t column_choose_base(uint64_t lowest, uint64_t highest, uint64_t base);

#endif /* HATF_COLUMNS_H */
