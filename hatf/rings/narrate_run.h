/* SPDX-License-Identifier: MIT */
/*
 * narrate_run.h - write the records of a run of one-word events
 *
 * Only narrate.c calls these functions, and decides which time the records get.
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
 * Put the first few events of a run, no more than the encoder's span has room
 * for.  All events of the run belong to 'thread', and get the time 'time'.
 * Stop before an alloc whose stack has no definition yet.  Return the number of
 * words taken, and set 'stack' and 'events_taken' of '*run'.
 */
size_t narrate_put_run(struct narrator *n, uint64_t thread, uint64_t time,
		       struct order_run *run);

#endif /* NARRATE_RUN_H */
