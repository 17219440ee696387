/* SPDX-License-Identifier: MIT */
/*
 * rewrite.h - copy a trace into another one with the same content
 *
 * The common part of 'convert', 'optimize' and 'symbolize': read, write,
 * preserve the header, and make sure that the copy of an incomplete trace stays
 * incomplete.
 */
#ifndef REWRITE_H
#define REWRITE_H

#include "hatf/hatf.h"

struct rewrite {
	/*
	 * Paths; "-" is standard input or output.  If 'out' is NULL, write to
	 * 'options.fd', an empty file that will replace 'in'.
	 */
	const char *in, *out;
	/* 'reading.format' is the required format of 'in'; NULL: any. */
	struct hatf_reader_options reading;
	/*
	 * rewrite_trace() sets the members 'header' and 'bare', from the
	 * source.
	 */
	struct hatf_writer_options options;
	/*
	 * NULL, or a function that writes a record, or other records in its
	 * place, to the writer.  The function returns the writer's status, or
	 * HATF_NO_MEMORY.  If NULL, all records are written unchanged.
	 */
	enum hatf_status (*write)(void *context, const struct hatf_record *rec,
				  struct hatf_writer *writer);
	/*
	 * NULL, or a function that rewrite_trace() calls before it writes, and
	 * again if it reads 'in' twice.  On failure the function prints a
	 * message and returns false; then rewrite_trace() stops.
	 */
	bool (*begin)(void *context);
	/*
	 * NULL, or a function that changes the lines of the output's header.
	 * The function frees 'header', the lines so far, and returns the new
	 * lines, which rewrite_trace() frees.  NULL, as 'header' or as the
	 * result, means that there was no memory.
	 */
	char *(*edit_header)(void *context, const struct hatf_reader *reader,
			     char *header);
	/* First argument of 'write', 'begin' and 'edit_header'. */
	void *context;
	bool is_filtered; /* 'write' omits the records of some blocks */
	/*
	 * The caller tells the user that events are missing, so do not say so
	 * about a source that was read to its end.
	 */
	bool is_told;
	/*
	 * Results of rewrite_trace(): whether the output was written to its
	 * end; whether the source was read to its end, and its trailer says
	 * nothing that the output's trailer does not say; and statistics of the
	 * source.
	 */
	bool is_written, is_whole;
	struct hatf_reader_stats read;
	const char *read_format; /* format of 'in'; a static string */
};

/*
 * Copy the trace, and report errors on standard error.  The function itself
 * sets the 'struct_nbytes' members in '*r'.  Return the exit status, which is 1
 * also if the copy succeeded but the trace is incomplete.
 */
int rewrite_trace(struct rewrite *r);

/*
 * Return the lines of the header comment 'first', for the writer option
 * 'header'; "" if 'first' is another record.  Leave out the lines that become
 * false if the fields 'drop' (HATF_DROP_ bits) are removed; if heaps are
 * removed, add "heaps=dropped", and if times are, "clock=off" and "unit=none".
 * The caller frees the string.  NULL if out of memory.
 */
char *rewrite_header(const struct hatf_record *first, unsigned drop);

#endif /* REWRITE_H */
