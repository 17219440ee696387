/* SPDX-License-Identifier: MIT */
/*
 * order_run.h - find the runs of a producer (struct order_run)
 *
 * Only order.c includes this file.  The functions read the ring and change
 * nothing.
 */
#ifndef ORDER_RUN_H
#define ORDER_RUN_H

#include "hatf/rings/order.h"

/* Maximum number of words in a run. */
#define ORDER_RUN_MAX 256u

/*
 * Return an empty run at s->pos.  Set '*max_ret' to the number of words that a
 * run there may have: at most ORDER_RUN_MAX, and none beyond the end of the
 * ring's memory.
 */
static inline struct order_run
order_run_begin(const struct order_producer *s, uint64_t *max_ret)
{
	const uint64_t mask = ring_mask(s->ring);
	const uint64_t at = s->pos & mask;
	uint64_t max = s->seen_head - s->pos;

	if (max > ORDER_RUN_MAX)
		max = ORDER_RUN_MAX;
	if (max > mask + 1 - at)
		max = mask + 1 - at;
	*max_ret = max;
	return (struct order_run){
		.words = &s->ring->words[at],
		.stamp = s->stamp,
		.stack = s->stack,
	};
}

/* Return the run of events without stamps from s->pos on. */
static inline struct order_run
order_run_find(const struct order_producer *s)
{
	uint64_t max;
	struct order_run run = order_run_begin(s, &max);
	const uint64_t *const words = run.words;
	size_t n = 0;

	while (n < max && ((words[n] & EVENT_KIND_MASK) <= EVENT_KIND_FREE ||
			   event_is_stack(words[n])))
		n++;
	run.count = n;
	return run;
}

/*
 * Return the run of events with stamps from s->pos on.  Their stamps do not
 * decrease, and are at most 'bound'.
 */
static inline struct order_run
order_run_find_stamped(const struct order_producer *s, uint64_t bound)
{
	uint64_t max;
	struct order_run run = order_run_begin(s, &max);
	const uint64_t *const words = run.words;
	uint64_t stamp = s->stamp;
	size_t n = 0;

	while (n + 1 < max) {
		const unsigned kind = words[n] & EVENT_KIND_MASK;

		if ((kind != EVENT_KIND_ALLOC_STAMPED &&
		     kind != EVENT_KIND_FREE_STAMPED) ||
		    words[n + 1] < stamp || words[n + 1] > bound)
			break;
		stamp = words[n + 1];
		n += 2;
	}
	run.count = n;
	run.is_stamped = true;
	return run;
}

#endif /* ORDER_RUN_H */
