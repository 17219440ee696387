/* SPDX-License-Identifier: MIT */
/*
 * note_writer.h - append lines for 'hatf record' to the file that it has named
 *
 * hatf/recorder/notes.h describes the lines.  A file that does not exist,
 * belongs to another user or is not regular gets none; the program never
 * notices.  For threads of the program and the writer thread.  Changes errno.
 */
#ifndef NOTE_WRITER_H
#define NOTE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * First: the environment that may name the file.  False: nobody takes notes.
 * Else the name of the executable is to follow.  Both are copied.
 */
bool note_writer_init(char *const environment[]);
void note_writer_set_exe(const char *exe);

/* This process's trace starts, with time 0 at 'start_ns', named by 'out'. */
void note_writer_begin(uint64_t start_ns, const char *out);

/*
 * It will have no trace.  False: not noted, so the caller must say it
 * otherwise.
 */
bool note_writer_untraced(const char *why);

/* Is there such a file, so that 'hatf record' will say what the trace lacks? */
bool note_writer_has_reader(void);

#endif /* NOTE_WRITER_H */
