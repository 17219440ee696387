/* SPDX-License-Identifier: MIT */
/*
 * mptrace.h - HATF as mpatrol's mptrace writes it: what source and sink agree on
 *
 * FORMATS "mptrace".  Text in Meta-TF 1.2, whose tags are those of HATF 1.0 and one
 * more:
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

/* Tags. */
#define MPTRACE_ALLOC	      1
#define MPTRACE_FREE	      2
#define MPTRACE_REALLOC_FIRST 3 /* to 6, as in HATF */
#define MPTRACE_REALLOC	      4 /* mptrace's only one */
#define MPTRACE_REALLOC_FREE  6

/* What lines in front of the records begin with. */
#define MPTRACE_MARK	    "## "
#define MPTRACE_MARK_NBYTES 3

/* These lines, in order, and what a header of ours calls them. */
#define MPTRACE_LINE_COUNT 5
struct mptrace_line {
	const char *name, *key;
};
extern const struct mptrace_line mptrace_lines[MPTRACE_LINE_COUNT];

#endif /* HATF_MPTRACE_H */
