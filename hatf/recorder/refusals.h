/* SPDX-License-Identifier: MIT */
/*
 * refusals.h - the reasons of refused orders that 'hatf ctl' recognizes
 *
 * A recorder that refuses an order answers with the reason.  'hatf ctl' shows
 * most reasons as they are, but recognizes the following ones.
 */
#ifndef REFUSALS_H
#define REFUSALS_H

/*
 * The answer to "rotate" during a fork.  'hatf ctl' repeats the order, because
 * the order may succeed a moment later.
 */
#define REFUSAL_FORKING "a fork is under way; try again"

/*
 * The answer of a dormant process to "stop", "flush" or "rotate".  'hatf ctl'
 * prints a message of its own instead of this answer.
 */
#define REFUSAL_DORMANT "not recording"

#endif /* REFUSALS_H */
