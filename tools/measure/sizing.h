/* SPDX-License-Identifier: MIT */
/* sizing.h - the length of a trace in each encoding */
#ifndef SIZING_H
#define SIZING_H

#include "tools/measure/breakdown.h"

/* Number of placements for which whole traces are broken down by field. */
#define SIZING_BREAKDOWNS 3

/* Stands for a length that could not be measured. */
#define SIZING_UNKNOWN UINT64_MAX

struct sizing {
	/*
	 * Lengths of the whole trace, with only the fields and records of the
	 * paper's traces: [0] plain, [1] compressed.
	 */
	uint64_t nbytes[ENCODING_COUNT][2];
	/*
	 * The bytes of each field, for the whole trace with all fields and
	 * records.
	 */
	struct breakdown breakdowns[SIZING_BREAKDOWNS];
};

/*
 * Fill in 'sizing', with up to 'jobs' threads, each of which may start a second
 * thread (feeder.h).  The function needs the memory of 'jobs' writers and
 * readers.  A length that was not measured is SIZING_UNKNOWN; in a breakdown
 * that was not measured, 'is_known' is false.  An encoding that the library
 * lacks is no error.  On an error, print a message and return false; if there
 * is no memory for the list of measurements, leave 'sizing' unchanged.
 */
bool sizing_take(struct sizing *sizing, const struct spool *trace,
		 unsigned jobs);

#endif /* SIZING_H */
