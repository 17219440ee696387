/* SPDX-License-Identifier: MIT */
/*
 * pseudonyms.h - a number for each name of a trace
 *
 * A new name gets the next number of its kind: "function_1", "file_2".  A
 * pseudonym does not depend on the name.  If it were a hash of the name, an
 * attacker could hash a guessed name and compare.
 *
 * The owner of a trace can keep the names in a file.  Then other traces of the
 * same program get the same pseudonyms, so that the traces can be compared.  In
 * the file, the owner can look up the name of a pseudonym:
 *
 * 	function_1 main
 * 	file_1 /home/ada/app/parse.c
 *
 * In the file, names are escaped as in the comments of a trace (FORMAT
 * "Comments of this project").  Memory is O(names).  Only one thread may use a
 * table.
 */
#ifndef PSEUDONYMS_H
#define PSEUDONYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum name_kind {
	NAME_FUNCTION,
	NAME_FILE,
	NAME_MODULE,
	NAME_THREAD,
	NAME_HEAP,
	NAME_MARK,
	NAME_KIND_COUNT
};

/*
 * Upper bound of the size of a pseudonym, such as
 * "function_18446744073709551615", with its NUL.
 */
#define PSEUDONYM_NBYTES 40

struct pseudonyms;

/* Make an empty table.  Return NULL if there is no memory. */
struct pseudonyms *pseudonyms_open(void);
void pseudonyms_close(struct pseudonyms *p);

/*
 * Read names and their pseudonyms from 'path'.  A missing file is no error if
 * it can be created.  On failure print a message and return false.
 */
bool pseudonyms_load(struct pseudonyms *p, const char *path);

/*
 * Write all names and their pseudonyms to the file 'path', by
 * output_file_write().  On failure print a message and return false.
 */
bool pseudonyms_save(const struct pseudonyms *p, const char *path);

/*
 * Write the pseudonym of a name to 'buf'.  The name must be escaped as in a
 * comment, and must not contain a newline.  Return false if there is no memory.
 */
bool pseudonyms_get(struct pseudonyms *p, enum name_kind kind, const char *name,
		    size_t nbytes, char buf[PSEUDONYM_NBYTES]);

#endif /* PSEUDONYMS_H */
