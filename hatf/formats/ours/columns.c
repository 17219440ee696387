/* SPDX-License-Identifier: MIT */
/*
 * columns.c - see columns.h
 */
#include "hatf/formats/ours/columns.h"

#include <stdlib.h>
#include <string.h>

/*
 * A base is rounded down to a multiple of this number.  Most later addresses
 * are then above the base, so that the base suits these addresses, too.
 */
#define BASE_ALIGNMENT (UINT64_C(1) << 28)

const uint16_t column_offsets[COLUMN_LENGTH] = {
	[COLUMN_SIZE] = offsetof(struct hatf_record, size),
	[COLUMN_ADDRESS] = offsetof(struct hatf_record, address),
	[COLUMN_OLD_ADDRESS] = offsetof(struct hatf_record, old_address),
	[COLUMN_THREAD] = offsetof(struct hatf_record, thread),
	[COLUMN_HEAP] = offsetof(struct hatf_record, heap),
	[COLUMN_TIME] = offsetof(struct hatf_record, time),
};

#define ALL    UINT64_MAX
#define LENGTH UINT64_C(0xffff)

/* FORMAT "Records" specifies which fields a record of each tag has. */
const uint64_t column_mask[HATF_COMMENT + 1][COLUMN_COUNT] = {
	[HATF_ALLOC] = { ALL, ALL, 0, ALL, ALL, ALL, LENGTH },
	[HATF_FREE] = { 0, ALL, 0, ALL, ALL, ALL, LENGTH },
	[HATF_REALLOC_NO_ALLOC] = { ALL, ALL, ALL, ALL, ALL, ALL, LENGTH },
	[HATF_REALLOC_ALLOC_FREE] = { ALL, ALL, ALL, ALL, ALL, ALL, LENGTH },
	[HATF_REALLOC_ALLOC] = { ALL, ALL, ALL, ALL, ALL, ALL, LENGTH },
	[HATF_REALLOC_FREE] = { ALL, ALL, ALL, ALL, ALL, ALL, LENGTH },
	[HATF_CREATE_HEAP] = { 0, 0, 0, ALL, ALL, ALL, LENGTH },
	[HATF_DESTROY_HEAP] = { 0, 0, 0, ALL, ALL, ALL, LENGTH },
	[HATF_CREATE_THREAD] = { 0, 0, 0, ALL, 0, ALL, LENGTH },
	[HATF_DESTROY_THREAD] = { 0, 0, 0, ALL, 0, ALL, LENGTH },
	[HATF_COMMENT] = { LENGTH, 0, 0, 0, 0, 0, 0 },
};

const char *
column_name(enum column column)
{
	static const char *const names[COLUMN_COUNT] = {
		"size", "address", "old address", "thread",
		"heap", "time",	   "length",
	};

	return names[column];
}

enum hatf_status
columns_init(struct columns *c, size_t cap)
{
	bool complete;

	memset(c, 0, sizeof(*c));
	c->cap = cap;
	c->tags = malloc(cap);
	c->bytes = malloc(COLUMNS_BYTES_MAX);
	complete = c->tags != NULL && c->bytes != NULL;
	for (unsigned i = 0; i < COLUMN_COUNT; i++) {
		c->values[i] = calloc(cap, sizeof(*c->values[i]));
		complete &= c->values[i] != NULL;
	}
	columns_reset(c);
	return complete ? HATF_OK : HATF_NO_MEMORY;
}

void
columns_fini(struct columns *c)
{
	free(c->tags);
	free(c->bytes);
	for (unsigned i = 0; i < COLUMN_COUNT; i++)
		free(c->values[i]);
}

static void
put(struct columns *c, enum column column, uint64_t value)
{
	c->values[column][c->count] = value;
	c->any[column] |= value;
}

static void
put_address(struct columns *c, enum column column, uint64_t address)
{
	const unsigned i = column - COLUMN_ADDRESS;

	put(c, column, address);
	if (address == 0)
		return;
	if (address < c->lowest[i])
		c->lowest[i] = address;
	if (address > c->highest[i])
		c->highest[i] = address;
}

void
columns_put(struct columns *c, const struct hatf_record *rec)
{
	const uint64_t *const mask = column_mask[rec->tag];
	const bool is_comment = rec->tag == HATF_COMMENT;
	const uint32_t nbytes = rec->attributes_nbytes;

	c->tags[c->count] = rec->tag;
	put(c, COLUMN_SIZE,
	    is_comment ? nbytes : rec->size & mask[COLUMN_SIZE]);
	put_address(c, COLUMN_ADDRESS, rec->address & mask[COLUMN_ADDRESS]);
	put_address(c, COLUMN_OLD_ADDRESS,
		    rec->old_address & mask[COLUMN_OLD_ADDRESS]);
	put(c, COLUMN_THREAD, rec->thread & mask[COLUMN_THREAD]);
	put(c, COLUMN_HEAP, rec->heap & mask[COLUMN_HEAP]);
	put(c, COLUMN_TIME, rec->time & mask[COLUMN_TIME]);
	put(c, COLUMN_LENGTH, nbytes & mask[COLUMN_LENGTH]);
	if (nbytes != 0)
		memcpy(c->bytes + c->bytes_used, rec->attributes, nbytes);
	c->bytes_used += nbytes;
	c->count++;
}

uint64_t
column_choose_base(uint64_t lowest, uint64_t highest, uint64_t base)
{
	const uint64_t other = (lowest - 1) & ~(BASE_ALIGNMENT - 1);

	if (column_fits(lowest, highest, base))
		return base;
	/*
	 * If there is no base yet, return a base that suits the lowest
	 * addresses, even if it does not suit the highest.  The lowest
	 * addresses are usually in memory from brk(), the highest in memory
	 * from mmap().
	 */
	return base == 0 || column_fits(lowest, highest, other) ? other : base;
}

void
columns_choose_base(struct columns *c)
{
	const uint64_t *const low = c->lowest;
	const uint64_t *const high = c->highest;

	c->base = column_choose_base(low[0] < low[1] ? low[0] : low[1],
				     high[0] > high[1] ? high[0] : high[1],
				     c->base);
}

unsigned
columns_width(const struct columns *c, enum column column)
{
	const unsigned i = column - COLUMN_ADDRESS;

	if (c->any[column] == 0)
		return 0;
	if (column == COLUMN_ADDRESS || column == COLUMN_OLD_ADDRESS)
		return column_fits(c->lowest[i], c->highest[i], c->base) ? 4
									 : 8;
	return c->any[column] > UINT32_MAX ? 8 : 4;
}

void
columns_reset(struct columns *c)
{
	c->count = c->bytes_used = 0;
	for (unsigned i = 0; i < 2; i++) {
		c->lowest[i] = UINT64_MAX;
		c->highest[i] = 0;
	}
	memset(c->any, 0, sizeof(c->any));
}
