/* SPDX-License-Identifier: MIT */
/*
 * sizing.h - how long a trace is in each encoding
 */
#ifndef SIZING_H
#define SIZING_H

#include "tools/measure/breakdown.h"

/* The placements of which whole traces are taken apart. */
#define SIZING_BREAKDOWNS 3

/* What is not there. */
#define SIZING_UNKNOWN UINT64_MAX

struct sizing {
	/* Of the whole trace in the paper's content: plain, compressed. */
	uint64_t nbytes[ENCODING_COUNT][2];
	/* With all that it holds. */
	struct breakdown breakdowns[SIZING_BREAKDOWNS];
};

/*
 * Fill in 'sizing', with 'jobs' threads at once.  Memory is that of 'jobs'
 * writers and readers.  False if something failed, which has been said then; what failed is
 * unknown.
 */
bool sizing_take(struct sizing *sizing, const struct spool *trace,
		 unsigned jobs);

#endif /* SIZING_H */
