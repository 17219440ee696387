/* SPDX-License-Identifier: MIT */
/*
 * mtf_reader.h - read a Meta-TF trace by its schema
 *
 * Records come in the order of the file.  A section that other records take
 * numbers from (sectionStride) is a column: it is read beside them, and its
 * records are not records of the trace.
 *
 * Memory is two buffers for each section that is read at the same time, and
 * what the largest record needs, at most MTF_MAX_RECORD_NBYTES.  Used by one
 * thread at a time.
 */
#ifndef HATF_MTF_READER_H
#define HATF_MTF_READER_H

#include "hatf/metatf/schema.h"
#include "hatf/metatf/trace/mtf_error.h"
#include "hatf/metatf/trace/mtf_header.h"

/* How many numbers and bytes a record may have: a limit on memory. */
#define MTF_MAX_VALUES	      ((size_t)1 << 20)
#define MTF_MAX_RECORD_NBYTES ((size_t)64 << 20)

/* The value of a field. */
struct mtf_value {
	uint64_t number;      /* of bytes: how many */
	const uint8_t *bytes; /* NULL: a number */
};

struct mtf_record {
	const struct schema_section *section;
	const struct schema_record *type;
	/*
	 * A value for each field in the order of type->steps; what is repeated
	 * comes as often as the count says.  Of a metadata record: the tag,
	 * record, field, property and its arguments.  Valid until the next
	 * record is read.
	 */
	const struct mtf_value *values;
	size_t value_count;
	uint64_t position; /* in the file, or in a compressed section */
	uint64_t index;	   /* data records before it */
};

struct mtf_reader;

/*
 * Read the header of a file.  False: '*err' is set; its text says "not a
 * Meta-TF trace" if the magic is missing.
 */
bool mtf_read_header(int fd, struct mtf_header *h, struct mtf_error *err);

/*
 * Return the text of the DTD that a trace contains, to be freed, or NULL: the
 * trace has none, or '*err' is set.
 */
char *mtf_read_dtd(int fd, const struct mtf_header *h, size_t *nbytes_ret,
		   struct mtf_error *err);

/*
 * Read the records of 'fd', whose header and schema are given; all three
 * must outlive the reader.  NULL: no memory.
 */
struct mtf_reader *mtf_reader_open(int fd, const struct mtf_header *h,
				   const struct schema *schema);
void mtf_reader_close(struct mtf_reader *r);

/* Read the next record.  False: the end, or mtf_reader_error() is not NULL. */
bool mtf_reader_next(struct mtf_reader *r, struct mtf_record *record);

/* Return what stopped the reader, or NULL. */
const struct mtf_error *mtf_reader_error(const struct mtf_reader *r);

#endif /* HATF_MTF_READER_H */
