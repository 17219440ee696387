/* SPDX-License-Identifier: MIT */
/*
 * page_file.h - write the page of a report to a file
 *
 * The program contains the page (page_bytes.h), with a place for the data
 * block.  The file consists of the part before that place, the data of each
 * trace, and the rest of the page.
 */
#ifndef PAGE_FILE_H
#define PAGE_FILE_H

#include "tools/report/page_sights.h"
#include "tools/summary/gather.h"
#include "tools/ui/out.h"

struct page_file;

/*
 * Open 'path' for at most 'trace_max' traces, and create it with mode 0600 if
 * it does not exist.  "-" is standard output.  On failure print a message and
 * return NULL.
 */
struct page_file *page_file_begin(const char *path, unsigned trace_max);

/*
 * Read a trace and add it.  Return the exit status.  If the trace cannot be
 * read, print a message and omit the trace.  If it is incomplete, print a
 * message and add what it contains.
 */
int page_file_add(struct page_file *f, const char *trace,
		  const struct gather_options *options);

/*
 * Finish and close the file.  On failure print a message and return false.  If
 * no trace was added, or if one was written only in part, do not finish the
 * page, and leave an existing file unchanged.
 */
bool page_file_end(struct page_file *f);

#endif /* PAGE_FILE_H */
