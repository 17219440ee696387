/* SPDX-License-Identifier: MIT */
/* runs.c - see runs.h */
#include "tools/replay/runs.h"

#include "tools/replay/available.h"
#include "tools/replay/drive.h"
#include "tools/ui/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const replay_measure_words[] = {
	"wall", "cpu",	    "peak_rss", "end_rss", "faults",
	"busy", "wait_cpu", "wait",	NULL,
};

struct figure
runs_figure(enum replay_measure measure, uint64_t n)
{
	if (runs_is_time(measure))
		return figure_ns(n);
	return measure == REPLAY_FAULTS ? figure_count(n) : figure_nbytes(n);
}

struct figure
runs_median(enum replay_measure measure, const struct replay_spread *spread)
{
	return spread->is_too_short ? (struct figure){ "too short" }
				    : runs_figure(measure, spread->median);
}

bool
runs_is_time(enum replay_measure measure)
{
	return measure != REPLAY_PEAK_RSS && measure != REPLAY_END_RSS &&
	       measure != REPLAY_FAULTS;
}

static uint64_t
less(uint64_t n, uint64_t base)
{
	return n > base ? n - base : 0;
}

static const char *
label_of(const struct allocator *a)
{
	return a != NULL ? a->label : "null allocator (measures the replay)";
}

/* ------------------------------------------------------------------ one run */

/*
 * Run the allocator of a column once, unless it has failed before.  If the run
 * fails, print a message and store the reason in the column.  Return true if
 * this run was made and succeeded.
 */
static bool
run_once(struct replay_column *column, const struct replay_runs *runs,
	 struct driver_run *run)
{
	if (column->fault[0] != '\0')
		return false;
	if (drive_once(column->allocator, runs->compiled, runs->limit_ms, run,
		       column->fault))
		return true;
	message_print("%s: %s", label_of(column->allocator), column->fault);
	return false;
}

/* Note that an allocator failed, and print a message. */
static void
set_fault(struct replay_column *column, const char *fault)
{
	snprintf(column->fault, sizeof(column->fault), "%s", fault);
	message_print("%s: %s", label_of(column->allocator), fault);
}

/* Return how many calls of a run allocate. */
static uint64_t
allocating_calls(const struct compiled *c)
{
	return c->mallocs + c->callocs + c->memaligns + c->reallocs +
	       c->built_count;
}

/* Run once and store the figures of run 'idx'. */
static void
add_run(struct replay_column *column, const struct replay_runs *runs,
	unsigned idx)
{
	struct driver_run run = {
		/*
		 * The checks of a checked replay write to the blocks, so ignore
		 * --touch.
		 */
		.touch = runs->is_checked ? TOUCH_NONE : runs->touch,
		.is_null = column->allocator == NULL,
		.is_checked = runs->is_checked,
		.checks_alignment = true,
		.asks_own = runs->asks_own,
		.pause_mask = runs->pause_mask,
		.seed = idx + 1,
	};
	uint64_t *const figures = column->figures[idx];

	if (!run_once(column, runs, &run))
		return;
	if (run.failed != 0 && run.failed == allocating_calls(runs->compiled)) {
		set_fault(column, "every allocation failed");
		return;
	}
	figures[REPLAY_WALL] = run.wall_ns;
	figures[REPLAY_CPU] = less(run.cpu_ns, run.wait_cpu_ns);
	figures[REPLAY_PEAK_RSS] = run.peak_nbytes;
	figures[REPLAY_END_RSS] = run.end_nbytes;
	figures[REPLAY_FAULTS] = run.faults;
	figures[REPLAY_BUSY] = run.busy_ns;
	figures[REPLAY_WAIT_CPU] = run.wait_cpu_ns;
	figures[REPLAY_WAIT] = run.wait_ns;
	figures[REPLAY_BUSIEST] = run.busiest_ns;
	if (run.failed > column->failed)
		column->failed = run.failed;
	memcpy(column->library, run.library, sizeof(run.library));
	column->own = run.own;
	memcpy(column->own_source, run.own_source, sizeof(run.own_source));
}

/*
 * If the user named the library of the allocator by its path, make one run that
 * measures nothing, to find out whether the library gives the same memory to
 * two blocks at once.  Without this check, such a library would look very good.
 */
