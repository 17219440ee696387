/* SPDX-License-Identifier: MIT */
/*
 * missed_calls.h - calls that the recorder cannot see
 *
 * Where the program's calls do not reach us, the trace does not have every
 * event, though none was lost on the way.  The code that finds such calls notes
 * it here; the writer says it once on standard error, and every trace that ends
 * from then on says so in its trailer.
 */
#ifndef MISSED_CALLS_H
#define MISSED_CALLS_H

#include <stdbool.h>

/*
 * Calls of 'object' (a path, or "" for the program itself) were not or are not
 * recorded.  'why' follows the object's name in a sentence.  Only the first
 * note counts.  Any thread; keeps errno.
 */
void missed_calls_note(const char *object, const char *why);

/* The sentence, or NULL: nothing is known to be missing.  Any thread. */
const char *missed_calls_text(void);

/* The writer: say it on standard error unless that has been done, or 'hatf
 * record' is going to. */
void missed_calls_report(const char *path);

#endif /* MISSED_CALLS_H */
