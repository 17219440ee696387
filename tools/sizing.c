/* SPDX-License-Identifier: MIT */
/* sizing.c - see sizing.h */
#include "sizing.h"

#include "speak.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One length to find out. */
struct task {
	enum encoding encoding;
	unsigned flags;
	uint64_t *nbytes;
	enum hatf_status status;
	struct hatf_error err;
};

#define TASKS_MAX (2 * ENCODING_COUNT + 3)

struct pool {
	const struct spool *trace;
	struct task tasks[TASKS_MAX];
	size_t task_count;
	_Atomic size_t next;
};

static void
add_task(struct pool *p, enum encoding e, unsigned flags, uint64_t *nbytes)
{
	*nbytes = SIZING_UNKNOWN;
	p->tasks[p->task_count++] = (struct task){
		.encoding = e,
		.flags = flags,
		.nbytes = nbytes,
	};
}

static void
add_tasks(struct pool *p, struct sizing *sizing)
{
	static const enum encoding whole[] = { ENCODING_NAIVE, ENCODING_ONLINE,
					       ENCODING_OPTIMUM };

	for (unsigned e = 0; e < ENCODING_COUNT; e++) {
		add_task(p, e, 0, &sizing->nbytes[e][0]);
		add_task(p, e, ENCODING_PACKED, &sizing->nbytes[e][1]);
		sizing->whole_nbytes[e] = SIZING_UNKNOWN;
	}
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		add_task(p, whole[i], ENCODING_WHOLE | ENCODING_FAST,
			 &sizing->whole_nbytes[whole[i]]);
}

static void
run_task(const struct spool *trace, struct task *t)
{
	const int fd = spool_memory();

	if (fd < 0) {
		t->err = (struct hatf_error){ .status = HATF_IO,
					      .sys_errno = errno };
		t->status = HATF_IO;
		return;
	}
	t->status = encoding_write(trace, t->encoding, t->flags, fd, true,
				   t->nbytes, &t->err);
	if (t->status != HATF_OK)
		*t->nbytes = SIZING_UNKNOWN;
	close(fd);
}

static void *
run_tasks(void *arg)
{
	struct pool *const p = arg;

	for (;;) {
		/* relaxed: each number is given out once; what the task holds
		 * was there before the threads. */
		const size_t i = atomic_fetch_add_explicit(
			&p->next, 1, memory_order_relaxed);

		if (i >= p->task_count)
			return NULL;
		run_task(p->trace, &p->tasks[i]);
	}
}

/* This thread works too, so a thread that cannot be had is not missed. */
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
		speak("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	p->trace = trace;
	add_tasks(p, sizing);
	run_pool(p, jobs);
	for (size_t i = 0; i < p->task_count; i++) {
		const struct task *const t = &p->tasks[i];

		if (t->status == HATF_OK || t->status == HATF_LIMIT)
			continue;
		encoding_complain(trace->path, t->encoding, &t->err);
		is_fine = false;
	}
	free(p);
	return is_fine;
}
