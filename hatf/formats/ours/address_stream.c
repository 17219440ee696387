/* SPDX-License-Identifier: MIT */
/* address_stream.c - read address streams, see address_stream.h */
#include "hatf/formats/ours/address_stream.h"

#include "hatf/codec/bytes.h"
#include "hatf/formats/ours/columns.h"

#include <stdlib.h>

#define COUNT_NBYTES 4

/*
 * Read a number of 4 bytes.  Its bytes are in 4 planes of 'count' bytes each.
 * The first plane has the high bytes of all numbers.
 */
static inline uint32_t
planes(const uint8_t *p, size_t count)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[count] << 16 |
	       (uint32_t)p[2 * count] << 8 | p[3 * count];
}

static void
load_table(uint64_t *table, const uint8_t *p, size_t count)
{
	for (size_t i = 0; i < count; i++)
		table[i] = (uint64_t)planes(p + i, count) << 32 |
			   planes(p + 4 * count + i, count);
}

static void
load_narrow_table(uint64_t *table, const uint8_t *p, size_t count,
		  uint64_t base)
{
	for (size_t i = 0; i < count; i++)
		table[i] = column_address(planes(p + i, count), base);
}

/*
 * Return the table index of address 'i' of the piece.  The callers pass 'width'
 * and 'is_planes' as compile-time constants, so that their loops are fast.
 */
static inline __attribute__((always_inline)) uint32_t
number(const uint8_t *p, size_t count, size_t i, unsigned width, bool is_planes)
{
	const size_t step = is_planes ? count : 1;
	uint32_t n;

	p += is_planes ? i : i * width;
	n = p[0];
	if (width > 1)
		n = n << 8 | p[step];
	if (width > 2)
		n = n << 8 | p[2 * step];
	return n;
}

static inline __attribute__((always_inline)) uint32_t
highest(const struct address_stream *a, unsigned width, bool is_planes)
{
	uint32_t max = 0;

	for (size_t i = 0; i < a->count; i++) {
		const uint32_t n =
			number(a->stored, a->count, i, width, is_planes);

		max = n > max ? n : max;
	}
	return max;
}

static uint32_t
highest_number(const struct address_stream *a)
{
	const bool is_planes = a->form == ADDRESS_STREAM_PLANES;

	if (a->width == 1)
		return highest(a, 1, true);
	if (a->width == 2)
		return is_planes ? highest(a, 2, true) : highest(a, 2, false);
	return is_planes ? highest(a, 3, true) : highest(a, 3, false);
}

/*
 * Make room for 'count' entries of the table.  Return false if memory runs out.
 */
static bool
reserve_table(struct address_stream *a, uint32_t count)
{
	if (count > a->table_cap) {
		free(a->table);
		a->table = malloc(count * sizeof(*a->table));
		a->table_cap = a->table == NULL ? 0 : count;
	}
	return a->table != NULL || count == 0;
}

const char *
address_stream_load(struct address_stream *a, const struct piece *piece)
{
	const size_t nbytes = piece->nbytes;
	const bool is_narrow = (piece->form & ADDRESS_STREAM_NARROW) != 0;
	const size_t entry_nbytes = is_narrow ? 4 : 8;
	uint32_t table_count;

	a->count = a->next = 0;
	a->form = piece->form & ~ADDRESS_STREAM_NARROW;
	if (piece->form == 0) /* the group has no address piece */
		return NULL;
	if (a->form != ADDRESS_STREAM_PLANES &&
	    a->form != ADDRESS_STREAM_NUMBERS)
		return "form";
	if (piece->base != 0 && !is_narrow)
		return "base";
	if (nbytes < COUNT_NBYTES)
		return "length";
	table_count = get_be32(piece->bytes);
	if (table_count > (nbytes - COUNT_NBYTES) / entry_nbytes)
		return "table";

	const size_t stored_off = COUNT_NBYTES + entry_nbytes * table_count;

	a->width = address_stream_width(table_count);
	if ((nbytes - stored_off) % a->width != 0)
		return "length";
	a->count = (nbytes - stored_off) / a->width;
	a->stored = piece->bytes + stored_off;
	if (a->count != 0 && highest_number(a) >= table_count)
		return "number";
	if (!reserve_table(a, table_count))
		return "";
	if (is_narrow)
		load_narrow_table(a->table, piece->bytes + COUNT_NBYTES,
				  table_count, piece->base);
	else
		load_table(a->table, piece->bytes + COUNT_NBYTES, table_count);
	return NULL;
}

static inline __attribute__((always_inline)) void
take(const struct address_stream *a, uint64_t *out, size_t n, unsigned width,
     bool is_planes)
{
	const uint8_t *const stored = a->stored;
	const uint64_t *const table = a->table;
	const size_t count = a->count;
	const size_t next = a->next;

	for (size_t i = 0; i < n; i++)
		out[i] = table[number(stored, count, next + i, width,
				      is_planes)];
}

void
address_stream_take(struct address_stream *a, uint64_t *out, size_t n)
{
	const bool is_planes = a->form == ADDRESS_STREAM_PLANES;

	if (a->width == 1)
		take(a, out, n, 1, true);
	else if (a->width == 2 && is_planes)
		take(a, out, n, 2, true);
	else if (a->width == 2)
		take(a, out, n, 2, false);
	else if (is_planes)
		take(a, out, n, 3, true);
	else
		take(a, out, n, 3, false);
	a->next += n;
}

void
address_stream_fini(struct address_stream *a)
{
	free(a->table);
}
