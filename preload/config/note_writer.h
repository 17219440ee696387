/* SPDX-License-Identifier: MIT */
/*
 * note_writer.h - append lines to the notes file that 'hatf record' reads
 *
 * hatf/recorder/notes.h describes the lines.  The notes file must already exist
 * as a regular file of this user with a single link; otherwise nothing is
 * written.  Threads of the program and the writer thread may call these
 * functions.  The functions may change errno.
 */
#ifndef NOTE_WRITER_H
#define NOTE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Find the name of the notes file in 'environment' and copy it.  Call this
 * first.  If there is no name, or if the name has PATH_MAX bytes or more,
 * return false; no notes will then be written.  If the result is true, call
 * note_writer_set_exe() next, which copies the name of the executable.
 */
bool note_writer_init(char *const environment[]);
void note_writer_set_exe(const char *exe);

/*
 * Write the note that the trace 'out' begins; 'start_ns' is time 0 of the
 * trace.
 */
void note_writer_begin(uint64_t start_ns, const char *out);

/*
 * Write the note that this process will have no trace, with 'why' as the
 * reason.  Return false if the note was not written.  In this case the caller
 * must report the reason by say().
 */
bool note_writer_untraced(const char *why);

/* Can the notes file be opened?  If so, 'hatf record' will report the notes. */
bool note_writer_has_reader(void);

#endif /* NOTE_WRITER_H */
