/* SPDX-License-Identifier: MIT */
/* live_trace.c - see live_trace.h */
#include "tools/live/live_trace.h"

#include "tools/symbols/comment.h"
#include "tools/ui/message.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Events per batch; the census is locked while a batch is counted. */
#define BATCH 1024

/* Maximum number of objects whose build ids are kept. */
#define OBJECTS_MAX 4096

struct live_trace {
	struct follower *follower;
	struct hatf_reader *reader;
	struct hatf_events *events;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	/* The mutex protects these members: */
	struct census *census;
	enum live_end end;
	char fault[256], end_word[32];
	uint64_t lost_count;
	struct live_object objects[OBJECTS_MAX];
	unsigned object_count;
	bool is_closing;
	/* Only the reading thread uses these members: */
	struct hatf_event batch[BATCH];
};

/* ------------------------------------------------------------------ reading */

/* Remember the build id of an object. */
static void
note_object(struct live_trace *t, const struct hatf_event *e)
{
	const struct hatf_record rec = {
		.tag = HATF_COMMENT,
		.attributes = e->attributes,
		.attributes_nbytes = e->attributes_nbytes,
	};
	char path[PATH_MAX], build_id[256];
	struct live_object *object;

	if (!comment_is(&rec, "HATF object\n") ||
	    comment_value(&rec, "object", path, sizeof(path)) <= 0 ||
	    comment_value(&rec, "build_id", build_id, sizeof(build_id)) <= 0 ||
	    t->object_count == OBJECTS_MAX)
		return;
	object = &t->objects[t->object_count];
	object->path = strdup(path);
	object->build_id = strdup(build_id);
	if (object->path == NULL || object->build_id == NULL) {
		free(object->path);
		free(object->build_id);
		return;
	}
	t->object_count++;
}

/* Count a batch.  Return false if reading must end. */
static bool
count(struct live_trace *t, size_t n)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	bool goes_on;

	pthread_mutex_lock(&t->mutex);
	for (size_t i = 0; i < n; i++)
		if (t->batch[i].kind == HATF_EVENT_COMMENT)
			note_object(t, &t->batch[i]);
	goes_on = census_add(t->census, t->batch, n) && !t->is_closing;
	if (t->census->no_memory)
		snprintf(t->fault, sizeof(t->fault), "%s",
			 hatf_status_text(HATF_NO_MEMORY));
	hatf_reader_get_stats(t->reader, &stats);
	t->lost_count = stats.lost_count;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->mutex);
	return goes_on;
}

/* Note that reading has ended with 'status'. */
static void
note_end(struct live_trace *t, enum hatf_status status)
{
	const char *const word = hatf_reader_trailer(t->reader, "end");

	pthread_mutex_lock(&t->mutex);
	if (word != NULL)
		snprintf(t->end_word, sizeof(t->end_word), "%s", word);
	if (status == HATF_END)
		t->end = LIVE_COMPLETE;
	else if (status == HATF_NO_TRAILER || status == HATF_TRUNCATED)
		t->end = LIVE_CUT;
	else
		t->end = LIVE_DAMAGED;
	if (t->end == LIVE_DAMAGED && t->fault[0] == '\0')
		message_error_text(hatf_reader_error(t->reader), t->fault,
				   sizeof(t->fault));
	if (t->end != LIVE_COMPLETE && follower_is_truncated(t->follower)) {
		t->end = LIVE_DAMAGED;
		snprintf(t->fault, sizeof(t->fault),
			 "the file was truncated while it was read");
	}
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->mutex);
}

static void *
read_all(void *ctx)
{
	struct live_trace *const t = ctx;
	enum hatf_status status;
	size_t n;

	/*
	 * After the trailer there is nothing to read.  Do not wait for the end
	 * of the pipe, because the process may go on and write another file.
	 */
	do
		status = hatf_events_read(t->events, t->batch, BATCH, &n);
	while (status == HATF_OK && count(t, n) &&
	       hatf_reader_trailer(t->reader, "end") == NULL);
	if (status == HATF_OK)
		status = hatf_reader_trailer(t->reader, "end") != NULL
				 ? HATF_END
				 : HATF_NO_MEMORY;
	note_end(t, status);
	return NULL;
}

/* -------------------------------------------------------------------- begin */

