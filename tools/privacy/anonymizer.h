/* SPDX-License-Identifier: MIT */
/*
 * anonymizer.h - remove from a trace what identifies its owner
 *
 * An anonymized trace contains only numbers, words from fixed lists, the names
 * of well-known allocation functions and libraries, and pseudonyms in place of
 * all other names.  Everything else is omitted: paths, arguments, host, process
 * ids, the date, build ids, and comments of unknown kinds.  Calls, sizes,
 * addresses, threads, heaps, times since the start and call stacks stay, so all
 * figures stay the same.
 *
 * 'hatf stat' hides the frames of allocation functions and of standard
 * libraries in its sites.  It must hide the same frames of an anonymized trace.
 * Therefore allocation functions keep their names, and functions of standard
 * libraries get pseudonyms such as "std::function_3".
 */
#ifndef ANONYMIZER_H
#define ANONYMIZER_H

#include "hatf/hatf.h"

#include <stdbool.h>

struct anonymizer;

/*
 * Open an anonymizer.  'names' is the path of a file of pseudonyms
 * (pseudonyms.h), or NULL.  This function reads the file and
 * anonymizer_finish() writes it.  On failure print a message and return NULL.
 */
struct anonymizer *anonymizer_open(const char *names);

/*
 * Return the lines of 'header' that an anonymized trace may have, and the line
 * "anonymized=1".  'reader' is the reader of the trace.  Free 'header'; the
 * caller frees the result.  Return NULL if 'header' is NULL or if there is no
 * memory.
 */
char *anonymizer_edit_header(struct anonymizer *a,
			     const struct hatf_reader *reader, char *header);

/*
 * Anonymize a record in place.  Its new attributes are valid until the next
 * call.  Set '*is_kept_ret' to false if the record must be omitted, otherwise
 * to true.  Errors: HATF_NO_MEMORY.
 */
enum hatf_status anonymizer_edit(struct anonymizer *a, struct hatf_record *rec,
				 bool *is_kept_ret);

/*
 * Print how many comments were left out of the new trace 'path', and write the
 * file of names.  Call this function after the trace has been written.  On
 * failure print a message and return false.
 */
bool anonymizer_finish(struct anonymizer *a, const char *path);

void anonymizer_close(struct anonymizer *a);

#endif /* ANONYMIZER_H */
