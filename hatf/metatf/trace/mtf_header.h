/* SPDX-License-Identifier: MIT */
/*
 * mtf_header.h - the header of a Meta-TF trace (appendix B)
 *
 *	offset	bytes
 *	     0	4	magic "\177MTF"
 *	     4	1	class: 1, numbers of 4 bytes; 2, of 8 bytes
 *	     5	1	byte order: 1 little-endian, 2 big-endian
 *	     6	1	length of the DTD's name
 *	     7	1	1: each section listed below is a gzip stream; else 0
 *	     8	8	zeros
 *	    16	n	number of sections
 *		n	start of the records
 *		n	number of data records; all ones: an incomplete trace
 *		...	the DTD's name
 *		3n	for each section its number, start and size
 *
 * n is 4 or 8.  The class and the byte order hold for the whole trace.  A start
 * is an offset in the file.  A section of number 0 is the text of the DTD; a
 * trace with this section needs no other file.
 */
#ifndef HATF_MTF_HEADER_H
#define HATF_MTF_HEADER_H

#include "hatf/metatf/trace/mtf_error.h"

#include <stddef.h>

enum mtf_class {
	MTF_32_BIT = 1,
	MTF_64_BIT = 2,
};

enum mtf_byte_order {
	MTF_LITTLE_ENDIAN = 1,
	MTF_BIG_ENDIAN = 2,
};

/* The section that holds the DTD. */
#define MTF_DTD_SECTION 0

#define MTF_MAX_SECTIONS 256

/* Maximum length of a header, in bytes. */
#define MTF_HEADER_MAX_NBYTES (16 + 3 * 8 + 255 + MTF_MAX_SECTIONS * 24)

/* Value of 'record_count' if the writer was interrupted. */
#define MTF_UNFINISHED UINT64_MAX

struct mtf_section_entry {
	uint64_t number, start, nbytes;
	bool is_cut; /* when reading: the file ends before the section does */
};

struct mtf_header {
	enum mtf_class class;
	enum mtf_byte_order byte_order;
	bool is_compressed;
	/* the file ends before 'start', or before the end of a section */
	bool is_cut;
	uint64_t start;	       /* offset of the records */
	uint64_t record_count; /* number of data records, or MTF_UNFINISHED */
	char dtd_name[256];
	unsigned section_count;
	struct mtf_section_entry sections[MTF_MAX_SECTIONS];
};

/*
 * Read a header from 'bytes', the first 'nbytes' bytes of a file of
 * 'file_nbytes' bytes.  If the file ends before a section does, shorten the
 * section to end with the file, and set 'is_cut' of the header and of the
 * section's entry.  If the header is invalid, set '*err' and return false.
 */
bool mtf_header_read(struct mtf_header *h, const uint8_t *bytes, size_t nbytes,
		     uint64_t file_nbytes, struct mtf_error *err);

/* Write a header to 'bytes' and return its length. */
size_t mtf_header_write(const struct mtf_header *h,
			uint8_t bytes[MTF_HEADER_MAX_NBYTES]);

/* Return the length of a header. */
size_t mtf_header_nbytes(const struct mtf_header *h);

/* Return the entry of a section, or NULL. */
const struct mtf_section_entry *mtf_header_section(const struct mtf_header *h,
						   unsigned number);

/* Read or write a number of 'width' bytes, 0 to 8. */
uint64_t mtf_get(const uint8_t *bytes, unsigned width,
		 enum mtf_byte_order order);
void mtf_put(uint8_t *bytes, unsigned width, enum mtf_byte_order order,
	     uint64_t n);

#endif /* HATF_MTF_HEADER_H */
