/* SPDX-License-Identifier: MIT */
/*
 * anonymizer.h - take from a trace what tells whose it is
 *
 * What a trace may keep is listed: numbers, and words of a fixed list.  All
 * names get pseudonyms, and what is not listed is left out: paths, arguments,
 * host, process ids, the date, build ids, and comments of unknown kinds.
 * Calls, sizes, addresses, threads, heaps, times since the start and call
 * stacks stay, so the figures stay.
 *
 * Functions that 'hatf stat' hides in its sites stay hidden: allocation
 * functions keep their names, and those of standard libraries get pseudonyms
 * such as "std::function_3".
 */
#ifndef ANONYMIZER_H
#define ANONYMIZER_H

#include "hatf/hatf.h"

#include <stdbool.h>

struct anonymizer;

/*
 * Begin.  'names' is a file of pseudonyms.h, which is read now and written at
 * the end, or NULL.  On failure print a message and return NULL.
 */
struct anonymizer *anonymizer_open(const char *names);

/*
 * Return the lines of a header that may stay, and one that says what was done.
 * 'reader' is that of the trace.  Takes and frees 'header'; the caller frees
 * the result.  NULL: no memory.
 */
char *anonymizer_edit_header(struct anonymizer *a,
			     const struct hatf_reader *reader, char *header);

/*
 * Change a record, whose attributes are then the anonymizer's until the next
 * call.  HATF_NO_MEMORY: there is no memory.  '*is_kept_ret' is false if the
 * record must be left out.
 */
enum hatf_status anonymizer_edit(struct anonymizer *a, struct hatf_record *rec,
				 bool *is_kept_ret);

/*
 * The trace is written: say what was left out of 'path', and write the file of
 * names.  On failure print a message and return false.
 */
bool anonymizer_finish(struct anonymizer *a, const char *path);

void anonymizer_close(struct anonymizer *a);

#endif /* ANONYMIZER_H */
