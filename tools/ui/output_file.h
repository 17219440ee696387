/* SPDX-License-Identifier: MIT */
/* output_file.h - write a file whose content a command has in memory */
#ifndef OUTPUT_FILE_H
#define OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Write 'bytes' to 'path': to a new file with mode 0600, or to an existing
 * file, whose owner and mode stay; "-" is standard output.  If possible, the
 * bytes go to a temporary file, which then takes the place of 'path'.  On
 * failure, such as a full disk, the old content stays, and no new file does.
 * On failure print a message and return false.
 */
bool output_file_write(const char *path, const char *bytes, size_t nbytes);

/*
 * Would writing 'out' overwrite the regular file 'in', which exists?  Links are
 * followed; "-" is standard output or input.
 */
bool output_file_overwrites(const char *out, const char *in);

/*
 * The same; if so, print a message.  'out' may be NULL: it overwrites nothing.
 */
bool output_file_refused(const char *out, const char *in);

/*
 * Would writing 'a' overwrite 'b'?  Links are followed, and files that do not
 * exist are compared, too.
 */
bool output_file_is_same(const char *a, const char *b);

#endif /* OUTPUT_FILE_H */
