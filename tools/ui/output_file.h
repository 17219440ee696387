/* SPDX-License-Identifier: MIT */
/* output_file.h - write a file whose content a command has in memory */
#ifndef OUTPUT_FILE_H
#define OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Write 'bytes' to the file 'path'; "-" is standard output.  A new file gets
 * mode 0600; an existing file keeps its owner and mode.  If possible, write to
 * a temporary file that then takes the place of 'path', so that a failure, such
 * as a full disk, does not change an existing file.  On failure leave no new
 * file behind, print a message and return false.
 */
bool output_file_write(const char *path, const char *bytes, size_t nbytes);

/*
 * Would writing 'out' overwrite 'in'?  Return false if 'in' does not exist or
 * is not a regular file.  Links are followed.  "-" is standard output as 'out',
 * and standard input as 'in'.
 */
bool output_file_overwrites(const char *out, const char *in);

/*
 * Like output_file_overwrites(), but print a message before returning true.  If
 * 'out' is NULL, return false.
 */
bool output_file_refused(const char *out, const char *in);

/*
 * Would writing 'a' overwrite 'b'?  Links are followed.  If neither file
 * exists, compare their folders and names.
 */
bool output_file_is_same(const char *a, const char *b);

#endif /* OUTPUT_FILE_H */
