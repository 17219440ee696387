/* SPDX-License-Identifier: MIT */
/*
 * dtd.h - a document type definition (DTD) of Meta-TF, as it is written
 *
 * A DTD describes a trace format (Chilimbi, Jones, Zorn, ISMM 2000, section 4
 * and appendix B).  metatf(5) describes the language.  dtd_parse() accepts
 * three dialects:
 *
 *   1.0  appendix B of the paper;
 *   1.1  the talk that presented the paper: the grammar of 1.0, but a DTD
 *	  may use the tags 1, 2 and 3 for its own records;
 *   1.2  the DTD of mpatrol's mptrace: fields have a type (int or string) and
 *	  need no width, and the fields of a record stand in braces.
 *
 * This file handles only the syntax.  schema.h resolves names and checks what a
 * DTD means.
 *
 * A DTD is not changed after dtd_parse(), so several threads may read it.
 */
#ifndef HATF_DTD_H
#define HATF_DTD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest text of a DTD, in bytes. */
#define DTD_MAX_NBYTES ((size_t)4 << 20)

/*
 * Maximum depth of fields inside fields.  A name alone has the depth 1, a group
 * of names has the depth 2.  The same limit holds for the depth of records
 * inside records.
 */
#define DTD_MAX_DEPTH 32

enum dtd_dialect {
	DTD_1_0,
	DTD_1_1,
	DTD_1_2,
};

/* A place in the text.  Lines and columns count from 1. */
struct dtd_place {
	unsigned line, column; /* the column counts bytes */
};

/* What is wrong, and where.  If 'place.line' is 0, the error has no place. */
struct dtd_error {
	struct dtd_place place;
	char text[200];
};

/*
 * The interpretations, with their numbers in the field 'property' of a metadata
 * record.  In this field, 0 stands for the width.
 */
enum dtd_interpretation {
	DTD_NONE = 1,
	DTD_BASE_OFFSET = 2,
	DTD_DELTA = 3,
	DTD_DEFAULT = 4,
	DTD_SECTION_OFFSET = 5,
	DTD_STRIDE = 6,
	DTD_SECTION_STRIDE = 7,
};

/* A number as the DTD writes it. */
struct dtd_number {
	uint64_t value; /* the number; if negative, its two's complement */
	bool is_negative, is_hex;
};

enum dtd_value_kind {
	DTD_NUMBER,	    /* such as 4 */
	DTD_REFERENCE,	    /* such as length.value */
	DTD_INTERPRETATION, /* such as delta 0 */
	DTD_STRING,	    /* such as "text" */
};

struct dtd_value {
	enum dtd_value_kind kind;
	struct dtd_place place;
	enum dtd_interpretation interpretation;
	/*
	 * DTD_INTERPRETATION: its arguments.  DTD_NUMBER: the number, in
	 * args[0].
	 */
	struct dtd_number args[2];
	const char *field, *property; /* parts of a reference */
	/*
	 * The text of a DTD_STRING or, in dialect 1.2, the text after
	 * "default".  NULL if there is no text.
	 */
	const char *text;
};

/* The type that a declaration of dialect 1.2 gives to a field. */
enum dtd_type {
	DTD_UNTYPED,
	DTD_INT,
	DTD_TEXT,
};

/* field.name = value; */
struct dtd_property {
	struct dtd_property *next;
	struct dtd_place place;
	const char *comment, *trailing; /* as in struct dtd_record */
	const char *field, *name;
	const struct dtd *owner;
	/* number of properties before this one in the DTD */
	unsigned ordinal;
	/* in dialect 1.2: the type that a declaration gives */
	enum dtd_type type;
	struct dtd_value value;
};

enum dtd_field_kind {
	DTD_NAME,   /* name */
	DTD_GROUP,  /* (field, ...); {field, ...} in dialect 1.2 */
	DTD_NESTED, /* name : field { ... } */
	DTD_REPEAT, /* name * field */
};

struct dtd_field {
	struct dtd_field *next; /* next field of the group */
	enum dtd_field_kind kind;
	struct dtd_place place;
	const char *name; /* NULL for a group */
	/* First field of a group, or the repeated field. */
	struct dtd_field *first;
	struct dtd_record *record; /* record of DTD_NESTED */
};

/* name : field { property ... } */
struct dtd_record {
	struct dtd_record *next;
	struct dtd_place place;
	/*
	 * The comments before the record, with blanks for control characters.
	 * NULL if there are none.
	 */
	const char *comment;
	/* Comment after the record, on the same line; or NULL. */
	const char *trailing;
	const struct dtd *owner;
	unsigned ordinal; /* number of records before this one in the DTD */
	const char *name;
	struct dtd_field *field;
	struct dtd_property *properties;
};

struct dtd_defs {
	struct dtd_property *properties;
	struct dtd_record *records;
	const char *comment; /* comment after the last definition, or NULL */
};

/* section name number { ... } */
struct dtd_section {
	struct dtd_section *next;
	struct dtd_place place;
	const char *comment, *trailing; /* as in struct dtd_record */
	const char *name;
	uint8_t number;
	struct dtd_defs defs;
};

struct dtd {
	enum dtd_dialect dialect;
	const char *header; /* the first lines, which begin with ##; or NULL */
	struct dtd_defs defs;
	struct dtd_section *sections;
	/* numbers of properties and records in the whole DTD */
	unsigned property_count, record_count;
};

/*
 * Parse 'nbytes' bytes of 'text'.  Return a DTD, which the caller frees with
 * dtd_close().  On failure, return NULL and describe the error in '*err'.
 */
struct dtd *dtd_parse(const char *text, size_t nbytes, struct dtd_error *err);
void dtd_close(struct dtd *dtd);

/* Return the name of a dialect, such as "1.0". */
const char *dtd_dialect_name(enum dtd_dialect dialect);

/*
 * Does this line of a comment name a dialect, as in "// Meta-TF version 1.0"?
 * If so, set '*dialect'.  A DTD may have such a line before its first
 * definition.
 */
bool dtd_names_version(const char *line, size_t nbytes,
		       enum dtd_dialect *dialect);

/* Return the name of an interpretation, such as "baseOffset". */
const char *dtd_interpretation_name(enum dtd_interpretation interpretation);

/* Return how many arguments an interpretation has: 0, 1 or 2. */
unsigned dtd_argument_count(enum dtd_interpretation interpretation);

#endif /* HATF_DTD_H */
