/* SPDX-License-Identifier: MIT */
/*
 * lane_samples.h - samples of resident memory and live bytes during a replay
 *
 * After each 'step' calls, counted over all threads, the thread that made the
 * last one of them stores a sample.  If no realloc fails, all runs of the same
 * compiled trace have the same number of samples, so the samples of two
 * allocators can be compared one by one.
 */
#ifndef LANE_SAMPLES_H
#define LANE_SAMPLES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define LANE_SAMPLES_MAX 512

struct lane_sample {
	uint64_t live_nbytes; /* live bytes that the program asked for */
	uint64_t rss_nbytes;
};

struct lane_samples {
	struct lane_sample *samples; /* array of LANE_SAMPLES_MAX samples */
	uint64_t step;
	uint64_t page_nbytes;
	int fd;		 /* descriptor of /proc/self/statm */
	uint64_t *sizes; /* bytes that the program asked for, indexed by slot */
	_Atomic uint64_t call_count, live_nbytes;
};

/*
 * Note the result of a call: the block in a slot now has 'size' bytes, or was
 * freed ('size' is 0).
 */
void lane_samples_note(struct lane_samples *s, uint32_t slot, uint64_t size);

/*
 * Count the calls from 0 again, so that new samples replace the earlier ones.
 * No other thread may make a call meanwhile.
 */
void lane_samples_restart(struct lane_samples *s);

#endif /* LANE_SAMPLES_H */
