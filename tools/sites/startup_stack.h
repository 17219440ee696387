/* SPDX-License-Identifier: MIT */
/*
 * startup_stack.h - recognize what standard libraries allocate at the start
 *
 * When the dynamic loader starts a program, standard libraries allocate blocks
 * for themselves, which they keep until the process ends.  For example,
 * libstdc++ allocates 72 704 bytes for exceptions that are thrown when there is
 * no memory.  Such blocks are not leaks of the program.
 */
#ifndef STARTUP_STACK_H
#define STARTUP_STACK_H

#include "hatf/hatf.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Was a block with this stack allocated by a standard library of C or C++ while
 * the dynamic loader initialized the library?  The answer is yes if the
 * outermost known frame is in the dynamic loader, and each of the other known
 * frames is in such a library, in an allocator or in the recorder.  The answer
 * is no for a stack that was cut off, or is not defined, or in which the loader
 * calls libc: that call may come from a constructor of the program, whose frame
 * is missing.  Any thread may call this function.
 */
bool startup_stack_is(const struct hatf_stacks *stacks, uint64_t stack);

#endif /* STARTUP_STACK_H */
