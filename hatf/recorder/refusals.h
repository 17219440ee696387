/* SPDX-License-Identifier: MIT */
/*
 * refusals.h - the reasons of refused orders that 'hatf ctl' recognizes
 *
 * A recorder that refuses an order answers with the reason.  'hatf ctl' shows
 * most reasons as they are.  After these it does more.
 */
#ifndef REFUSALS_H
#define REFUSALS_H

/* "rotate" during a fork.  The order may succeed a moment later. */
#define REFUSAL_FORKING "a fork is under way; try again"

/* "stop", "flush" or "rotate" of a dormant process. */
#define REFUSAL_DORMANT "not recording"

#endif /* REFUSALS_H */
