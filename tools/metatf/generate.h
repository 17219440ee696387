/* SPDX-License-Identifier: MIT */
/*
 * generate.h - make readers and writers from a DTD
 *
 * The same DTD gives the same text, byte for byte.
 */
#ifndef GENERATE_H
#define GENERATE_H

#include "hatf/metatf/dtd.h"
#include "hatf/metatf/schema.h"

#include <stdbool.h>
#include <stdio.h>

struct generation {
	const char *name; /* name of the format: an identifier */
	const struct dtd *dtd;
	const struct schema *schema;
};

/*
 * Turn the name of a DTD's file into an identifier: "dtd/my-app.dtd" becomes
 * "my_app".  '*name' has room for 'nbytes'.
 */
void generate_name(const char *path, char *name, size_t nbytes);

/* Write a reader in Python, in one file. */
void generate_python(FILE *f, const struct generation *g);

/* Write functions in C that put records into the trace of a traced program. */
void generate_events(FILE *f, const struct generation *g);

/* Write a reader and a writer in C: the header, and the code. */
void generate_c_header(FILE *f, const struct generation *g);
void generate_c_code(FILE *f, const struct generation *g);

#endif /* GENERATE_H */
