/* SPDX-License-Identifier: MIT */
/* mtf_header.c - see mtf_header.h */
#include "hatf/metatf/trace/mtf_header.h"

#include <string.h>

#define FIXED_NBYTES 16

static const uint8_t magic[4] = { 0x7f, 'M', 'T', 'F' };

uint64_t
mtf_get(const uint8_t *bytes, unsigned width, enum mtf_byte_order order)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < width; i++)
		n = n << 8 | bytes[order == MTF_BIG_ENDIAN ? i : width - 1 - i];
	return n;
}

void
mtf_put(uint8_t *bytes, unsigned width, enum mtf_byte_order order, uint64_t n)
{
	for (unsigned i = 0; i < width; i++) {
		bytes[order == MTF_BIG_ENDIAN ? width - 1 - i : i] = (uint8_t)n;
		n >>= 8;
	}
}

static unsigned
int_nbytes(const struct mtf_header *h)
{
	return h->class == MTF_32_BIT ? 4 : 8;
}

size_t
mtf_header_nbytes(const struct mtf_header *h)
{
	return FIXED_NBYTES + 3 * int_nbytes(h) + strlen(h->dtd_name) +
	       (size_t)h->section_count * 3 * int_nbytes(h);
}

const struct mtf_section_entry *
mtf_header_section(const struct mtf_header *h, unsigned number)
{
	for (unsigned i = 0; i < h->section_count; i++)
		if (h->sections[i].number == number)
			return &h->sections[i];
	return NULL;
}

/* ------------------------------------------------------------------ reading */

/*
 * Read the first FIXED_NBYTES bytes, which have the same layout in both
 * classes.
 */
static bool
read_fixed(struct mtf_header *h, const uint8_t *bytes, size_t nbytes,
	   struct mtf_error *err)
{
	static const uint8_t zeros[8];

	if (nbytes >= sizeof(magic) && nbytes < FIXED_NBYTES &&
	    memcmp(bytes, magic, sizeof(magic)) == 0)
		return mtf_fail(err, nbytes, MTF_NOWHERE,
				"the file ends inside the header");
	if (nbytes < FIXED_NBYTES || memcmp(bytes, magic, sizeof(magic)) != 0)
		return mtf_fail(err, MTF_NOWHERE, MTF_NOWHERE,
				"not a Meta-TF trace");
	if (bytes[4] != MTF_32_BIT && bytes[4] != MTF_64_BIT)
		return mtf_fail(err, 4, MTF_NOWHERE,
				"header: class is %u, not 1 or 2", bytes[4]);
	if (bytes[5] != MTF_LITTLE_ENDIAN && bytes[5] != MTF_BIG_ENDIAN)
		return mtf_fail(err, 5, MTF_NOWHERE,
				"header: byte order is %u, not 1 or 2",
				bytes[5]);
	if (bytes[7] > 1)
		return mtf_fail(err, 7, MTF_NOWHERE,
				"header: compression is %u, not 0 or 1",
				bytes[7]);
	if (memcmp(bytes + 8, zeros, sizeof(zeros)) != 0)
		return mtf_fail(err, 8, MTF_NOWHERE,
				"header: a reserved byte is not 0");
	h->class = bytes[4];
	h->byte_order = bytes[5];
	h->is_compressed = bytes[7] == 1;
	return true;
}

/*
 * Check 'e', the entry of a section at 'offset' in the header.  If the file
 * ends before the section does, shorten the section to end with the file.
 */
static bool
check_entry(struct mtf_header *h, struct mtf_section_entry *e, uint64_t offset,
	    uint64_t file_nbytes, struct mtf_error *err)
{
	if (e->number > UINT8_MAX)
		return mtf_fail(err, offset, MTF_NOWHERE,
				"header: the number of a section exceeds 255");
	for (const struct mtf_section_entry *f = h->sections; f != e; f++)
		if (f->number == e->number)
			return mtf_fail(err, offset, MTF_NOWHERE,
					"header: section %u is listed twice",
					(unsigned)e->number);
	if (e->start > file_nbytes || e->nbytes > file_nbytes - e->start) {
		h->is_cut = e->is_cut = true;
		if (e->start > file_nbytes)
			e->start = file_nbytes;
		e->nbytes = file_nbytes - e->start;
	}
	return true;
}

