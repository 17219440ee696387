/* SPDX-License-Identifier: MIT */
/*
 * rewrite.h - copy a trace into another one with the same content
 *
 * The common part of 'convert' and 'optimize': read, write, preserve the
 * header, and make sure that the copy of an incomplete trace stays incomplete.
 */
#ifndef REWRITE_H
#define REWRITE_H

#include "hatf/hatf.h"

struct rewrite {
	/*
	 * "-": standard input, standard output.  'out' may be NULL: write to
	 * 'options.fd', an empty file that will replace 'in'.
	 */
	const char *in, *out;
	/* 'format' is the required format of 'in'; NULL: any. */
	struct hatf_reader_options reading;
	/*
	 * rewrite_trace() sets 'header', 'bare' and 'incomplete' from the
	 * source.
	 */
	struct hatf_writer_options options;
	/*
	 * Write a record, or what stands for it, to the writer; return its
	 * status, or HATF_NO_MEMORY.  NULL: write the records as they are.
	 */
	enum hatf_status (*write)(void *context, const struct hatf_record *rec,
				  struct hatf_writer *writer);
	/*
	 * Called before the first record, if not NULL; 'in' may have to be read
	 * twice.  False: it has printed a message, and there is no output.
	 */
	bool (*begin)(void *context);
	/*
	 * Called with the lines of the output's header, if not NULL; takes and
	 * frees them, and returns others, which rewrite_trace() frees.  NULL:
	 * no memory.
	 */
	char *(*edit_header)(void *context, const struct hatf_reader *reader,
			     char *header);
	void *context;	  /* of 'write', 'begin' and 'edit_header' */
	bool is_filtered; /* 'write' leaves out the records of some blocks */
	/*
	 * Set by rewrite_trace(): 'out' was written completely, and statistics
	 * of the source.
	 */
	bool is_written;
	struct hatf_reader_stats read;
	const char *read_format; /* static */
};

/*
 * Copy the trace; report errors on standard error.  Set the 'struct_nbytes'
 * members.  Return the exit status: 1 also if the copy succeeded but the trace
 * is incomplete.
 */
int rewrite_trace(struct rewrite *r);

/*
 * Return the lines for the writer option 'header' from the header comment
 * 'first', or "" if 'first' is another record.  Leave out the lines that are
 * false once 'drop' (HATF_DROP_ bits) is applied.  The caller frees the string.
 * NULL if out of memory.
 */
char *rewrite_header(const struct hatf_record *first, unsigned drop);

#endif /* REWRITE_H */
