/* SPDX-License-Identifier: MIT */
/*
 * tick_grant.h - decide when the writer grants the tick, and to which thread
 *
 * In many programs with several threads, only one thread allocates for long
 * periods.  If the writer grants the tick to that thread, the thread needs no
 * stamps (clock.h) until another thread has an event.  The other thread then
 * revokes the tick by a locked instruction.  Frequent grants would cost the
 * program little, but each grant takes space in the trace.  The patience is how
 * long a thread must have been the only one with events before the writer
 * grants it the tick.  If grants do not last, the patience grows.
 *
 * Only the writer thread calls these functions.
 */
#ifndef TICK_GRANT_H
#define TICK_GRANT_H

#include <stdbool.h>
#include <stdint.h>

struct tick_grant {
	/*
	 * The argument 'alone' of every call of tick_grant_end_round() since
	 * 'since_ns'.
	 */
	const void *candidate;
	uint64_t since_ns;   /* when 'candidate' was set; CLOCK_MONOTONIC */
	uint64_t granted_ns; /* when the tick was granted; 0: no grant */
	uint32_t rounds;     /* whole rounds that the grant has lasted */
	uint64_t patience_ns;
};

/* Start without a grant and with the shortest patience. */
void tick_grant_init(struct tick_grant *g);

/*
 * Call this after each round of the writer in which threads had events.
 * 'alone' is the only thread that had events in the round, or NULL if several
 * threads or a signal handler had events.  'now_ns' is the present time of
 * CLOCK_MONOTONIC.  Grant the tick to 'alone' if 'alone' has been the candidate
 * for at least 'patience_ns'.
 */
void tick_grant_end_round(struct tick_grant *g, const void *alone,
			  uint64_t now_ns);

#endif /* TICK_GRANT_H */
