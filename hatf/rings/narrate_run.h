/* SPDX-License-Identifier: MIT */
/*
 * narrate_run.h - write the records of a run (struct order_run)
 *
 * Only narrate.c calls these functions.
 */
#ifndef NARRATE_RUN_H
#define NARRATE_RUN_H

#include "hatf/rings/narrate.h"

/*
 * May narrate_put_run() be called now?  If not, narrate.c puts the events of a
 * run one by one.
 */
bool narrate_can_take_run(const struct narrator *n);

/*
 * Put the first few events of a run without stamps, no more than the encoder's
 * span has room for.  All events belong to 'thread', and get the time 'time'.
 * Stop before an alloc whose stack has no definition yet.  Return the number of
 * words taken, and set 'stack' and 'events_taken' of '*run'.
 */
size_t narrate_put_run(struct narrator *n, uint64_t thread, uint64_t time,
		       struct order_run *run);

/*
 * Put the first few events of a run with stamps, no more than the encoder's
 * span has room for.  All events belong to 'thread'.  Stop before a stamp that
 * is later than the last reading of the clock, since the caller must read the
 * clock first.  Take no event if the trace has stacks.  Return the number of
 * words taken, set 'events_taken' of '*run', and count the events.
 */
size_t narrate_put_stamped_run(struct narrator *n, uint64_t thread,
			       struct order_run *run);

#endif /* NARRATE_RUN_H */
