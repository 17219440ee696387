/* SPDX-License-Identifier: MIT */
/*
 * capture.h - find the number of the calling thread's call stack
 *
 * If the thread's cache of paths has the stack (path_cache.h), its number is
 * known.  Otherwise walk the stack (walk.h) and look up its number: first in
 * the stored frames of the thread's previous stack, then in the thread's memo
 * (stack_memo.h), and at last in the tree of all stacks (stack_table.h), which
 * gives each new stack a number.
 */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Prepare to capture stacks of at most 'depth' frames, 1 to WALK_DEPTH_MAX.  If
 * 'depth' is 1, capture the caller only.  Call this once for a process, and
 * again in the child of a fork, before the first capture.  Return false if
 * there is no memory, or if the recorder's own code cannot be found in memory.
 */
bool capture_init(uint32_t depth);

/*
 * Return the size in bytes of the address space that capture_init() maps.  Most
 * of it stays unused.
 */
size_t capture_nbytes(void);

/* The state of a thread's captures. */
struct capture;

/* Make the state of a thread; return NULL if there is no memory. */
struct capture *capture_make(void);

/*
 * Capture the caller's stack without the recorder's frames.  Return the stack's
 * number, or 0 if it has none.  'capture' must belong to the calling thread.  A
 * signal handler that interrupts this call must not use the same 'capture'.
 */
uint32_t capture_stack(struct capture *capture);

#endif /* CAPTURE_H */
