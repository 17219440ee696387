/* SPDX-License-Identifier: MIT */
/*
 * timing.h - how long it takes to write and to read each encoding
 *
 * One thread reads from and writes to memory, so the CPU time of this thread is
 * the whole cost.  Other load on the machine disturbs CPU time less than
 * elapsed time.  Each run measures all encodings once; the result is the median
 * of the runs.
 */
#ifndef TIMING_H
#define TIMING_H

#include "tools/measure/encoding.h"
#include "tools/trace/excerpt.h"

enum timing_way {
	TIMING_READ,
	TIMING_WRITE,
};

/* CPU time per data record in nanoseconds; NAN if unknown. */
struct timing {
	/* [encoding][compressed: 0 or 1][TIMING_WRITE or TIMING_READ] */
	double ns[ENCODING_TIMED_COUNT][2][2];
	/* Perl's times for uncompressed ASCII: [TIMING_WRITE or TIMING_READ] */
	double perl_ns[2];
};

/*
 * Time every encoding 'runs' times (at most SAMPLES_MAX).  In the first run,
 * check that the records read equal those written.  'path' is the name in
 * messages.  On an error, print a message and return false.  An encoding that
 * the library lacks is no error; its times are NAN.  Not thread-safe, because
 * the function measures the CPU time of the whole process.
 */
bool timing_take(struct timing *timing, const struct excerpt *x, unsigned runs,
		 const char *path);

/*
 * Set 'ns_ret' to the times, in nanoseconds, that Perl takes to read and to
 * write all 'count' records.  'fd' is a file, on disk or in memory, with the
 * records in ASCII.  Return false if Perl is missing, fails, or does not parse
 * all records.
 */
bool timing_perl(int fd, size_t count, double ns_ret[2]);

#endif /* TIMING_H */