static void
check_library(struct replay_column *column, const struct replay_runs *runs,
	      unsigned idx)
{
	struct driver_run run = {
		.touch = TOUCH_NONE,
		.is_checked = true,
		.pause_mask = UINT64_MAX, /* no pauses */
		.seed = 1,
	};

	(void)idx;
	if (column->allocator != NULL && column->allocator->is_path)
		run_once(column, runs, &run);
}

/* Run once more and store the latencies. */
static void
add_latencies(struct replay_column *column, const struct replay_runs *runs,
	      unsigned idx)
{
	struct driver_run run = {
		.touch = runs->touch,
		.is_null = column->allocator == NULL,
		.is_timed = true,
	};

	(void)idx;
	if (run_once(column, runs, &run))
		memcpy(column->latencies, run.latencies, sizeof(run.latencies));
}

/* Run once more and store the usable bytes of the blocks. */
static void
add_sizes(struct replay_column *column, const struct replay_runs *runs,
	  unsigned idx)
{
	struct driver_run run = { .touch = TOUCH_NONE, .is_sized = true };

	(void)idx;
	if (column->allocator == NULL || !run_once(column, runs, &run))
		return;
	column->asked_nbytes = run.asked_nbytes;
	column->usable_nbytes = run.usable_nbytes;
}

/* Run once more and store the samples. */
static void
add_samples(struct replay_column *column, const struct replay_runs *runs,
	    unsigned idx)
{
	struct driver_run run = {
		.touch = runs->touch,
		.is_null = column->allocator == NULL,
		.sample_step = runs->sample_step,
	};

	(void)idx;
	if (!run_once(column, runs, &run))
		return;
	memcpy(column->samples, run.samples, sizeof(run.samples));
	for (unsigned i = 0; i < runs->sample_count && !run.is_null; i++)
		column->samples[i].rss_nbytes =
			less(column->samples[i].rss_nbytes,
			     runs->null.samples[i].rss_nbytes);
}

/* ------------------------------------------------------------------ figures */

