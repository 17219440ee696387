/* SPDX-License-Identifier: MIT */
/*
 * mtf_reader.h - read a Meta-TF trace by its schema
 *
 * Records come in the order of the file.  A section from which other records
 * take numbers (sectionStride) is a column.  The reader reads a number of a
 * column when a record takes that number, and does not return the records of
 * the column.
 *
 * A reader has a byte_source for each section that it has begun and not ended,
 * and memory for the values and bytes of the largest record (MTF_MAX_VALUES,
 * MTF_MAX_RECORD_NBYTES).  Used by one thread at a time.
 */
#ifndef HATF_MTF_READER_H
#define HATF_MTF_READER_H

#include "hatf/metatf/schema.h"
#include "hatf/metatf/trace/mtf_error.h"
#include "hatf/metatf/trace/mtf_header.h"

/* Maximum numbers of values and of bytes in a record, to limit memory. */
#define MTF_MAX_VALUES	      ((size_t)1 << 20)
#define MTF_MAX_RECORD_NBYTES ((size_t)64 << 20)

/*
 * The text of the error if the records, values and bytes of a trace are
 * together more than the length of its file allows (FORMATS "Limits").
 */
#define MTF_TOO_MANY "too many values for the length of the file"
/*
 * In a plain section (without tags): maximum number of consecutive records that
 * take no byte of the section and no number of a column.
 */
#define MTF_MAX_EMPTY ((size_t)1 << 16)

/* The value of a field. */
struct mtf_value {
	uint64_t number;      /* the number; for bytes, their count */
	const uint8_t *bytes; /* NULL if the value is a number */
};

struct mtf_record {
	const struct schema_section *section;
	const struct schema_record *type;
	/*
	 * The values of the fields, in the order of type->steps.  A repeated
	 * field has several values, as many as its count field says.  A
	 * metadata record has these values: its own tag, the tag of the records
	 * that it changes, the field, the property and the arguments of the
	 * property.  The array is valid until the next call of
	 * mtf_reader_next().
	 */
	const struct mtf_value *values;
	size_t value_count;
	uint64_t position; /* offset in the file, or in a compressed section */
	uint64_t index;	   /* number of data records before this one */
};

struct mtf_reader;

/*
 * Read the header of a file.  On failure, set '*err' and return false.  If the
 * magic number is missing, the text of the error is "not a Meta-TF trace".
 */
bool mtf_read_header(int fd, struct mtf_header *h, struct mtf_error *err);

/*
 * Return the text of the DTD in a trace; the caller frees the text.  If the
 * trace contains no DTD, return NULL, and set err->has_failed to false.  On
 * failure, set '*err' and return NULL.
 */
char *mtf_read_dtd(int fd, const struct mtf_header *h, size_t *nbytes_ret,
		   struct mtf_error *err);

/*
 * Open a reader for 'fd' with its header and schema, all of which must outlive
 * the reader.  Return NULL if there is no memory, or if the file is shorter
 * than h->start.
 */
struct mtf_reader *mtf_reader_open(int fd, const struct mtf_header *h,
				   const struct schema *schema);
void mtf_reader_close(struct mtf_reader *r);

/*
 * Apply the limit of MTF_TOO_MANY as if the file had 'nbytes' bytes.  Call this
 * if the file is the unpacked copy of a file of 'nbytes' bytes.
 */
void mtf_reader_limit(struct mtf_reader *r, uint64_t nbytes);

/*
 * Read the next record.  Return false at the end of the trace or on an error.
 * At the end, mtf_reader_error() returns NULL.
 */
bool mtf_reader_next(struct mtf_reader *r, struct mtf_record *record);

/* Return the error that stopped the reader, or NULL. */
const struct mtf_error *mtf_reader_error(const struct mtf_reader *r);

#endif /* HATF_MTF_READER_H */
