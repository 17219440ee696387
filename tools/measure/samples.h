/* SPDX-License-Identifier: MIT */
/* samples.h - the results of repeated runs of one measurement */
#ifndef SAMPLES_H
#define SAMPLES_H

#define SAMPLES_MAX 99

/* Initialize with zeros. */
struct samples {
	double values[SAMPLES_MAX]; /* unordered */
	unsigned count;
};

/* Add a value, unless there are SAMPLES_MAX values already. */
void samples_add(struct samples *s, double value);

/* Return the median; NAN if there are no values.  Reorders the values. */
double samples_median(struct samples *s);

/* Return the wall time of a monotonic clock in nanoseconds.  Thread-safe. */
double samples_clock(void);

/* Return the CPU time of this process in nanoseconds.  Thread-safe. */
double samples_cpu_clock(void);

#endif /* SAMPLES_H */
