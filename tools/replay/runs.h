/* SPDX-License-Identifier: MIT */
/*
 * runs.h - replay a compiled trace repeatedly with several allocators
 *
 * Each run is a process of its own.  A round runs the null allocator and then
 * each allocator once, so that a change of the machine's speed affects all
 * allocators alike.
 */
#ifndef RUNS_H
#define RUNS_H

#include "tools/compile/compile.h"
#include "tools/driver/driver.h"
#include "tools/replay/allocators.h"
#include "tools/replay/drive.h"
#include "tools/ui/figure.h"

#define RUNS_MAX 1000

enum replay_measure {
	REPLAY_WALL,
	REPLAY_CPU,
	REPLAY_PEAK_RSS,
	REPLAY_END_RSS,
	REPLAY_FAULTS,
	/*
	 * How many measures are listed above.  Only these rank the allocators,
	 * because for the measures below, less is not always better.
	 */
	REPLAY_RANKED,
	/*
	 * Sums over all threads: REPLAY_BUSY is the time in calls, REPLAY_WAIT
	 * the time in waits for calls of other threads.
	 */
	REPLAY_BUSY = REPLAY_RANKED,
	REPLAY_WAIT_CPU, /* CPU time of the waits, which REPLAY_CPU excludes */
	REPLAY_WAIT,
	REPLAY_MEASURES,
	/*
	 * The part of REPLAY_BUSY that belongs to the busiest lane (lanes.h).
	 * For the null allocator, this time is the driver's own cost in
	 * REPLAY_WALL.
	 */
	REPLAY_BUSIEST = REPLAY_MEASURES,
	REPLAY_FIGURES,
};

/* The names of the measures: "wall", "cpu", ..., NULL. */
extern const char *const replay_measure_words[REPLAY_MEASURES + 1];

/* Is the measure a time, in ns?  Otherwise it counts bytes or faults. */
bool runs_is_time(enum replay_measure measure);

/* Return a figure of a measure as text for the user. */
struct figure runs_figure(enum replay_measure measure, uint64_t n);

/*
 * Figures of several runs.  The figures of an allocator exclude the driver's
 * own cost.
 */
struct replay_spread {
	uint64_t median, min, max;
	/*
	 * The figures are times of an allocator that are too short to measure:
	 * the driver's own cost varies by at least 'min', or no call was
	 * measured.
	 */
	bool is_too_short;
};

/* Return the median as text for the user, or "too short". */
struct figure runs_median(enum replay_measure measure,
			  const struct replay_spread *spread);

/*
 * An allocator and what its runs measured.  'asks_own', 'is_sized',
 * 'is_sampled' and 'is_timed' are members of struct replay_runs.
 */
struct replay_column {
	const struct allocator *allocator; /* NULL: the null allocator */
	/* Why a run failed, so that there are no figures; "": no run failed. */
	char fault[DRIVE_FAULT_NBYTES];
	char library[256]; /* library that defined malloc */
	uint64_t failed;   /* largest number of failed calls in a run */
	struct replay_spread measures[REPLAY_FIGURES];
	/*
	 * With 'asks_own': the allocator's own statistics at the end of the
	 * last run.
	 */
	struct own_stats own;
	char own_source[32];
	/*
	 * With 'is_sized': the bytes asked for and the usable bytes of all live
	 * blocks, at the peak; 0 if the allocator has no malloc_usable_size().
	 */
	uint64_t asked_nbytes, usable_nbytes;
	/*
	 * With 'is_sampled': the samples.  The resident memory in an
	 * allocator's samples excludes that of the null allocator.
	 */
	struct lane_sample samples[LANE_SAMPLES_MAX];
	/*
	 * With 'is_timed': the latencies.  Those of the null allocator are the
	 * cost of reading the clock.
	 */
	struct latency latencies[LATENCY_KINDS];
	/* The figures of each run, which include the driver's own cost. */
	uint64_t (*figures)[REPLAY_FIGURES];
};

struct replay_runs {
	const struct compiled *compiled; /* set by runs_make(); borrowed */
	unsigned repeat;
	/* end a run after this time without progress; 0: never */
	uint64_t limit_ms;
	enum driver_touch touch;
	bool is_checked; /* check the order of the calls, do not measure */
	uint64_t pause_mask;
	bool is_timed; /* run each allocator once more for the latencies */
	bool is_sized; /* run each allocator once more for the usable sizes */
	bool asks_own; /* get the allocators' own statistics */
	/* run each allocator once more for the memory over time */
	bool is_sampled;
	/* With 'is_sampled': the number of calls between two samples. */
	uint64_t sample_step;
	unsigned sample_count;
	struct replay_column null;
	struct replay_column columns[ALLOCATORS_MAX];
	unsigned count, failed_count;
};

/*
 * Make all runs that the members of '*runs' request; with 'is_checked', leave
 * out the null allocator.  Print a message for each allocator that fails, and
 * leave out its other runs.  Return false if no allocator is left, if the null
 * allocator fails, or if there is no memory.  Call runs_close() even then.
 */
bool runs_make(struct replay_runs *runs, const struct compiled *compiled,
	       const struct allocators *allocators);
void runs_close(struct replay_runs *runs);

/*
 * Does the trace's live set fit into the memory that is available?  If not,
 * print a message.
 */
bool runs_fit(const struct compiled *compiled, enum driver_touch touch,
	      const char *path);

#endif /* RUNS_H */
