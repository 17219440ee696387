/* SPDX-License-Identifier: MIT */
/* wide.h - constants that shared/wideheap.c shares with its test program */
#ifndef CAPTURE_WIDE_H
#define CAPTURE_WIDE_H

/* Blocks of this size are slow to reallocate. */
#define WIDE_NBYTES 4096

#endif /* CAPTURE_WIDE_H */
