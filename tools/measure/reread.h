/* SPDX-License-Identifier: MIT */
/*
 * reread.h - how long it takes to read a compressed trace from its file
 *
 * The baseline is the time in which zlib inflates the file and discards the
 * result, because inflating dominates a simple reader.
 */
#ifndef REREAD_H
#define REREAD_H

#include "tools/trace/spool.h"

/* Jobs of the reader in its second measurement. */
#define REREAD_JOBS 2

/*
 * Wall time for the whole file in nanoseconds, median of the runs; NAN:
 * unknown.
 */
struct reread {
	double inflate_ns;
	/* into records, with one job and REREAD_JOBS */
	double read_ns, jobs_ns;
};

/*
 * Take each time 'runs' times, in turn.  Set all to NAN if the trace is not
 * compressed or cannot be read to its end.
 */
void reread_take(struct reread *r, const struct spool *trace, unsigned runs);

#endif /* REREAD_H */
