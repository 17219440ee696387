/* SPDX-License-Identifier: MIT */
/* lane_samples.c - see lane_samples.h */
#include "tools/driver/lane_samples.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Return the resident bytes.  The second number of /proc/self/statm is in
 * pages.
 */
static uint64_t
resident_nbytes(const struct lane_samples *s)
{
	char text[128];
	const ssize_t n = pread(s->fd, text, sizeof(text) - 1, 0);
	const char *second;

	text[n > 0 ? n : 0] = '\0';
	second = strchr(text, ' ');
	return second != NULL ? strtoull(second, NULL, 10) * s->page_nbytes : 0;
}

void
lane_samples_note(struct lane_samples *s, uint32_t slot, uint64_t size)
{
	/*
	 * Both atomic additions are relaxed, because the counters order no
	 * other data.
	 */
	const uint64_t old = s->sizes[slot];
	const uint64_t live = atomic_fetch_add_explicit(
		&s->live_nbytes, size - old, memory_order_relaxed);
	const uint64_t count =
		1 + atomic_fetch_add_explicit(&s->call_count, 1,
					      memory_order_relaxed);
	const uint64_t idx = count / s->step;

	s->sizes[slot] = size;
	if (count % s->step != 0 || idx > LANE_SAMPLES_MAX)
		return;
	s->samples[idx - 1] = (struct lane_sample){
		.live_nbytes = live + size - old,
		.rss_nbytes = resident_nbytes(s),
	};
}

void
lane_samples_restart(struct lane_samples *s)
{
	/*
	 * relaxed, because the caller orders this store before the next call.
	 */
	atomic_store_explicit(&s->call_count, 0, memory_order_relaxed);
}
