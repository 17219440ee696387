/* SPDX-License-Identifier: MIT */
/*
 * schema.h - what a DTD means: the records and fields of a trace
 *
 * schema_open() resolves the names of a DTD and checks it.  The result lists,
 * for each section, the records that may occur in it, and for each record its
 * fields in the order of the trace.  Readers, writers and generators work with
 * the schema alone.
 *
 * A schema is not changed after schema_open(), so several threads may read it.
 */
#ifndef HATF_SCHEMA_H
#define HATF_SCHEMA_H

#include "hatf/metatf/dtd.h"

/* Limits, so that an untrusted DTD cannot take much memory. */
#define SCHEMA_MAX_FIELDS     1024	 /* fields of a record */
#define SCHEMA_MAX_ALL_FIELDS (1u << 18) /* fields of all records */
#define SCHEMA_MAX_WIDTH      (1u << 20) /* width of a field, in bytes */

/*
 * Number of the global section: the records of a trace before its first section
 * record.
 */
#define SCHEMA_GLOBAL 0

/* Index that stands for no field. */
#define SCHEMA_NO_FIELD UINT32_MAX

/*
 * A field that holds a number or bytes: a leaf of the tree that the DTD
 * describes.  Its index in the record, from 0, is the field's number in
 * metadata records.
 */
struct schema_field {
	const char *name; /* as in the DTD */
	bool is_tag;
	/*
	 * The field holds bytes, because its width is above 8 or another field
	 * gives the width.  All other fields are numbers.
	 */
	bool is_bytes;
	/*
	 * Width in bytes.  For a field of bytes, it is valid only if
	 * 'width_from' is SCHEMA_NO_FIELD.
	 */
	uint32_t width;
	/* Index of the field whose value is the width, or SCHEMA_NO_FIELD. */
	uint32_t width_from;
	enum dtd_interpretation interpretation;
	uint64_t args[2];
	/*
	 * true: in each record, the value of this field must equal the value of
	 * the field 'value_from' or, if 'value_from' is SCHEMA_NO_FIELD, the
	 * number 'value'
	 */
	bool has_value;
	uint64_t value;
	/*
	 * index of the field that must have the same value, or SCHEMA_NO_FIELD
	 */
	uint32_t value_from;
	/*
	 * The interpretations delta and stride add to a previous value.  All
	 * fields of a section whose interpretation comes from the same property
	 * of the DTD share one previous value.  'history' is the index of this
	 * value in the section, from 0.
	 */
	uint32_t history;
	struct dtd_place place;
};

enum schema_step_kind {
	STEP_FIELD,  /* a number or bytes */
	STEP_NESTED, /* the fields of a nested record, up to 'end' */
	/*
	 * The steps up to 'end', repeated as often as the value of the field
	 * 'field' says.
	 */
	STEP_REPEAT,
};

/*
 * A node of the tree of a record's fields.  The array 'steps' of a record has
 * the nodes in depth-first order.  The first line below is from a DTD, and the
 * other lines show its steps:
 *
 *	(tag, n, n*(address, line), name : vfield)
 *
 *	FIELD tag, FIELD n, REPEAT n [ FIELD address, FIELD line ],
 *	NESTED name [ FIELD length, FIELD data ]
 */
struct schema_step {
	enum schema_step_kind kind;
	/*
	 * The name is unique among the names of the sibling steps: the second
	 * field "address" is "address_2".  A STEP_REPEAT that repeats one field
	 * or record has the name of this field or record.  A STEP_REPEAT that
	 * repeats a group has the name of the count, followed by "_items".
	 */
	const char *name;
	/* STEP_FIELD: index of the field; STEP_REPEAT: index of the count */
	uint32_t field;
	/* STEP_NESTED, STEP_REPEAT: index after the last inner step. */
	uint32_t end;
	bool is_scalar; /* STEP_REPEAT: the step repeats one field */
};

enum schema_role {
	ROLE_DATA,
	ROLE_COMMENT,
	ROLE_SECTION,
	ROLE_METADATA,
};

struct schema_record {
	const char *name;
	enum schema_role role;
	bool has_tag; /* false only for the record of a section without tags */
	uint64_t tag;
	struct schema_field *fields;
	uint32_t field_count;
	struct schema_step *steps;
	uint32_t step_count;
	/* Index of the record's first field among all fields of the section. */
	uint32_t first_field;
	struct dtd_place place;
	const char *comment; /* the DTD's comment before the record, or NULL */
};

struct schema_section {
	const char *name; /* "" for the global section */
	uint8_t number;
	/*
	 * First the section's own records, then those of the global section,
	 * then the predefined records comment, section and metadata.  A section
	 * without tags has only one record, its own.
	 */
	struct schema_record *records;
	uint32_t record_count;
	/* number of the section's own records; 0 in the global section */
	uint32_t own_count;
	bool is_plain; /* the section has no tags */
	/* A field with sectionStride takes its numbers from this section. */
	bool is_column;
	uint32_t field_count, history_count;
};

struct schema {
	uint32_t tag_width; /* width of a tag in bytes, 1 to 4 */
	/* first the global section, then the others in the order of the DTD */
	struct schema_section *sections;
	uint32_t section_count;
};

/*
 * schema_open() calls this function for each harmless peculiarity of a DTD,
 * such as an unused property.
 */
typedef void schema_note(void *ctx, struct dtd_place place, const char *text);

/*
 * Make the schema of 'dtd', which must outlive the schema.  'note' may be NULL.
 * On failure, return NULL and describe the error in '*err'.
 */
struct schema *schema_open(const struct dtd *dtd, schema_note *note, void *ctx,
			   struct dtd_error *err);
void schema_close(struct schema *schema);

/*
 * Can a field with sectionStride take its numbers from this section?  The
 * section must have exactly one record of its own.  Besides the tag, this
 * record must have exactly one field: a number that is not repeated and does
 * not have the interpretation sectionStride.
 */
bool schema_has_elements(const struct schema_section *section);

/* Return a section by its number or name, or NULL. */
const struct schema_section *schema_section(const struct schema *schema,
					    unsigned number);
const struct schema_section *schema_section_named(const struct schema *schema,
						  const char *name);

/* Return a record of a section by its tag or name, or NULL. */
const struct schema_record *schema_record(const struct schema_section *section,
					  uint64_t tag);
const struct schema_record *
schema_record_named(const struct schema_section *section, const char *name);

#endif /* HATF_SCHEMA_H */
