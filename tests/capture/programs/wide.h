/* SPDX-License-Identifier: MIT */
/* wide.h - what shared/wideheap.c and the program that uses it agree on */
#ifndef CAPTURE_WIDE_H
#define CAPTURE_WIDE_H

/* Blocks of this size are the slow ones. */
#define WIDE_NBYTES 4096

#endif /* CAPTURE_WIDE_H */
