/* SPDX-License-Identifier: MIT */
/*
 * missed_calls.h - calls that the recorder cannot see
 *
 * If some calls of the program do not reach the recorder, the trace lacks their
 * events, although no recorded event was lost.  The code that finds such calls
 * stores a note here.  The writer reports the first note on standard error, and
 * every trace that ends later has the note in its trailer.
 */
#ifndef MISSED_CALLS_H
#define MISSED_CALLS_H

#include <stdbool.h>

/*
 * Store a note that the recorder misses, or has missed, some calls of the
 * program.  'object' is the path of the object that the note is about, or ""
 * for the program itself.  The note is a sentence: the object's name, and then
 * 'why'.  Only the first note counts.  Any thread may call this.  Keeps errno.
 */
void missed_calls_note(const char *object, const char *why);

/*
 * Return the sentence, or NULL if no call is known to be missed.  Any thread
 * may call this.
 */
const char *missed_calls_text(void);

/*
 * Writer: report the note for the trace at 'path' on standard error.  Do so at
 * most once in a process and the children that it forks later, and not at all
 * if 'hatf record' will report the note.
 */
void missed_calls_report(const char *path);

#endif /* MISSED_CALLS_H */
