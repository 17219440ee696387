/* SPDX-License-Identifier: MIT */
/*
 * generate_c.h - the records of a schema as C sees them
 *
 * What generate_c.c and generate_c_records.c share.
 */
#ifndef GENERATE_C_H
#define GENERATE_C_H

#include "tools/metatf/generate.h"

/* The longest C name that is made, with the NUL. */
#define C_NAME_NBYTES 600

/* A data record; one of the global section has one, not one per section. */
struct c_record {
	const struct schema_section *section; /* that defines it */
	size_t section_idx;		      /* of the schema */
	const struct schema_record *record;
	char name[C_NAME_NBYTES];  /* of the struct, without the prefix */
	char upper[C_NAME_NBYTES]; /* in capitals */
};

struct c_records {
	const char *prefix, *upper_prefix; /* of all names */
	struct c_record *list;
	size_t count;
};

/* Write the struct of a record. */
void c_record_struct(FILE *f, const struct c_records *all,
		     const struct c_record *r);

/*
 * Is nothing repeated in a record, and must no value be checked?  Such a record
 * has no function that reads it, but a table of the places of its fields.
 */
bool c_record_is_simple(const struct schema_record *r);
void c_record_offsets(FILE *f, const struct c_records *all,
		      const struct c_record *r, size_t type);

/* Write the functions that read and write a record's fields. */
void c_record_read(FILE *f, const struct c_records *all,
		   const struct c_record *r);
void c_record_put(FILE *f, const struct c_records *all,
		  const struct c_record *r);

#endif /* GENERATE_C_H */
