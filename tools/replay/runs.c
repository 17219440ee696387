/* SPDX-License-Identifier: MIT */
/* runs.c - see runs.h */
#include "tools/replay/runs.h"

#include "tools/trace/spool.h"
#include "tools/ui/message.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const replay_measure_words[] = { "wall",	"cpu",	  "peak_rss",
					     "end_rss", "faults", NULL };

struct figure
runs_figure(enum replay_measure measure, uint64_t n)
{
	if (measure <= REPLAY_CPU)
		return figure_ns(n);
	return measure == REPLAY_FAULTS ? figure_count(n) : figure_nbytes(n);
}

static const char *
label_of(const struct allocator *a)
{
	return a != NULL ? a->label : "null allocator";
}

/* ------------------------------------------------------------------ one run */

/* Set the variables of an allocator. */
static void
set_environment(const struct allocator *a)
{
	char *const copy = strdup(a != NULL ? a->environment : "");
	char *save = NULL;

	if (a != NULL && a->library[0] != '\0')
		setenv("LD_PRELOAD", a->library, 1);
	else
		unsetenv("LD_PRELOAD");
	for (char *item = copy != NULL ? strtok_r(copy, " ", &save) : NULL;
	     item != NULL; item = strtok_r(NULL, " ", &save)) {
		char *const value = strchr(item, '=');

		if (value == NULL)
			continue;
		*value = '\0';
		setenv(item, value + 1, 1);
	}
	free(copy);
}

/* Become the driver. */
static _Noreturn void
execute_driver(const struct allocator *a, int words_fd, int run_fd)
{
	char words[16], shared[16];
	char *const argv[] = { (char[]){ "hatf" },
			       (char[]){ "replay" },
			       (char[]){ DRIVER_WORD },
			       words,
			       shared,
			       NULL };

	/* The copies stay open across exec. */
	snprintf(words, sizeof(words), "%d", dup(words_fd));
	snprintf(shared, sizeof(shared), "%d", dup(run_fd));
	set_environment(a);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execv("/proc/self/exe", argv);
	_exit(127);
}

/* Report why a run has no result. */
static void
report_failure(const struct allocator *a, const struct driver_run *run,
	       int wait_status)
{
	if (run->message[0] != '\0')
		message_print("%s: %.255s", label_of(a), run->message);
	else if (WIFSIGNALED(wait_status))
		message_print("%s: the replay was killed by signal %d (%s)",
			      label_of(a), WTERMSIG(wait_status),
			      strsignal(WTERMSIG(wait_status)));
	else
		message_print("%s: the replay ended with status %d",
			      label_of(a), WEXITSTATUS(wait_status));
}

/* A failed preload is only a message of the loader: compare the libraries. */
static bool
was_preloaded(const struct allocator *a, const struct driver_run *run)
{
	char path[PATH_MAX];

	if (a == NULL || a->library[0] == '\0' ||
	    (realpath(run->library, path) != NULL &&
	     strcmp(path, a->library) == 0))
		return true;
	message_print("%s: %s could not be preloaded, or has no malloc",
		      a->label, a->library);
	return false;
}

static bool
run_driver(const struct allocator *a, int words_fd, int run_fd,
	   struct driver_run *run)
{
	int status = 0;
	const pid_t pid = fork();

	if (pid < 0) {
		message_print("cannot start a process: %s", strerror(errno));
		return false;
	}
	if (pid == 0)
		execute_driver(a, words_fd, run_fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!run->is_done) {
		report_failure(a, run, status);
		return false;
	}
	return was_preloaded(a, run);
}

/*
 * Run once, with the settings that '*run' has, and store the result there.  On
 * failure print a message and return false.
 */