static int
compare_u64(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* A cost of 0, for the measures from which nothing is subtracted. */
static const struct replay_spread no_cost;

/*
 * Return the driver's own cost in a measure: the figures of the null allocator,
 * but without the time in which its threads wait for one another.
 */
static const struct replay_spread *
own_cost(const struct replay_column *null, unsigned measure)
{
	if (measure == REPLAY_WALL || measure == REPLAY_BUSIEST)
		return &null->measures[REPLAY_BUSIEST];
	return measure == REPLAY_WAIT || measure == REPLAY_WAIT_CPU
		       ? &no_cost
		       : &null->measures[measure];
}

/* Return the spread of the figures of 'n' runs in a measure. */
static struct replay_spread
spread_of(const struct replay_column *column, unsigned measure, unsigned n)
{
	uint64_t sorted[RUNS_MAX];

	for (unsigned i = 0; i < n; i++)
		sorted[i] = column->figures[i][measure];
	qsort(sorted, n, sizeof(*sorted), compare_u64);
	return (struct replay_spread){
		.median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2,
		.min = sorted[0],
		.max = sorted[n - 1],
	};
}

/*
 * Is the time 's', from which the driver's own cost has been subtracted, too
 * short to measure?  'own' has the runs of the null allocator: compare 's' with
 * the amount by which these vary.  This amount is the median minus the fastest
 * run, and not the slowest run minus the median, because other programs may
 * have interrupted the slowest run.
 */
static bool
is_too_short(const struct replay_spread *s, const struct replay_spread *own)
{
	return s->min <= own->median - own->min;
}

/* Subtract the driver's own cost from the figures of an allocator. */
static void
subtract_own_cost(const struct replay_runs *runs, struct replay_column *column)
{
	for (unsigned m = 0; m < REPLAY_FIGURES; m++) {
		const struct replay_spread *const own =
			own_cost(&runs->null, m);
		struct replay_spread *const s = &column->measures[m];

		s->median = less(s->median, own->median);
		s->min = less(s->min, own->median);
		s->max = less(s->max, own->median);
		s->is_too_short =
			own != &no_cost &&
			runs_is_time((enum replay_measure)m) &&
			(runs->compiled->calls == 0 || is_too_short(s, own));
	}
}

/* Summarize the 'n' runs of a column. */
static void
sum_up(struct replay_column *column, unsigned n)
{
	for (unsigned m = 0; m < REPLAY_FIGURES; m++)
		column->measures[m] = spread_of(column, m, n);
}

static bool
prepare(struct replay_column *column, const struct allocator *a,
	unsigned repeat)
{
	column->allocator = a;
	column->figures = calloc(repeat, sizeof(*column->figures));
	if (column->figures == NULL)
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	return column->figures != NULL;
}

/* Run an allocator once; 'idx' is the number of the run. */
typedef void run_kind(struct replay_column *column,
		      const struct replay_runs *runs, unsigned idx);

/*
 * Unless 'is_checked', run the null allocator.  Then run each allocator that
 * has not failed yet.  Return false if the null allocator fails, or if all
 * others have failed.
 */
static bool
run_round(struct replay_runs *runs, run_kind *kind, unsigned idx)
{
	if (!runs->is_checked)
		kind(&runs->null, runs, idx);
	if (runs->null.fault[0] != '\0')
		return false;
	for (unsigned i = 0; i < runs->count; i++)
		kind(&runs->columns[i], runs, idx);
	runs->failed_count = 0;
	for (unsigned i = 0; i < runs->count; i++)
		runs->failed_count += runs->columns[i].fault[0] != '\0';
	return runs->failed_count < runs->count;
}

/*
 * Check the libraries, make the measured runs, and make the other runs that the
 * user asked for.
 */
static bool
run_all(struct replay_runs *runs, const struct compiled *compiled)
{
	if (!runs->is_checked && !run_round(runs, check_library, 0))
		return false;
	for (unsigned i = 0; i < runs->repeat; i++)
		if (!run_round(runs, add_run, i))
			return false;
	if (runs->is_timed && !run_round(runs, add_latencies, 0))
		return false;
	if (runs->is_sized && !run_round(runs, add_sizes, 0))
		return false;
	runs->sample_step = compiled->calls / LANE_SAMPLES_MAX + 1;
	runs->sample_count =
		runs->is_sampled
			? (unsigned)(compiled->calls / runs->sample_step)
			: 0;
	return !runs->is_sampled || run_round(runs, add_samples, 0);
}

/*
 * Approximate maximum number of pauses in each run of a checked replay.  More
 * pauses would make the replay slow.
 */
#define PAUSES 2000

bool
runs_make(struct replay_runs *runs, const struct compiled *compiled,
	  const struct allocators *allocators)
{
	runs->compiled = compiled;
	runs->pause_mask = 15;
	while (runs->pause_mask < compiled->calls * 4 / PAUSES)
		runs->pause_mask = runs->pause_mask * 2 + 1;
	if (!prepare(&runs->null, NULL, runs->repeat))
		return false;
	for (unsigned i = 0; i < allocators->count; i++)
		if (!prepare(&runs->columns[runs->count++],
			     &allocators->list[i], runs->repeat))
			return false;
	if (!run_all(runs, compiled))
		return false;
	sum_up(&runs->null, runs->repeat);
	for (unsigned i = 0; i < runs->count; i++)
		if (runs->columns[i].fault[0] == '\0') {
			sum_up(&runs->columns[i], runs->repeat);
			subtract_own_cost(runs, &runs->columns[i]);
		}
	return true;
}

void
runs_close(struct replay_runs *runs)
{
	free(runs->null.figures);
	for (unsigned i = 0; i < runs->count; i++)
		free(runs->columns[i].figures);
}

/* ------------------------------------------------------------------- memory */

/* Return how many bytes of memory the driver itself needs. */
static uint64_t
driver_nbytes(const struct compiled *c)
{
	return c->slot_count * (sizeof(void *) + sizeof(uint32_t)) +
	       c->file.stream_count * REPLAY_CHUNK_NBYTES;
}

bool
runs_fit(const struct compiled *c, enum driver_touch touch, const char *path)
{
	const struct available available = available_memory("");
	/*
	 * Without TOUCH_ALL, only the first page of a block, and the pages that
	 * a realloc copies, take memory.
	 */
	uint64_t needed =
		touch == TOUCH_ALL ? c->peak_nbytes : c->peak_first_nbytes;

	if (__builtin_add_overflow(needed, driver_nbytes(c), &needed))
		needed = UINT64_MAX;
	if (needed <= available.nbytes)
		return true;
	message_print("%s: a replay would take %s of memory, but only %s are "
		      "available%s%s",
		      message_path(path), figure_nbytes(needed).text,
		      figure_nbytes(available.nbytes).text,
		      available.is_of_a_group ? " in its control group" : "",
		      touch == TOUCH_ALL ? " (--touch first takes less)" : "");
	return false;
}
