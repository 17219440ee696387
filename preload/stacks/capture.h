/* SPDX-License-Identifier: MIT */
/*
 * capture.h - the number of the call stack that the calling thread is on
 *
 * Walks the stack (walk.h) and looks up its number: among those of the last
 * stack, in the thread's memo (stack_memo.h), or in the tree (stack_table.h).
 */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Once for a process and again in the child of a fork, before the first
 * capture: stacks of at most 'depth' frames, 1 to WALK_DEPTH_MAX; 1 is the
 * caller alone.  False: no memory, or no way on this machine.
 */
bool capture_init(uint32_t depth);

/* Bytes of address space that capture_init() takes, nearly all of it unused. */
size_t capture_nbytes(void);

/* The state of a thread's captures. */
struct capture;

/* Make one; NULL: no memory. */
struct capture *capture_make(void);

/*
 * Capture the stack of the caller, without its frames in the recorder.  Returns
 * its number; 0: none.  'capture' is of the calling thread, which no handler
 * may use meanwhile.
 */
uint32_t capture_stack(struct capture *capture);

#endif /* CAPTURE_H */
