/* SPDX-License-Identifier: MIT */
/* sizing.c - see sizing.h */
#include "tools/measure/sizing.h"

#include "tools/measure/feeder.h"
#include "tools/measure/splitting.h"
#include "tools/ui/message.h"
#include "tools/ui/progress.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const enum encoding breakdowns[SIZING_BREAKDOWNS] = {
	ENCODING_NAIVE,
	ENCODING_ONLINE,
	ENCODING_OPTIMUM,
};

/* Records per read. */
#define BATCH 256

/* A measurement.  The function 'run' sets 'status' and 'err'. */
struct task {
	void (*run)(const struct spool *trace, struct task *t);
	enum encoding encoding;
	unsigned flags;
	uint64_t *nbytes;
	struct breakdown *breakdown;
	enum hatf_status status;
	struct hatf_error err;
};

#define TASKS_MAX (2 * ENCODING_COUNT + SIZING_BREAKDOWNS)

struct pool {
	const struct spool *trace;
	struct task tasks[TASKS_MAX];
	size_t task_count;
	_Atomic size_t next;
	pthread_mutex_t lock; /* protects 'progress' and 'done' */
	struct progress progress;
	size_t done;
};

static void
take_apart(const struct spool *trace, struct task *t)
{
	t->status = breakdown_take(t->breakdown, trace, t->encoding, &t->err);
}

static void
measure(const struct spool *trace, struct task *t)
{
	const int fd = spool_memory();

	if (fd < 0) {
		t->err = (struct hatf_error){ .status = HATF_IO,
					      .sys_errno = errno };
		t->status = HATF_IO;
		return;
	}
	t->status = encoding_measure(trace, t->encoding, t->flags, fd,
				     t->nbytes, &t->err);
	close(fd);
}

/*
 * Measure the plain and the compressed length of a HATF encoding in one pass,
 * because the placement of metadata takes most of the time.  A thread writes
 * the trace compressed; the reader of that trace counts the bytes before and
 * after inflating.
 */
static void
measure_both(const struct spool *trace, struct task *t)
{
	struct hatf_record *const batch = calloc(BATCH, sizeof(*batch));
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct feeder f = { .status = HATF_NO_MEMORY };
	enum hatf_status status;
	size_t n;

	if (batch != NULL &&
	    feeder_open(&f, trace, t->encoding, ENCODING_COMPRESSED, 0)) {
		do
			status = hatf_reader_read(f.reader, batch, BATCH, &n);
		while (status == HATF_OK);
		hatf_reader_get_stats(f.reader, &stats);
		if (feeder_close(&f, status) == HATF_OK) {
			t->nbytes[0] = stats.hatf_nbytes;
			t->nbytes[1] = stats.file_nbytes;
		}
	}
	t->status = f.status;
	t->err = f.err;
	t->err.status = f.status;
	free(batch);
}

static void
measure_split(const struct spool *trace, struct task *t)
{
	t->status = splitting_measure(trace, t->nbytes, &t->err);
}

static struct task *
add_task(struct pool *p, enum encoding e,
	 void (*run)(const struct spool *trace, struct task *t))
{
	struct task *const t = &p->tasks[p->task_count++];

	t->encoding = e;
	t->run = run;
	return t;
}

/*
 * Add the slowest tasks first, so that all threads end at about the same time.
 */
static void
add_tasks(struct pool *p, struct sizing *sizing)
{
	for (size_t i = SIZING_BREAKDOWNS; i-- > 0;)
		add_task(p, breakdowns[i], take_apart)->breakdown =
			&sizing->breakdowns[i];
	for (unsigned e = ENCODING_COUNT; e-- > 0;) {
		uint64_t *const nbytes = sizing->nbytes[e];

		nbytes[0] = nbytes[1] = SIZING_UNKNOWN;
		if (e == ENCODING_BEST_SPLIT) {
			add_task(p, e, measure_split)->nbytes = nbytes;
			continue;
		}
		if (encoding_is_placed(e)) {
			add_task(p, e, measure_both)->nbytes = nbytes;
			continue;
		}
		for (unsigned packed = 0; packed < 2; packed++) {
			struct task *const t = add_task(p, e, measure);

			t->nbytes = &nbytes[packed];
			t->flags = packed ? ENCODING_COMPRESSED : 0;
		}
	}
}

static void
count_done(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	progress_step(&p->progress, "encodings measured", ++p->done,
		      p->task_count);
	pthread_mutex_unlock(&p->lock);
}

static void *
run_tasks(void *arg)
{
	struct pool *const p = arg;

	for (;;) {
		/*
		 * Relaxed order suffices, because atomic_fetch_add_explicit()
		 * returns each index only once, and pthread_create() made the
		 * tasks visible to the threads.
		 */
		const size_t i = atomic_fetch_add_explicit(
			&p->next, 1, memory_order_relaxed);

		if (i >= p->task_count)
			return NULL;
		p->tasks[i].run(p->trace, &p->tasks[i]);
		count_done(p);
	}
}

/*
 * Run all tasks.  The calling thread runs tasks, too, so if no thread can be
 * created, the tasks only take longer.
 */
static void
run_pool(struct pool *p, unsigned jobs)
{
	pthread_t threads[TASKS_MAX];
	size_t count = 0;

	if (jobs > p->task_count)
		jobs = (unsigned)p->task_count;
	while (count + 1 < jobs &&
	       pthread_create(&threads[count], NULL, run_tasks, p) == 0)
		count++;
	run_tasks(p);
	while (count > 0)
		pthread_join(threads[--count], NULL);
}

bool
sizing_take(struct sizing *sizing, const struct spool *trace, unsigned jobs)
{
	struct pool *const p = calloc(1, sizeof(*p));
	bool is_fine = true;

	if (p == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	p->trace = trace;
	add_tasks(p, sizing);
	pthread_mutex_init(&p->lock, NULL);
	progress_begin(&p->progress, trace->path, false);
	run_pool(p, jobs);
	progress_end(&p->progress);
	pthread_mutex_destroy(&p->lock);
	for (size_t i = 0; i < p->task_count; i++) {
		const struct task *const t = &p->tasks[i];

		if (t->status == HATF_OK || t->status == HATF_BAD_OPTION)
			continue;
		encoding_report_error(trace->path, t->encoding, &t->err);
		is_fine = false;
	}
	free(p);
	return is_fine;
}
