/* SPDX-License-Identifier: MIT */
/*
 * address_stream_write.c - write address streams, see address_stream.h
 *
 * Addresses are numbered in the order of their first use.  Which of the two
 * forms of numbers compresses better depends on the program, so a writer that
 * compresses tries both on a sample of the group.
 */
#include "hatf/formats/ours/address_stream.h"

#include "hatf/codec/bytes.h"
#include "hatf/formats/ours/columns.h"

#include <stdlib.h>

/*
 * log2 of the number of slots.  There are at least twice as many slots as
 * addresses.
 */
#define SLOT_SHIFT 19
#define SLOT_COUNT ((size_t)1 << SLOT_SHIFT)

#define PIECE_NBYTES (4 + ADDRESS_STREAM_MAX * (8 + 3))
_Static_assert(PIECE_NBYTES <= GROUP_PIECE_MAX,
	       "readers refuse a longer piece");

/*
 * Maximum count of numbers in the sample.  A longer sample would not help,
 * because deflate finds repetition only within 32 KiB, and this many numbers of
 * 2 bytes fill 32 KiB.
 */
#define SAMPLE 16384

enum hatf_status
address_stream_writer_init(struct address_stream_writer *l)
{
	memset(l, 0, sizeof(*l));
	l->values = malloc(ADDRESS_STREAM_MAX * sizeof(*l->values));
	l->numbers = malloc(ADDRESS_STREAM_MAX * sizeof(*l->numbers));
	l->table = malloc(ADDRESS_STREAM_MAX * sizeof(*l->table));
	l->slots = malloc(SLOT_COUNT * sizeof(*l->slots));
	l->stored = malloc(PIECE_NBYTES);
	if (l->values == NULL || l->numbers == NULL || l->table == NULL ||
	    l->slots == NULL || l->stored == NULL)
		return HATF_NO_MEMORY;
	return HATF_OK;
}

void
address_stream_writer_fini(struct address_stream_writer *l)
{
	free(l->values);
	free(l->numbers);
	free(l->table);
	free(l->slots);
	free(l->stored);
}

/*
 * Put each different address into 'table' once, and store the table index of
 * each address in 'numbers'.  Return the number of table entries.
 */
static uint32_t
number_all(struct address_stream_writer *l)
{
	uint32_t count = 0;

	memset(l->slots, 0, SLOT_COUNT * sizeof(*l->slots));
	for (size_t i = 0; i < l->count; i++) {
		const uint64_t address = l->values[i];
		size_t slot = address * UINT64_C(0x9e3779b97f4a7c15) >>
			      (64 - SLOT_SHIFT);

		while (l->slots[slot] != 0 &&
		       l->table[l->slots[slot] - 1] != address)
			slot = (slot + 1) % SLOT_COUNT;
		if (l->slots[slot] == 0) {
			l->table[count] = address;
			l->slots[slot] = ++count;
		}
		l->numbers[i] = l->slots[slot] - 1;
	}
	return count;
}

/* Store 'count' numbers of 'width' bytes at 'p'.  Return the bytes used. */
static size_t
put_numbers(const uint32_t *numbers, size_t count, unsigned width,
	    enum address_stream_form form, uint8_t *p)
{
	const size_t step = form == ADDRESS_STREAM_PLANES ? count : 1;
	const size_t stride = form == ADDRESS_STREAM_PLANES ? 1 : width;

	for (unsigned j = 0; j < width; j++) {
		uint8_t *const to = p + j * step;
		const unsigned shift = 8 * (width - 1 - j);

		for (size_t i = 0; i < count; i++)
			to[i * stride] = (uint8_t)(numbers[i] >> shift);
	}
	return count * width;
}

/*
 * Return the form with which a sample of the table indices compresses better.
 * Without compression, return ADDRESS_STREAM_PLANES.
 */
static enum address_stream_form
choose_form(struct address_stream_writer *l, const struct sink *s,
	    struct gzip_members *pack, unsigned width)
{
	const size_t count = l->count < SAMPLE ? l->count : SAMPLE;
	const uint32_t *const numbers = l->numbers + (l->count - count) / 2;
	size_t nbytes[2];

	if (s->options.plain)
		return ADDRESS_STREAM_PLANES;
	for (unsigned i = 0; i < 2; i++)
		nbytes[i] = gzip_members_pack(
			pack, group_level(s), l->stored,
			put_numbers(numbers, count, width,
				    ADDRESS_STREAM_PLANES + i, l->stored));
	return ADDRESS_STREAM_PLANES + (nbytes[1] < nbytes[0]);
}

/*
 * Choose the base of the table.  Return false if the table needs entries of 8
 * bytes.
 */
static bool
choose_base(struct address_stream_writer *l, uint32_t count)
{
	uint64_t lowest = UINT64_MAX;
	uint64_t highest = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t address = l->table[i];

		if (address != 0 && address < lowest)
			lowest = address;
		if (address > highest)
			highest = address;
	}
	l->base = column_choose_base(lowest, highest, l->base);
	return column_fits(lowest, highest, l->base);
}

/* Store the table at 'p'.  Return the position after it. */
static uint8_t *
put_table(const struct address_stream_writer *l, uint32_t count, bool is_narrow,
	  uint8_t *p)
{
	for (unsigned shift = is_narrow ? 32 : 64; shift > 0; shift -= 8)
		for (uint32_t i = 0; i < count; i++) {
			const uint64_t address = l->table[i];
			const uint64_t from =
				is_narrow && address != 0 ? l->base : 0;

			*p++ = (uint8_t)((address - from) >> (shift - 8));
		}
	return p;
}

void
address_stream_writer_put(struct address_stream_writer *l, struct sink *s,
			  struct gzip_members *pack, unsigned stream)
{
	const uint32_t count = number_all(l);
	const unsigned width = address_stream_width(count);
	const enum address_stream_form form = choose_form(l, s, pack, width);
	const bool is_narrow = choose_base(l, count);
	uint8_t *p = l->stored;

	put_be32(p, count);
	p = put_table(l, count, is_narrow, p + 4);
	p += put_numbers(l->numbers, l->count, width, form, p);
	group_put_piece(
		s, pack, stream, form | (is_narrow ? ADDRESS_STREAM_NARROW : 0),
		is_narrow ? l->base : 0, l->stored, (size_t)(p - l->stored));
	l->count = 0;
}
