/* SPDX-License-Identifier: MIT */
/*
 * rewrite.h - one trace into another one with the same content
 *
 * What convert and optimize are around: read, write, carry over what the header says, and see to
 * it that a trace which is not complete does not become so.
 */
#ifndef REWRITE_H
#define REWRITE_H

#include "hatf/hatf.h"

struct rewrite {
	const char *in, *out; /* "-": standard input, standard output */
	/* 'format' is the one that 'in' must have; NULL: any */
	struct hatf_reader_options reading;
	/* 'header', 'bare' and 'incomplete' follow from the source. */
	struct hatf_writer_options options;
	/* Set by rewrite_trace(): is 'out' whole, and what has been read? */
	bool is_written;
	struct hatf_reader_stats read;
	const char *read_format; /* static */
};

/*
 * Rewrite; what goes wrong has been said.  Sets the sizes of the structs.  Returns the exit status: 1 also if all
 * went well but the trace is not complete.
 */
int rewrite_trace(struct rewrite *r);

/*
 * The lines of the header comment, if 'first' is one, for the option 'header' of
 * a writer; else "".  They are what is true of a trace without what 'drop' says
 * (HATF_DROP_ bits).  To be freed; NULL without memory.
 */
char *rewrite_header(const struct hatf_record *first, unsigned drop);

#endif /* REWRITE_H */