static bool
read_sections(struct mtf_header *h, const uint8_t *bytes, size_t nbytes,
	      size_t at, uint64_t file_nbytes, struct mtf_error *err)
{
	const unsigned width = int_nbytes(h);

	if (h->section_count > (nbytes - at) / (3 * (size_t)width))
		return mtf_fail(err, nbytes, MTF_NOWHERE,
				"the file ends inside the header");
	for (unsigned i = 0; i < h->section_count; i++, at += 3 * width) {
		struct mtf_section_entry *const e = &h->sections[i];

		e->number = mtf_get(bytes + at, width, h->byte_order);
		e->start = mtf_get(bytes + at + width, width, h->byte_order);
		e->nbytes =
			mtf_get(bytes + at + 2 * width, width, h->byte_order);
		if (!check_entry(h, e, at, file_nbytes, err))
			return false;
	}
	return true;
}

bool
mtf_header_read(struct mtf_header *h, const uint8_t *bytes, size_t nbytes,
		uint64_t file_nbytes, struct mtf_error *err)
{
	size_t at = FIXED_NBYTES, name_nbytes;
	uint64_t count;
	unsigned width;

	*h = (struct mtf_header){ 0 };
	if (!read_fixed(h, bytes, nbytes, err))
		return false;
	width = int_nbytes(h);
	name_nbytes = bytes[6];
	if (nbytes - at < 3 * width + name_nbytes)
		return mtf_fail(err, nbytes, MTF_NOWHERE,
				"the file ends inside the header");
	count = mtf_get(bytes + at, width, h->byte_order);
	h->start = mtf_get(bytes + at + width, width, h->byte_order);
	h->record_count = mtf_get(bytes + at + 2 * width, width, h->byte_order);
	if (width == 4 && h->record_count == UINT32_MAX)
		h->record_count = MTF_UNFINISHED;
	if (count > MTF_MAX_SECTIONS)
		return mtf_fail(err, at, MTF_NOWHERE,
				"header: more than %d sections",
				MTF_MAX_SECTIONS);
	if (h->start > file_nbytes) {
		h->start = file_nbytes;
		h->is_cut = true;
	}
	h->section_count = (unsigned)count;
	at += 3 * width;
	memcpy(h->dtd_name, bytes + at, name_nbytes);
	return read_sections(h, bytes, nbytes, at + name_nbytes, file_nbytes,
			     err);
}

/* ------------------------------------------------------------------ writing */

size_t
mtf_header_write(const struct mtf_header *h,
		 uint8_t bytes[MTF_HEADER_MAX_NBYTES])
{
	const unsigned width = int_nbytes(h);
	const size_t name_nbytes = strlen(h->dtd_name);
	uint8_t *next = bytes + FIXED_NBYTES;
	const uint64_t counts[3] = { h->section_count, h->start,
				     h->record_count };

	memset(bytes, 0, FIXED_NBYTES);
	memcpy(bytes, magic, sizeof(magic));
	bytes[4] = (uint8_t)h->class;
	bytes[5] = (uint8_t)h->byte_order;
	bytes[6] = (uint8_t)name_nbytes;
	bytes[7] = h->is_compressed;
	for (unsigned i = 0; i < 3; i++, next += width)
		mtf_put(next, width, h->byte_order, counts[i]);
	memcpy(next, h->dtd_name, name_nbytes);
	next += name_nbytes;
	for (unsigned i = 0; i < h->section_count; i++, next += 3 * width) {
		const struct mtf_section_entry *const e = &h->sections[i];

		mtf_put(next, width, h->byte_order, e->number);
		mtf_put(next + width, width, h->byte_order, e->start);
		mtf_put(next + 2 * width, width, h->byte_order, e->nbytes);
	}
	return (size_t)(next - bytes);
}
