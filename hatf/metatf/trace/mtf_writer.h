/* SPDX-License-Identifier: MIT */
/*
 * mtf_writer.h - write a Meta-TF trace by its schema
 *
 * The writer writes each section to a temporary file, and puts the sections
 * together at the end, so records of different sections may be written
 * alternately.  A writer needs a byte_sink for each section.  Used by one
 * thread at a time.
 */
#ifndef HATF_MTF_WRITER_H
#define HATF_MTF_WRITER_H

#include "hatf/metatf/schema.h"
#include "hatf/metatf/trace/mtf_error.h"
#include "hatf/metatf/trace/mtf_header.h"
#include "hatf/metatf/trace/mtf_reader.h"

struct mtf_writer_options {
	enum mtf_class class;
	enum mtf_byte_order byte_order;
	bool is_compressed; /* gzip each section, except the global one */
	/* level of zlib, 1 to 9; any other number means 9 */
	int level;
	const char *dtd_name; /* name of the DTD, at most 255 bytes */
	/* text of the DTD, to include in the trace; or NULL */
	const char *dtd_text;
	size_t dtd_nbytes;
};

struct mtf_writer;

/*
 * Begin a trace in 'fd', which the caller closes.  The schema and the strings
 * of '*options' must outlive the writer.  Return NULL and set errno if there is
 * no memory.
 */
struct mtf_writer *mtf_writer_open(int fd, const struct schema *schema,
				   const struct mtf_writer_options *options);

/*
 * Write a record of a section.  'values' has the same order as in struct
 * mtf_record.  The writer ignores the value of the tag, and the value of each
 * field whose value the DTD gives.  If a field cannot represent its value at
 * present, the writer first writes metadata that changes the field's width,
 * sets its interpretation to "none", or does both.  In a plain section, which
 * has no metadata, such a value is an error.  Return false if the values do not
 * fit the record, or on failure.
 */
bool mtf_writer_put(struct mtf_writer *w, const struct schema_section *section,
		    const struct schema_record *record,
		    const struct mtf_value *values, size_t value_count);

/*
 * Write metadata for a field of 'record'.  If 'property' is 0, the metadata
 * sets the field's width.  Otherwise, it sets the field's interpretation to
 * 'property', an enum dtd_interpretation.  Return false if the metadata is
 * illegal, or on failure.
 */
bool mtf_writer_set(struct mtf_writer *w, const struct schema_section *section,
		    const struct schema_record *record, uint32_t field,
		    unsigned property, const uint64_t args[2]);

/* Write a comment of at most 255 bytes to a section. */
bool mtf_writer_comment(struct mtf_writer *w,
			const struct schema_section *section, const char *text,
			size_t nbytes);

/*
 * Continue with another schema.  It must have the same sections, which may have
 * more own records (schema.h) after the old ones.  'dtd_text' replaces the
 * member 'dtd_text' of the options.  The new schema and text must outlive the
 * writer; the caller may free the old ones.  Return false, and let the writer
 * fail, in these cases:
 *
 * - There is no memory.
 * - The number of sections or the width of tags has changed.
 * - In a section that the writer has begun, an old own record is missing, or
 *   now has another tag or other fields.
 */
bool mtf_writer_extend(struct mtf_writer *w, const struct schema *schema,
		       const char *dtd_text, size_t dtd_nbytes);

/* Return how a field is stored at present; NULL if the writer has failed. */
struct field_state;
const struct field_state *mtf_writer_state(struct mtf_writer *w,
					   const struct schema_section *section,
					   const struct schema_record *record,
					   uint32_t field);

/* Return the error that stopped the writer, or NULL. */
const struct mtf_error *mtf_writer_error(const struct mtf_writer *w);

/* Assemble the trace and write it to 'fd'.  Return false on failure. */
bool mtf_writer_finish(struct mtf_writer *w);
void mtf_writer_close(struct mtf_writer *w);

#endif /* HATF_MTF_WRITER_H */
