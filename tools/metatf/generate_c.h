/* SPDX-License-Identifier: MIT */
/*
 * generate_c.h - the C names and the C code of the records of a schema
 *
 * generate_c.c, generate_c_records.c and generate_events.c share this header.
 */
#ifndef GENERATE_C_H
#define GENERATE_C_H

#include "tools/metatf/generate.h"

/*
 * Maximum number of bytes of the C name of a record, of a member or of the
 * format, with the NUL.  A name with a prefix can be longer, and so can the
 * name of a struct inside another struct.
 */
#define C_NAME_NBYTES 600

/*
 * Room for the longest path to a nested field.  Records are nested at most 32
 * deep.  Each step of the path has a name of at most 255 bytes, an index and a
 * suffix.
 */
#define C_PATH_NBYTES 16384

/*
 * A data record.  In c_records.list, a record of the global section comes only
 * once, not once for each section in which it can occur.
 */
struct c_record {
	/* the section that defines the record */
	const struct schema_section *section;
	/* index of that section in the schema */
	size_t section_idx;
	const struct schema_record *record;
	char name[C_NAME_NBYTES];  /* name of the struct, without the prefix */
	char upper[C_NAME_NBYTES]; /* the same name in capitals */
};

struct c_records {
	/*
	 * the name of the format, unchanged and in capitals: the prefixes of
	 * all names in the generated code
	 */
	const char *prefix, *upper_prefix;
	struct c_record *list;
	size_t count;
};

/*
 * Set '*all' to the list of the data records, and 'upper' to the name of the
 * format in capitals.  Return false if there is no memory.  The caller frees
 * all->list.  '*all' keeps a pointer to 'upper', which must outlive '*all'.
 */
bool c_records_open(struct c_records *all, const struct generation *g,
		    char upper[C_NAME_NBYTES]);

/*
 * Write the first comment of a generated file.  The file's name is 'name'
 * followed by 'suffix'.
 */
void c_put_banner(FILE *f, const char *name, const char *suffix,
		  const char *purpose);

/*
 * Write a template.  Replace @N@ in the text by all->prefix, and @U@ by
 * all->upper_prefix.
 */
void c_put_template(FILE *f, const struct c_records *all, const char *text,
		    size_t nbytes);

/* Write the DTD as the initializer of an array of char. */
void c_put_dtd(FILE *f, const struct generation *g);

/*
 * Return the C name of a member, which is usually 'name' itself.  But if 'name'
 * could be a macro, or is a word of C, C++ or their headers, such as "int",
 * write 'name' and an underscore to 'buf' and return 'buf'.  Do the same if
 * 'name' is such a word with underscores after it.
 */
const char *c_member(const char *name, char buf[C_NAME_NBYTES]);

/*
 * Join three parts of an expression or a name.  What exceeds C_PATH_NBYTES is
 * cut off; no DTD has so long a path.  'to' must not be one of the parts.
 */
void c_join(char to[C_PATH_NBYTES], const char *a, const char *b,
	    const char *c);

/*
 * Reserve a name for a struct.  Return false if another struct has this name.
 * Otherwise return true, even if there is no memory to store the name.
 * 'structs' is a tree of tsearch() with copies of the reserved names, which the
 * caller frees.
 */
bool c_take_struct_name(void **structs, const char *name);

/*
 * Write the struct of a record.  Give each struct inside it a name that is not
 * in 'structs', and add this name to 'structs'; see c_take_struct_name().
 */
void c_record_struct(FILE *f, const struct c_records *all,
		     const struct c_record *r, void **structs);

/*
 * Does a record have a field besides its tag, but no repeated fields and no
 * values to check?  The generated code reads such a record by a table with the
 * places of its fields, not by a function.  c_record_offsets() writes this
 * table; 'type' is the number of the record's type in the generated code.
 */
bool c_record_is_simple(const struct schema_record *r);
void c_record_offsets(FILE *f, const struct c_records *all,
		      const struct c_record *r, size_t type);

/*
 * c_record_read() writes the function that reads a record's fields.
 * c_record_put() writes the function that writes these fields, and the public
 * function that writes the whole record.
 */
void c_record_read(FILE *f, const struct c_records *all,
		   const struct c_record *r);
void c_record_put(FILE *f, const struct c_records *all,
		  const struct c_record *r);

#endif /* GENERATE_C_H */
