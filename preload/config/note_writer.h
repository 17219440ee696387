/* SPDX-License-Identifier: MIT */
/*
 * note_writer.h - append lines to the notes file that 'hatf record' reads
 *
 * hatf/recorder/notes.h describes the lines.  Lines are only written to an
 * existing regular file of this user with a single link.  Threads of the
 * program and the writer thread may call these functions.  They may change
 * errno.
 */
#ifndef NOTE_WRITER_H
#define NOTE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Find the name of the notes file in 'environment' and copy it.  Call this
 * first.  Return false if there is no name: then no notes are written.
 * Otherwise call note_writer_set_exe() next, which copies the name of the
 * executable.
 */
bool note_writer_init(char *const environment[]);
void note_writer_set_exe(const char *exe);

/* Note that the trace 'out' begins, whose time 0 is 'start_ns'. */
void note_writer_begin(uint64_t start_ns, const char *out);

/*
 * Note that this process will have no trace, and why.  Return false if the line
 * was not written: the caller must then report it by say().
 */
bool note_writer_untraced(const char *why);

/* Can the file be opened, so that 'hatf record' will report the notes? */
bool note_writer_has_reader(void);

#endif /* NOTE_WRITER_H */
