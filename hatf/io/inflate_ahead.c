/* SPDX-License-Identifier: MIT */
/*
 * inflate_ahead.c - see inflate_ahead.h
 *
 * A ring of members, protected by one lock:
 *
 *	front            taken             back
 *	| done, or being | waiting for a   | room
 *	| inflated       | thread          |
 *
 * The counts 'front', 'taken' and 'back' only grow.  Such a count, modulo
 * 'member_count', is an index in 'members'.  Decompressing a member takes a
 * tenth of a millisecond, so there is little contention for the lock.
 */
#include "hatf/io/inflate_ahead.h"

#include "hatf/hatf.h"
#include "hatf/io/inflate.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct inflate_ahead {
	/*
	 * protects 'taken', 'back' and 'stopping', and 'done' and 'good' of
	 * each gzip member in the queue
	 */
	pthread_mutex_t lock;
	/* signals that 'back' or 'stopping' has changed */
	pthread_cond_t work;
	pthread_cond_t ready; /* signals that a gzip member is done */
	uint64_t front, taken, back;
	bool stopping;
	unsigned member_count, thread_count;
	struct inflate_ahead_member *members;
	pthread_t threads[HATF_READER_JOBS_MAX];
};

static struct inflate_ahead_member *
member(const struct inflate_ahead *a, uint64_t count)
{
	return &a->members[count % a->member_count];
}

/*
 * Return the next member that the calling thread must decompress.  Wait until
 * there is one.  Return NULL if the thread must stop.
 */
static struct inflate_ahead_member *
take(struct inflate_ahead *a)
{
	struct inflate_ahead_member *m = NULL;

	pthread_mutex_lock(&a->lock);
	while (!a->stopping && a->taken == a->back)
		pthread_cond_wait(&a->work, &a->lock);
	if (!a->stopping)
		m = member(a, a->taken++);
	pthread_mutex_unlock(&a->lock);
	return m;
}

static void *
run(void *arg)
{
	struct inflate_ahead *const a = arg;
	struct inflate *const inflate = inflate_open();
	struct inflate_ahead_member *m;

	while ((m = take(a)) != NULL) {
		/*
		 * If there was no memory for a decompressor, report every
		 * member as damaged; input.c then decompresses the members with
		 * zlib's inflate().
		 */
		const bool good = inflate != NULL &&
				  inflate_member(inflate, m->in, m->in_nbytes,
						 m->out, m->out_nbytes);

		pthread_mutex_lock(&a->lock);
		m->good = good;
		m->done = true;
		pthread_cond_signal(&a->ready);
		pthread_mutex_unlock(&a->lock);
	}
	inflate_close(inflate);
	return NULL;
}

/*
 * Start up to 'jobs' threads that block all signals, so that the program's own
 * threads handle the signals.
 */
static void
start_threads(struct inflate_ahead *a, unsigned jobs)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (a->thread_count < jobs &&
	       pthread_create(&a->threads[a->thread_count], NULL, run, a) == 0)
		a->thread_count++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool
allocate(struct inflate_ahead *a)
{
	a->members = calloc(a->member_count, sizeof(*a->members));
	for (unsigned i = 0; a->members != NULL && i < a->member_count; i++) {
		a->members[i].in = malloc(INFLATE_AHEAD_MEMBER_NBYTES);
		a->members[i].out = malloc(INFLATE_AHEAD_MEMBER_NBYTES);
		if (a->members[i].in == NULL || a->members[i].out == NULL)
			return false;
	}
	return a->members != NULL;
}

struct inflate_ahead *
inflate_ahead_open(unsigned jobs)
{
	struct inflate_ahead *const a = calloc(1, sizeof(*a));

	if (a == NULL)
		return NULL;
	if (jobs > HATF_READER_JOBS_MAX)
		jobs = HATF_READER_JOBS_MAX;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->work, NULL);
	pthread_cond_init(&a->ready, NULL);
	a->member_count = 2 * jobs + 2;
	if (allocate(a))
		start_threads(a, jobs);
	if (a->thread_count != 0)
		return a;
	inflate_ahead_close(a);
	return NULL;
}

void
inflate_ahead_close(struct inflate_ahead *a)
{
	if (a == NULL)
		return;
	pthread_mutex_lock(&a->lock);
	a->stopping = true;
	pthread_cond_broadcast(&a->work);
	pthread_mutex_unlock(&a->lock);
	for (unsigned i = 0; i < a->thread_count; i++)
		pthread_join(a->threads[i], NULL);
	for (unsigned i = 0; a->members != NULL && i < a->member_count; i++) {
		free(a->members[i].in);
		free(a->members[i].out);
	}
	free(a->members);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->work);
	pthread_cond_destroy(&a->ready);
	free(a);
}

/*
 * Only the reader's thread calls the functions below, and no other thread
 * changes 'front' and 'back'.  So these functions may read both without the
 * lock.
 */

bool
inflate_ahead_is_empty(const struct inflate_ahead *a)
{
	return a->front == a->back;
}

struct inflate_ahead_member *
inflate_ahead_room(struct inflate_ahead *a)
{
	return a->back - a->front == a->member_count ? NULL
						     : member(a, a->back);
}

void
inflate_ahead_put(struct inflate_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	member(a, a->back)->done = false;
	a->back++;
	pthread_cond_signal(&a->work);
	pthread_mutex_unlock(&a->lock);
}

const struct inflate_ahead_member *
inflate_ahead_front(struct inflate_ahead *a)
{
	struct inflate_ahead_member *const m = member(a, a->front);

	if (inflate_ahead_is_empty(a))
		return NULL;
	pthread_mutex_lock(&a->lock);
	while (!m->done)
		pthread_cond_wait(&a->ready, &a->lock);
	pthread_mutex_unlock(&a->lock);
	return m;
}

void
inflate_ahead_drop(struct inflate_ahead *a)
{
	a->front++;
}
