/* SPDX-License-Identifier: MIT */
/*
 * lane_fast.h - the loop for words without WORD_SLOW
 *
 * Most words are without WORD_SLOW.  The driver's own cost is mostly that of
 * reading words, and of mispredicted branches: a processor cannot foresee
 * whether the next call of a trace is a malloc or a free.  Therefore the loop
 * makes one jump for six calls, to code for exactly this sequence of mallocs
 * and frees.  The loop finds the address of that code six calls before the
 * jump.
 */
#ifndef LANE_FAST_H
#define LANE_FAST_H

#include "tools/driver/lanes.h"

/*
 * lane_fast_run() reads at most this many words after the first word with
 * WORD_SLOW.  The memory of a chunk is therefore longer than the chunk by as
 * many words.
 */
#define LANE_FAST_AHEAD 30

/*
 * Make the calls of all words from 'next' up to, but not including, the first
 * word with WORD_SLOW.  Return the address of that word.
 */
const uint64_t *lane_fast_run(struct lane *lane, const uint64_t *next);

#endif /* LANE_FAST_H */
