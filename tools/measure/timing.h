/* SPDX-License-Identifier: MIT */
/*
 * timing.h - how long it takes to write and to read each encoding
 *
 * One thread reads from and writes to memory, so the CPU time is the whole
 * cost, and load on the machine disturbs it least.  The encodings take turns in
 * each run; the result is the median of the runs.
 */
#ifndef TIMING_H
#define TIMING_H

#include "tools/measure/encoding.h"
#include "tools/trace/excerpt.h"

enum timing_way {
	TIMING_READ,
	TIMING_WRITE,
};

/* CPU time per data record in nanoseconds; NAN: unknown. */
struct timing {
	double ns[ENCODING_TIMED_COUNT][2][2]; /* [encoding][compressed][way] */
	double perl_ns[2];		       /* uncompressed ASCII: [way] */
};

/*
 * Time every encoding 'runs' times, at most SAMPLES_MAX, and compare once what
 * is read back.  'path' is for messages.  Return false after an error, which is
 * printed.  Not thread-safe: measures the CPU time of the process.
 */
bool timing_take(struct timing *timing, const struct excerpt *x, unsigned runs,
		 const char *path);

/*
 * Set 'ns_ret' to the time that Perl takes for all 'count' records in
 * nanoseconds.  'fd' has the records in ASCII and must be memory or a file.
 * Return false if Perl is missing or fails to parse them.
 */
bool timing_perl(int fd, size_t count, double ns_ret[2]);

#endif /* TIMING_H */
