/* SPDX-License-Identifier: MIT */
/*
 * timing.h - how long it takes to write and to read each encoding
 *
 * From and to memory, by one thread, so that the CPU time is all there is, which
 * neighbours on the machine disturb least.  All encodings take turns in each run;
 * the figure is the median of the runs.
 */
#ifndef TIMING_H
#define TIMING_H

#include "tools/measure/encoding.h"
#include "tools/trace/excerpt.h"

enum timing_way {
	TIMING_READ,
	TIMING_WRITE,
};

/* Nanoseconds of CPU time a data record; NAN: not there. */
struct timing {
	double ns[ENCODING_TIMED_COUNT][2][2]; /* plain, compressed; way */
	double perl_ns[2];		       /* ASCII, uncompressed; way */
};

/*
 * Time everything 'runs' times, at most SAMPLES_MAX.  What is read back is
 * compared once.  False if something failed, which has been said then.
 */
bool timing_take(struct timing *timing, const struct excerpt *x, unsigned runs,
		 const char *path);

/* The time that Perl takes for all records; 'fd' has the 'count' records in ASCII.
 * False if there is no Perl or it does not understand them. */
bool timing_perl(int fd, size_t count, double ns_ret[2]);

#endif /* TIMING_H */
