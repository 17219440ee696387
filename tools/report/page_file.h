/* SPDX-License-Identifier: MIT */
/*
 * page_file.h - write the page of a report to a file
 *
 * The page is in the program, with a place for the data block.  Begin it, write
 * the objects of all traces, and finish it.
 */
#ifndef PAGE_FILE_H
#define PAGE_FILE_H

#include "tools/report/page_sights.h"
#include "tools/summary/gather.h"
#include "tools/ui/out.h"

struct page_file;

/*
 * Create 'path' with mode 0600, or write to standard output if it is "-".  On
 * failure print a message and return NULL.
 */
struct page_file *page_file_begin(const char *path);

/*
 * Read a trace and add it.  Return the exit status; after a message, a trace
 * that cannot be read is left out.
 */
int page_file_add(struct page_file *f, const char *trace,
		  const struct gather_options *options);

/*
 * Finish and close the file; return false after a message.  Without any trace
 * there is no page: a file that existed before is as it was.
 */
bool page_file_end(struct page_file *f);

#endif /* PAGE_FILE_H */
