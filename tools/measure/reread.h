/* SPDX-License-Identifier: MIT */
/*
 * reread.h - how long it takes to read a compressed trace from its file
 *
 * The baseline is the time in which zlib inflates the file and discards the
 * result, because a simple reader spends most of its time on inflating.
 */
#ifndef REREAD_H
#define REREAD_H

#include "tools/trace/spool.h"

/*
 * Number of threads that inflate the file ahead of the reader, for 'jobs_ns'.
 */
#define REREAD_JOBS 2

/*
 * Each member is the wall time for the whole file, in nanoseconds: the median
 * of the runs, or NAN if unknown.
 */
struct reread {
	double inflate_ns;
	/* times to read all records: without and with REREAD_JOBS threads */
	double read_ns, jobs_ns;
};

/*
 * Measure each of the three durations 'runs' times, in turn.  Set all three to
 * NAN if 'runs' is 0, if there is no memory, or if the trace is not compressed
 * by gzip or cannot be read to its end.
 */
void reread_take(struct reread *r, const struct spool *trace, unsigned runs);

#endif /* REREAD_H */
