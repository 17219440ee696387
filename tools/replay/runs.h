/* SPDX-License-Identifier: MIT */
/*
 * runs.h - replay a compiled trace with several allocators, again and again
 *
 * Each run is a process of its own.  A round runs the null allocator and then
 * each allocator once, so that a change of the machine's speed affects all of
 * them.
 */
#ifndef RUNS_H
#define RUNS_H

#include "tools/compile/compile.h"
#include "tools/driver/driver.h"
#include "tools/replay/allocators.h"
#include "tools/ui/figure.h"

#define RUNS_MAX 1000

enum replay_measure {
	REPLAY_WALL,
	REPLAY_CPU,
	REPLAY_PEAK_RSS,
	REPLAY_END_RSS,
	REPLAY_FAULTS,
	REPLAY_MEASURES,
};

/* "wall", "cpu", "peak_rss", "end_rss", "faults". */
extern const char *const replay_measure_words[REPLAY_MEASURES + 1];

/* A figure of a measure, for people to read. */
struct figure runs_figure(enum replay_measure measure, uint64_t n);

/* Of several runs.  Those of an allocator are without the driver's own cost. */
struct replay_spread {
	uint64_t median, min, max;
};

struct replay_column {
	const struct allocator *allocator; /* NULL: the null allocator */
	char library[256];		   /* that had malloc */
	uint64_t failed;		   /* calls, in the worst run */
	struct replay_spread measures[REPLAY_MEASURES];
	/* With 'asks_own': at the end of the last run; "": nothing. */
	struct own_stats own;
	char own_source[32];
	/* With 'is_sized', at the peak; 0: the allocator does not tell. */
	uint64_t asked_nbytes, usable_nbytes;
	/* With 'sample_step'; resident memory less the null allocator's. */
	struct lane_sample samples[LANE_SAMPLES_MAX];
	/* With 'is_timed'; those of the null allocator: the clock's cost */
	struct latency latencies[LATENCY_KINDS];
	uint64_t (*figures)[REPLAY_MEASURES]; /* of each run, as measured */
};

struct replay_runs {
	unsigned repeat;
	enum driver_touch touch;
	bool is_checked; /* check the order of the calls, do not measure */
	uint64_t pause_mask;
	bool is_timed;	      /* once more each, for the latencies */
	bool is_sized;	      /* once more each, for the usable sizes */
	bool asks_own;	      /* what allocators tell of themselves */
	bool is_sampled;      /* once more each, for the memory over time */
	uint64_t sample_step; /* set with 'is_sampled': calls of a sample */
	unsigned sample_count;
	struct replay_column null;
	struct replay_column columns[ALLOCATORS_MAX];
	unsigned count;
};

/*
 * Run everything, or with 'is_checked' all but the null allocator.  On failure
 * print a message and return false.  In both cases free the result by
 * runs_close().
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
