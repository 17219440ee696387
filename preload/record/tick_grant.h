/* SPDX-License-Identifier: MIT */
/*
 * tick_grant.h - which thread is granted the tick, and when
 *
 * In many programs with several threads, only one allocates for long times.
 * That one needs no stamps (clock.h) until another thread has an event.  Taking
 * the tick back costs that thread a locked instruction, so granting it often
 * would do no harm to the program, but each grant takes space in the trace.  So
 * the patience, the time for which a thread must have been the only one, grows
 * if grants do not last.
 *
 * Belongs to the writer thread.
 */
#ifndef TICK_GRANT_H
#define TICK_GRANT_H

#include <stdbool.h>
#include <stdint.h>

struct tick_grant {
	const void
		*candidate;  /* alone in the last rounds with events; or NULL */
	uint64_t since_ns;   /* when 'candidate' was set; CLOCK_MONOTONIC */
	uint64_t granted_ns; /* 0: no thread has the tick by a grant */
	uint64_t patience_ns;
};

void tick_grant_init(struct tick_grant *g);

/*
 * After a round, at 'now_ns': 'alone' is the only thread that had events in it,
 * NULL if there were several.  Rounds without events do not count.
 */
void tick_grant_end_round(struct tick_grant *g, const void *alone,
			  uint64_t now_ns);

#endif /* TICK_GRANT_H */
