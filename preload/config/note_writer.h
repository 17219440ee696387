/* SPDX-License-Identifier: MIT */
/*
 * note_writer.h - append lines to the notes file that 'hatf record' reads
 *
 * hatf/recorder/notes.h describes the lines.  Nothing is written to a file that
 * does not exist, belongs to another user, has several links or is not regular.
 * For threads of the program and the writer thread.  Changes errno.
 */
#ifndef NOTE_WRITER_H
#define NOTE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Call first: find the name of the file in 'environment'.  Return false if
 * there is none: no notes are then written.  Otherwise pass the name of the
 * executable to note_writer_set_exe() next.  Both functions copy.
 */
bool note_writer_init(char *const environment[]);
void note_writer_set_exe(const char *exe);

/* Note that a trace begins, with time 0 at 'start_ns' and the name 'out'. */
void note_writer_begin(uint64_t start_ns, const char *out);

/*
 * Note that this process will have no trace, and why.  Return false if the line
 * was not written: the caller must then report it by say().
 */
bool note_writer_untraced(const char *why);

/* Can the file be opened, so that 'hatf record' will report the notes? */
bool note_writer_has_reader(void);

#endif /* NOTE_WRITER_H */
