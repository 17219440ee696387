/* SPDX-License-Identifier: MIT */
/*
 * mptrace.h - the text form of HATF that mpatrol's mptrace writes: what source
 * and sink share
 *
 * The form is text in Meta-TF 1.2 (FORMATS "mptrace").  Each tag is the tag of
 * HATF 1.0 plus 1:
 *
 *	## Tracename: app.hatf
 *	...
 *	## Description: Converted to HATF by mptrace 1.4.
 *
 *	1 24 0x55d0c0
 *	4 48 0x55d0c0 0x55d0f0
 *	2 0x55d0f0
 */
#ifndef HATF_MPTRACE_H
#define HATF_MPTRACE_H

/* The tags of mptrace. */
#define MPTRACE_ALLOC	      1
#define MPTRACE_FREE	      2
#define MPTRACE_REALLOC_FIRST 3 /* tags 3 to 6: the reallocs of HATF */
#define MPTRACE_REALLOC	      4 /* the only realloc tag that mptrace writes */
#define MPTRACE_REALLOC_FREE  6

/*
 * Each header line begins with this mark.  All header lines precede the
 * records.
 */
#define MPTRACE_MARK	    "## "
#define MPTRACE_MARK_NBYTES 3

/*
 * The names of the header lines in their order, and the key of each in a HATF
 * header.
 */
#define MPTRACE_LINE_COUNT 5
struct mptrace_line {
	const char *name, *key;
};
extern const struct mptrace_line mptrace_lines[MPTRACE_LINE_COUNT];

#endif /* HATF_MPTRACE_H */
