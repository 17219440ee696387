/* SPDX-License-Identifier: MIT */
/* split.h - constants that shared/splitheap.c shares with its test program */
#ifndef CAPTURE_SPLIT_H
#define CAPTURE_SPLIT_H

/* The size of the blocks that a slow realloc moves. */
#define SPLIT_NBYTES 600
/* The size of a block that can be a part of the old block of such a realloc. */
#define SPLIT_PART_NBYTES 104
/* How many times each such realloc lets another thread take a part. */
#define SPLIT_PARTS 3

#endif /* CAPTURE_SPLIT_H */
