/* SPDX-License-Identifier: MIT */
/* driver.c - see driver.h */
#include "tools/driver/driver.h"

#include "tools/driver/lane_fast.h"
#include "tools/driver/lanes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Usual size of a huge page. */
#define HUGE_NBYTES ((uint64_t)2 << 20)

static struct driver_run *run;

/*
 * The process ID of the driver.  If the allocator forks, the child has another
 * ID, and must store neither a message nor success in 'run'.
 */
static pid_t driver_pid;

static _Noreturn void
fail(const char *what)
{
	if (getpid() == driver_pid)
		snprintf(run->message, sizeof(run->message), "%s", what);
	_exit(1);
}

static _Noreturn void
fail_call(const char *what)
{
	char text[256];

	snprintf(text, sizeof(text), "%s: %s", what, strerror(errno));
	fail(text);
}

/*
 * Map 'nbytes' zero bytes, resident from the start.  Map one byte more, because
 * mmap() refuses a length of 0.
 */
static void *
map_zeros(uint64_t nbytes)
{
	void *const map =
		mmap(NULL, nbytes + 1, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (map == MAP_FAILED)
		fail_call("no memory for the replay itself");
	return map;
}

/*
 * Map a table of 'nbytes' zero bytes, indexed by slot and resident from the
 * start.  If it fills at least half a huge page, use huge pages.  Calls access
 * the slots of a large table in any order, and the page tables for its many
 * small pages would not fit in the processor's caches.
 */
static void *
map_table(uint64_t nbytes)
{
	char *map, *begin;

	if (nbytes < HUGE_NBYTES / 2)
		return map_zeros(nbytes);
	map = mmap(NULL, nbytes + HUGE_NBYTES, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		fail_call("no memory for the replay itself");
	begin = map + (-(uintptr_t)map & (HUGE_NBYTES - 1));
	/* Ignore a failure, because some systems have no huge pages. */
	madvise(begin, nbytes, MADV_HUGEPAGE);
	for (uint64_t i = 0; i < nbytes; i += REPLAY_PAGE_NBYTES)
		((volatile char *)begin)[i] = 0;
	return begin;
}

/*
 * Map 'nbytes' of the compiled trace (replay_words.h), from the beginning of
 * chunk 'chunk' on.
 */
static const void *
map_words(int fd, uint64_t chunk, uint64_t nbytes)
{
	void *const map =
		mmap(NULL, nbytes, PROT_READ, MAP_SHARED | MAP_POPULATE, fd,
		     (off_t)(chunk * REPLAY_CHUNK_NBYTES));

	if (map == MAP_FAILED)
		fail_call("cannot map the compiled trace");
	return map;
}

static void
prepare_lanes(struct lanes *all, const struct replay_header *header, int fd)
{
	const struct replay_stream *const streams =
		map_words(fd, header->index_chunk,
			  header->stream_count * sizeof(*streams) +
				  header->number_count * sizeof(*all->chunks));

	*all = (struct lanes){
		.fd = fd,
		.chunks = (const void *)(streams + header->stream_count),
		.lanes = map_zeros(header->stream_count * sizeof(struct lane)),
		.count = (uint32_t)header->stream_count,
		.blocks = map_table(header->slot_count * sizeof(void *)),
		.turns = map_zeros(header->slot_count * sizeof(turn_number)),
		.touch_nbytes = run->touch == TOUCH_NONE    ? 0
				: run->touch == TOUCH_FIRST ? 1
							    : UINT64_MAX,
		.touch_mask = run->is_null ? 0 : UINT64_MAX,
		.fail = fail,
	};
	for (uint32_t i = 0; i < all->count; i++) {
		all->lanes[i].all = all;
		all->lanes[i].place = &run->places[i];
		all->lanes[i].chunk =
			map_zeros(REPLAY_CHUNK_NBYTES +
				  LANE_FAST_AHEAD * sizeof(uint64_t));
		run->places[i].chunk = all->lanes[i].chunk;
		all->lanes[i].stream = &streams[i];
		all->lanes[i].random = run->seed ^ (uint64_t)(i + 1) << 32;
	}
}

static void
prepare_checks(struct lanes *all, uint64_t slot_count)
{
	static struct lane_checks checks;

	checks = (struct lane_checks){
		.states = map_zeros(slot_count),
		.sizes = map_zeros(slot_count * sizeof(*checks.sizes)),
		.pause_mask = run->pause_mask,
		.has_memory = !run->is_null,
		.checks_alignment = run->checks_alignment,
	};
	all->checks = &checks;
}

static void
find_calls(struct driver_calls *calls)
{
	const char *fault;

	if (run->is_null) {
		driver_calls_null(calls);
		return;
	}
	fault = driver_calls_find(calls, run->library, sizeof(run->library));
	if (fault != NULL)
		fail(fault);
}

static void
prepare_latencies(struct lanes *all)
{
	struct latency_counts *const counts =
		map_zeros(all->count * sizeof(*counts));

	for (uint32_t i = 0; i < all->count; i++)
		all->lanes[i].latency = &counts[i];
}

static void
prepare_sizes(struct lanes *all, uint64_t slot_count)
{
	static struct lane_sizes sizes;

	sizes.usable_size = all->calls.usable_size;
	sizes.blocks = map_zeros(slot_count * sizeof(*sizes.blocks));
	all->sizes = &sizes;
}

static void
prepare_samples(struct lanes *all, uint64_t slot_count)
{
	static struct lane_samples samples;

	samples.samples = run->samples;
	samples.step = run->sample_step;
	samples.page_nbytes = (uint64_t)sysconf(_SC_PAGESIZE);
	samples.sizes = map_zeros(slot_count * sizeof(*samples.sizes));
	samples.fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (samples.fd < 0)
		fail_call("cannot open /proc/self/statm");
	all->samples = &samples;
}

/* Prepare what this run checks and measures at each call. */
static void
prepare_observers(struct lanes *all, uint64_t slot_count)
{
	if (run->is_checked)
		prepare_checks(all, slot_count);
	if (run->is_timed)
		prepare_latencies(all);
	if (run->is_sized && all->calls.usable_size != NULL)
		prepare_sizes(all, slot_count);
	if (run->sample_step != 0)
		prepare_samples(all, slot_count);
	all->is_observed = run->is_checked || run->is_timed ||
			   all->sizes != NULL || all->samples != NULL;
}

/* ----------------------------------------------------------------- measures */

/*
 * 'text' is the content of /proc/self/status.  Return the number in its line
 * 'key', converted from KiB to bytes; 0 if there is no such line.
 */
static uint64_t
status_nbytes(const char *text, const char *key)
{
	const char *const line = strstr(text, key);

	return line != NULL ? strtoull(line + strlen(key), NULL, 10) * 1024 : 0;
}

/* Store the resident memory, now and at its peak. */
static void
read_memory(uint64_t *now_ret, uint64_t *peak_ret)
{
	char text[4096];
	const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	const ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	*now_ret = status_nbytes(text, "VmRSS:");
	*peak_ret = status_nbytes(text, "VmHWM:");
}

/* Reset the peak of resident memory. */
static void
reset_peak(void)
{
	const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	/*
	 * Ignore a failure of this write.  The run then reports the peak since
	 * the start of the process.
	 */
	if (write(fd, "5", 1) != 1)
		errno = 0;
	close(fd);
}

static uint64_t
cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t
fault_count(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)(u.ru_minflt + u.ru_majflt);
}

/*
 * Add the histograms of all lanes to those of the first lane, and store the
 * percentiles of each kind of call.
 */
static void
sum_latencies(const struct lanes *all, double tick_ns)
{
	struct latency_counts *const sums = all->lanes[0].latency;

	for (uint32_t i = 1; i < all->count; i++)
		for (unsigned k = 0; k < LATENCY_KINDS; k++)
			for (unsigned b = 0; b < LATENCY_BUCKETS; b++)
				sums->counts[k][b] +=
					all->lanes[i].latency->counts[k][b];
	for (unsigned k = 0; k < LATENCY_KINDS; k++)
		latency_sum(&run->latencies[k], sums->counts[k], tick_ns);
}

/* CPU time, page faults and ticks when the measured calls began. */
static struct {
	uint64_t cpu, faults, tick;
} start;

/* Restart the measures of the process: peak, samples, faults and times. */
static void
restart(struct lanes *all)
{
	reset_peak();
	if (all->samples != NULL)
		lane_samples_restart(all->samples);
	start.faults = fault_count();
	start.cpu = cpu_ns();
	all->begin_ns = lane_now_ns();
	start.tick = lanes_ticks();
}

/* Sum up the times of the lanes, and find the busiest lane. */
static void
store_times(const struct lanes *all)
{
	for (uint32_t i = 0; i < all->count; i++) {
		const struct lane_times *const t = &all->lanes[i].times;

		run->busy_ns += t->busy_ns;
		run->wait_ns += t->wait_ns;
		run->wait_cpu_ns += t->wait_cpu_ns;
		if (t->busy_ns > run->busiest_ns)
			run->busiest_ns = t->busy_ns;
	}
}

/* Store the measures. */
static void
store_measures(const struct lanes *all)
{
	const uint64_t now = lane_now_ns(), tick = lanes_ticks();

	run->wall_ns = now - all->begin_ns;
	run->cpu_ns = cpu_ns() - start.cpu;
	run->faults = fault_count() - start.faults;
	read_memory(&run->end_nbytes, &run->peak_nbytes);
	store_times(all);
	for (uint32_t i = 0; i < all->count; i++)
		run->failed += all->lanes[i].failed;
	if (run->is_timed)
		sum_latencies(all, (double)run->wall_ns /
					   (double)(tick - start.tick));
	if (all->sizes != NULL) {
		run->asked_nbytes = all->sizes->peak_asked;
		run->usable_nbytes = all->sizes->peak_usable;
		/*
		 * With several threads, the sums are not exact.  A block never
		 * has fewer usable bytes than the bytes asked for, so raise the
		 * sum of the usable bytes if it is too small.
		 */
		if (run->usable_nbytes < run->asked_nbytes)
			run->usable_nbytes = run->asked_nbytes;
	}
}

/* Store the allocator's own statistics. */
static void
store_own_stats(void)
{
	run->own = own_stats_read();
	snprintf(run->own_source, sizeof(run->own_source), "%s",
		 run->own.source != NULL ? run->own.source : "");
}

/* Have all chunks of all streams been read? */
static bool
is_complete(const struct lanes *all)
{
	for (uint32_t i = 0; i < all->count; i++)
		if (all->lanes[i].number != all->lanes[i].stream->chunk_count)
			return false;
	return true;
}

/* Make the calls and store the measures. */
static void
run_trace(int words_fd)
{
	const struct replay_header *const header =
		map_words(words_fd, 0, sizeof(*header));
	static struct lanes all;

	prepare_lanes(&all, header, words_fd);
	find_calls(&all.calls);
	prepare_observers(&all, header->slot_count);
	all.restart = restart;
	/*
	 * relaxed, because it does no harm if the watching process sees the new
	 * phase late.
	 */
	atomic_store_explicit(&run->phase, DRIVER_RUNS, memory_order_relaxed);
	lanes_run(&all, header->parked_count);
	store_measures(&all);
	atomic_store_explicit(&run->phase, DRIVER_ENDS, memory_order_relaxed);
	if (fcntl(words_fd, F_GETFD) < 0)
		fail("the allocator has closed a descriptor of the replay");
	if (!is_complete(&all))
		fail("the replay ended before its last call: the allocator "
		     "has probably changed the memory of the replay");
	if (run->asks_own && !run->is_null)
		store_own_stats();
}

int
driver_main(int argc, char **argv)
{
	struct stat status;
	int fd;

	if (argc != 2)
		return 2;
	fd = (int)strtol(argv[1], NULL, 10);
	if (fstat(fd, &status) != 0)
		return DRIVER_UNSHARED;
	run = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE,
		   MAP_SHARED, fd, 0);
	if (run == MAP_FAILED)
		return DRIVER_UNSHARED;
	driver_pid = getpid();
	run_trace((int)strtol(argv[0], NULL, 10));
	if (getpid() == driver_pid)
		run->is_done = true;
	/* Skip the allocator's exit handlers, which may take long. */
	_exit(0);
}
