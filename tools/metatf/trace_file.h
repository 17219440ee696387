/* SPDX-License-Identifier: MIT */
/* trace_file.h - a Meta-TF trace in a file, with its DTD */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include "hatf/metatf/trace/mtf_reader.h"
#include "tools/metatf/dtd_file.h"

struct trace_file {
	const char *path;
	int fd;
	struct mtf_header header;
	struct dtd_file dtd;
	struct mtf_reader *reader;
};

/*
 * Open a trace; "-" is standard input.  Read its DTD from the file 'dtd_path'.
 * If 'dtd_path' is NULL, use the DTD in the trace or, if the trace contains
 * none, the file that the header names.  The header names this file by an
 * absolute path, a path relative to the directory of the trace, or a URL that
 * begins with "file:".  The function never uses the network.
 *
 * On failure print a message and return false.  The caller calls
 * trace_file_close() even then.
 */
bool trace_file_open(struct trace_file *t, const char *path,
		     const char *dtd_path);
void trace_file_close(struct trace_file *t);

/* Print the error that stopped the reader.  Return false if there is none. */
bool trace_file_complain(const struct trace_file *t);

#endif /* TRACE_FILE_H */