static bool
run_once(const struct allocator *a, int words_fd, struct driver_run *run)
{
	struct driver_run *shared = MAP_FAILED;
	const int fd = spool_memory();
	bool ok = false;

	if (fd >= 0 && ftruncate(fd, sizeof(*shared)) == 0)
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED) {
		message_print("no memory for a run: %s", strerror(errno));
	} else {
		*shared = *run;
		ok = run_driver(a, words_fd, fd, shared);
		*run = *shared;
		munmap(shared, sizeof(*shared));
	}
	if (fd >= 0)
		close(fd);
	return ok;
}

/* Run once and store the figures of run 'idx'. */
static bool
add_run(struct replay_column *column, const struct replay_runs *runs,
	unsigned idx, int words_fd)
{
	struct driver_run run = {
		.touch = runs->touch,
		.is_null = column->allocator == NULL,
		.is_checked = runs->is_checked,
		.asks_own = runs->asks_own,
		.pause_mask = runs->pause_mask,
		.seed = idx + 1,
	};
	uint64_t *const figures = column->figures[idx];

	if (!run_once(column->allocator, words_fd, &run))
		return false;
	figures[REPLAY_WALL] = run.wall_ns;
	figures[REPLAY_CPU] = run.cpu_ns;
	figures[REPLAY_PEAK_RSS] = run.peak_nbytes;
	figures[REPLAY_END_RSS] = run.end_nbytes;
	figures[REPLAY_FAULTS] = run.faults;
	if (run.failed > column->failed)
		column->failed = run.failed;
	memcpy(column->library, run.library, sizeof(run.library));
	column->own = run.own;
	memcpy(column->own_source, run.own_source, sizeof(run.own_source));
	return true;
}

/* Run once more and store the latencies. */
static bool
add_latencies(struct replay_column *column, const struct replay_runs *runs,
	      int words_fd)
{
	struct driver_run run = {
		.touch = runs->touch,
		.is_null = column->allocator == NULL,
		.is_timed = true,
	};

	if (!run_once(column->allocator, words_fd, &run))
		return false;
	memcpy(column->latencies, run.latencies, sizeof(run.latencies));
	return true;
}

/* ------------------------------------------------------------------ figures */

