/* SPDX-License-Identifier: MIT */
/*
 * samples.h - the runs of one measurement
 */
#ifndef SAMPLES_H
#define SAMPLES_H

#define SAMPLES_MAX 99

/* Begins as all zero. */
struct samples {
	double values[SAMPLES_MAX]; /* in no order */
	unsigned count;
};

/* Beyond SAMPLES_MAX, values are dropped. */
void samples_add(struct samples *s, double value);

/* NAN if there is none. */
double samples_median(struct samples *s);

/* Wall time, and the CPU time of this process, in nanoseconds. */
double samples_clock(void);
double samples_cpu_clock(void);

#endif /* SAMPLES_H */
