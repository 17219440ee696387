/* SPDX-License-Identifier: MIT */
/* output_file.h - write a file that a command makes whole in memory */
#ifndef OUTPUT_FILE_H
#define OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Write 'bytes' to 'path': to a new file with mode 0600, or to the file that is
 * there, which loses its old content and keeps its owner and mode; "-" is
 * standard output.  On failure print a message and return false.
 */
bool output_file_write(const char *path, const char *bytes, size_t nbytes);

#endif /* OUTPUT_FILE_H */
