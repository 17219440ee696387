/* SPDX-License-Identifier: MIT */
/* sizing.h - the length of a trace in each encoding */
#ifndef SIZING_H
#define SIZING_H

#include "tools/measure/breakdown.h"

/* Placements for which whole traces have a breakdown by field. */
#define SIZING_BREAKDOWNS 3

/* A length that could not be measured. */
#define SIZING_UNKNOWN UINT64_MAX

struct sizing {
	/* The whole trace with the paper's content: plain, compressed. */
	uint64_t nbytes[ENCODING_COUNT][2];
	/* The whole trace with all fields and records. */
	struct breakdown breakdowns[SIZING_BREAKDOWNS];
};

/*
 * Fill in 'sizing', with up to 'jobs' threads.  Memory is that of 'jobs'
 * writers and readers.  Return false after an error, which is printed; figures
 * that failed are unknown.
 */
bool sizing_take(struct sizing *sizing, const struct spool *trace,
		 unsigned jobs);

#endif /* SIZING_H */