/* Open the reader, which waits for the header. */
static bool
open_reader(struct live_trace *t, const char *path)
{
	const struct hatf_reader_options options = {
		.struct_nbytes = sizeof(options),
		.fd = follower_fd(t->follower),
	};
	struct hatf_error err;

	if (hatf_reader_open(NULL, &options, &t->reader, &err) != HATF_OK) {
		message_error(path, &err);
		return false;
	}
	if (hatf_events_open(t->reader, &t->events) != HATF_OK)
		t->events = NULL;
	else if (hatf_events_number_blocks(t->events) == HATF_OK)
		t->census = census_open(t->reader, t->events, NULL);
	if (t->census == NULL)
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	return t->census != NULL;
}

static bool
start(struct live_trace *t)
{
	sigset_t all, old;
	int result;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	result = pthread_create(&t->thread, NULL, read_all, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	t->has_thread = result == 0;
	if (!t->has_thread)
		message_print("%s", strerror(result));
	return t->has_thread;
}

struct live_trace *
live_trace_open(const struct followed_file *file)
{
	struct live_trace *const t = calloc(1, sizeof(*t));
	pthread_condattr_t attr;

	if (t == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		close(file->fd);
		return NULL;
	}
	pthread_mutex_init(&t->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->changed, &attr);
	pthread_condattr_destroy(&attr);
	t->follower = follower_open(file);
	if (t->follower == NULL || !open_reader(t, file->path) || !start(t)) {
		live_trace_close(t);
		return NULL;
	}
	return t;
}

void
live_trace_close(struct live_trace *t)
{
	if (t == NULL)
		return;
	pthread_mutex_lock(&t->mutex);
	t->is_closing = true;
	pthread_mutex_unlock(&t->mutex);
	if (t->follower != NULL)
		follower_stop(t->follower);
	if (t->has_thread)
		pthread_join(t->thread, NULL);
	census_close(t->census);
	hatf_events_close(t->events);
	hatf_reader_close(t->reader);
	follower_close(t->follower);
	for (unsigned i = 0; i < t->object_count; i++) {
		free(t->objects[i].path);
		free(t->objects[i].build_id);
	}
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->mutex);
	free(t);
}

/* ------------------------------------------------------------------ looking */

bool
live_trace_wait(struct live_trace *t, uint64_t event_count, unsigned timeout_ms)
{
	struct timespec until;
	bool is_there;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&t->mutex);
	while (!(is_there = t->end != LIVE_GOES_ON ||
			    t->census->event_count >= event_count))
		if (pthread_cond_timedwait(&t->changed, &t->mutex, &until) ==
		    ETIMEDOUT)
			break;
	pthread_mutex_unlock(&t->mutex);
	return is_there;
}

bool
live_trace_measure(const char *path, int fd, struct live_figures *ret)
{
	/*
	 * With 'pid' 0 the follower does not wait, and reading stops at the
	 * current end of the file.
	 */
	const struct followed_file file = { .path = path, .fd = fd };
	struct live_trace *const t = live_trace_open(&file);
	bool is_fine;

	if (t == NULL)
		return false;
	while (!live_trace_wait(t, UINT64_MAX, 1000))
		;
	is_fine = t->end != LIVE_DAMAGED;
	if (!is_fine)
		message_print("%s: %s", path, t->fault);
	ret->live = t->census->total.live;
	ret->peak_nbytes = t->census->peak_level;
	live_trace_close(t);
	return is_fine;
}

const struct census *
live_trace_lock(struct live_trace *t)
{
	pthread_mutex_lock(&t->mutex);
	return t->census;
}

void
live_trace_unlock(struct live_trace *t)
{
	pthread_mutex_unlock(&t->mutex);
}

enum live_end
live_trace_end(const struct live_trace *t)
{
	return t->end;
}

const char *
live_trace_fault(const struct live_trace *t)
{
	return t->fault;
}

const char *
live_trace_end_word(const struct live_trace *t)
{
	return t->end_word;
}

const char *
live_trace_header(const struct live_trace *t, const char *key)
{
	return hatf_reader_header(t->reader, key);
}

uint64_t
live_trace_lost(const struct live_trace *t)
{
	return t->lost_count;
}

const char *
live_trace_build_id(const struct live_trace *t, const char *path)
{
	/*
	 * Search backwards, because a later object replaces an earlier one with
	 * the same path.
	 */
	for (unsigned i = t->object_count; i > 0; i--)
		if (strcmp(t->objects[i - 1].path, path) == 0)
			return t->objects[i - 1].build_id;
	return "";
}

double
live_trace_progress(const struct live_trace *t)
{
	uint64_t copied, nbytes;

	follower_progress(t->follower, &copied, &nbytes);
	return nbytes == 0 || copied >= nbytes
		       ? 1
		       : (double)copied / (double)nbytes;
}
