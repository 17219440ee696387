/* SPDX-License-Identifier: MIT */
/* straddle.h - what shared/placedheap.c shares with its test program */
#ifndef CAPTURE_STRADDLE_H
#define CAPTURE_STRADDLE_H

#define STRADDLE_PAGE	4096u
#define STRADDLE_ROUNDS 300u
/* The size of each placed block. */
#define STRADDLE_BLOCK 64u
/* Each round has three pages of its own. */
#define STRADDLE_NBYTES (STRADDLE_ROUNDS * 3 * STRADDLE_PAGE)

/* The memory of the blocks, and where the next block of this thread lies. */
char *placedheap_region(void) __attribute__((weak));
void placedheap_next(void *p) __attribute__((weak));

#endif /* CAPTURE_STRADDLE_H */
