/* SPDX-License-Identifier: MIT */
/* dtd_file.h - a DTD of Meta-TF in a file, with messages about what is wrong */
#ifndef DTD_FILE_H
#define DTD_FILE_H

#include "hatf/metatf/dtd.h"
#include "hatf/metatf/schema.h"

#include <stdbool.h>
#include <stddef.h>

struct dtd_file {
	char *text;
	size_t nbytes;
	struct dtd *dtd;
	struct schema *schema;
	/* also print notes about parts of the DTD that have no effect */
	bool has_notes;
};

/*
 * Read, parse and check the DTD in 'path'; "-" is standard input.  If the file
 * is a trace, take the DTD that it contains.  On failure print
 * "PATH:LINE:COLUMN: what is wrong", or "PATH: what is wrong" if no line is at
 * fault, and return false.  The caller calls dtd_file_close() even then.
 */
bool dtd_file_open(struct dtd_file *d, const char *path);

/* Like dtd_file_open(), but for 'text', which messages call 'name'. */
bool dtd_file_parse(struct dtd_file *d, const char *name, const char *text,
		    size_t nbytes);
void dtd_file_close(struct dtd_file *d);

/* Print "NAME:LINE:COLUMN: TEXT", or "NAME: TEXT" if the line is unknown. */
void dtd_file_complain(const char *name, const struct dtd_error *err);

#endif /* DTD_FILE_H */
