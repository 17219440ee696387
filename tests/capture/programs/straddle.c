/* SPDX-License-Identifier: MIT */
/*
 * straddle.c - two threads have blocks on a page, and one of these blocks also
 * lies on the page before it
 *
 * usage: straddle
 *
 * Only stamps can order the events of the straddling block before and after
 * those of the other thread.  In each round, the initial thread takes a stamp
 * at such a moment that an event of the straddling block without a stamp would
 * come too early in the trace, or the other thread's would.  The blocks lie
 * where shared/placedheap.c puts them.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "straddle.h"

static atomic_uint turn;

/* Wait until 'step' steps are done. */
static void
await(unsigned step)
{
	while (atomic_load(&turn) != step)
		sched_yield();
}

static void
end_turn(void)
{
	atomic_fetch_add(&turn, 1);
}

static char *
place(char *p)
{
	placedheap_next(p);
	return malloc(STRADDLE_BLOCK);
}

/* The steps of the other thread: 1, 3 and 5 of each round. */
static void *
be_other(void *arg)
{
	for (unsigned i = 0; i < STRADDLE_ROUNDS; i++) {
		char *const page =
			placedheap_region() + (3 * i + 1) * STRADDLE_PAGE;

		await(6 * i + 1);
		free(place(page + 16));
		end_turn();
		await(6 * i + 3);
		free(place(page + 256));
		end_turn();
		await(6 * i + 5);
		free(place(page + 16));
		end_turn();
	}
	return arg;
}

int
main(void)
{
	pthread_t other;

	if (placedheap_region == NULL ||
	    pthread_create(&other, NULL, be_other, NULL) != 0)
		return 2;
	for (unsigned i = 0; i < STRADDLE_ROUNDS; i++) {
		char *const page = placedheap_region() + 3 * i * STRADDLE_PAGE;
		char *const last = page + 2 * STRADDLE_PAGE;
		char *first, *straddling, *third;

		await(6 * i);
		first = place(page + 64);
		end_turn();
		await(6 * i + 2);
		straddling = place(page + STRADDLE_PAGE - 32);
		end_turn();
		await(6 * i + 4);
		third = place(last + 64);
		free(straddling);
		end_turn();
		await(6 * i + 6);
		free(first);
		free(third);
	}
	return pthread_join(other, NULL) != 0;
}