static int
compare_u64(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t
less(uint64_t n, uint64_t base)
{
	return n > base ? n - base : 0;
}

/* Sum the runs of a column up, without the cost of the null allocator. */
static void
sum_up(struct replay_column *column, const struct replay_column *null,
       unsigned n)
{
	uint64_t sorted[RUNS_MAX];

	for (unsigned m = 0; m < REPLAY_MEASURES; m++) {
		const uint64_t own =
			null != NULL ? null->measures[m].median : 0;
		struct replay_spread *const s = &column->measures[m];

		for (unsigned i = 0; i < n; i++)
			sorted[i] = column->figures[i][m];
		qsort(sorted, n, sizeof(*sorted), compare_u64);
		s->min = less(sorted[0], own);
		s->max = less(sorted[n - 1], own);
		s->median =
			less((sorted[(n - 1) / 2] + sorted[n / 2]) / 2, own);
	}
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

static bool
run_round(struct replay_runs *runs, unsigned idx, int words_fd)
{
	if (!runs->is_checked && !add_run(&runs->null, runs, idx, words_fd))
		return false;
	for (unsigned i = 0; i < runs->count; i++)
		if (!add_run(&runs->columns[i], runs, idx, words_fd))
			return false;
	return true;
}

/* Run each allocator once more and store what its blocks can hold. */
static bool
run_sized(struct replay_runs *runs, int words_fd)
{
	for (unsigned i = 0; i < runs->count; i++) {
		struct replay_column *const c = &runs->columns[i];
		struct driver_run run = { .touch = TOUCH_NONE,
					  .is_sized = true };

		if (!run_once(c->allocator, words_fd, &run))
			return false;
		c->asked_nbytes = run.asked_nbytes;
		c->usable_nbytes = run.usable_nbytes;
	}
	return true;
}

/* Run once more and store the samples. */
static bool
add_samples(struct replay_column *column, const struct replay_runs *runs,
	    int words_fd)
{
	struct driver_run run = {
		.touch = runs->touch,
		.is_null = column->allocator == NULL,
		.sample_step = runs->sample_step,
	};

	if (!run_once(column->allocator, words_fd, &run))
		return false;
	memcpy(column->samples, run.samples, sizeof(run.samples));
	return true;
}

/* Run each allocator once more and store its memory over time. */
static bool
run_sampled(struct replay_runs *runs, uint64_t calls, int words_fd)
{
	runs->sample_step = calls / LANE_SAMPLES_MAX + 1;
	runs->sample_count = (unsigned)(calls / runs->sample_step);
	if (!add_samples(&runs->null, runs, words_fd))
		return false;
	for (unsigned i = 0; i < runs->count; i++) {
		struct replay_column *const c = &runs->columns[i];

		if (!add_samples(c, runs, words_fd))
			return false;
		for (unsigned k = 0; k < runs->sample_count; k++)
			c->samples[k].rss_nbytes =
				less(c->samples[k].rss_nbytes,
				     runs->null.samples[k].rss_nbytes);
	}
	return true;
}

static bool
run_timed(struct replay_runs *runs, int words_fd)
{
	if (!add_latencies(&runs->null, runs, words_fd))
		return false;
	for (unsigned i = 0; i < runs->count; i++)
		if (!add_latencies(&runs->columns[i], runs, words_fd))
			return false;
	return true;
}

/* Of each run of a checked replay: more would make it slow. */
#define PAUSES 2000

bool
runs_make(struct replay_runs *runs, const struct compiled *compiled,
	  const struct allocators *allocators)
{
	runs->pause_mask = 15;
	while (runs->pause_mask < compiled->calls * 4 / PAUSES)
		runs->pause_mask = runs->pause_mask * 2 + 1;
	if (!prepare(&runs->null, NULL, runs->repeat))
		return false;
	for (unsigned i = 0; i < allocators->count; i++)
		if (!prepare(&runs->columns[runs->count++],
			     &allocators->list[i], runs->repeat))
			return false;
	for (unsigned i = 0; i < runs->repeat; i++)
		if (!run_round(runs, i, compiled->file.fd))
			return false;
	if (runs->is_timed && !run_timed(runs, compiled->file.fd))
		return false;
	if (runs->is_sized && !run_sized(runs, compiled->file.fd))
		return false;
	if (runs->is_sampled &&
	    !run_sampled(runs, compiled->calls, compiled->file.fd))
		return false;
	sum_up(&runs->null, NULL, runs->repeat);
	for (unsigned i = 0; i < runs->count; i++)
		sum_up(&runs->columns[i], &runs->null, runs->repeat);
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

/* Return the memory that programs can still take; UINT64_MAX: unknown. */
static uint64_t
available_nbytes(void)
{
	static const char key[] = "MemAvailable:";
	char text[4096];
	const int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	const char *line;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	line = strstr(text, key);
	return line != NULL ? strtoull(line + strlen(key), NULL, 10) * 1024
			    : UINT64_MAX;
}

/* Return the memory of the driver itself. */
static uint64_t
driver_nbytes(const struct compiled *c)
{
	return c->slot_count * (sizeof(void *) + sizeof(uint32_t)) +
	       c->file.stream_count * REPLAY_CHUNK_NBYTES;
}

bool
runs_fit(const struct compiled *c, enum driver_touch touch, const char *path)
{
	const uint64_t available = available_nbytes();
	/* A block takes its first page if only that is written to. */
	uint64_t needed =
		touch == TOUCH_ALL ? c->peak_nbytes : c->peak_first_nbytes;

	if (__builtin_add_overflow(needed, driver_nbytes(c), &needed))
		needed = UINT64_MAX;
	if (needed <= available)
		return true;
	message_print("%s: a replay would take %s of memory, and %s are "
		      "available%s",
		      message_path(path), figure_nbytes(needed).text,
		      figure_nbytes(available).text,
		      touch == TOUCH_ALL ? " (--touch first takes less)" : "");
	return false;
}
