/* SPDX-License-Identifier: MIT */
/*
 * reread.h - how long it takes to read a compressed trace as it is
 *
 * Beside what zlib takes to inflate the same file and do nothing with it, which
 * is where an untuned reader would spend most of its time.
 */
#ifndef REREAD_H
#define REREAD_H

#include "tools/trace/spool.h"

/* The threads that the reader is given for its second time. */
#define REREAD_JOBS 2

/* Nanoseconds for the whole file, the median of the runs; NAN: not there. */
struct reread {
	double inflate_ns;
	double read_ns, jobs_ns; /* into records, alone and with threads */
};

/* Time each of them 'runs' times, in turn.  All are NAN if the trace is not
 * compressed or cannot be read to its end. */
void reread_take(struct reread *r, const struct spool *trace, unsigned runs);

#endif /* REREAD_H */
