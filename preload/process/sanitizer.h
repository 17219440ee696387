/* SPDX-License-Identifier: MIT */
/*
 * sanitizer.h - detect the run-time of a sanitizer, and do not interfere with
 * it
 *
 * The run-times of AddressSanitizer, HWAddressSanitizer, LeakSanitizer,
 * MemorySanitizer and ThreadSanitizer have their own allocator, intercept most
 * of libc, and fail in a thread that they have not made.  A process with one of
 * them is not traced: the recorder's entry points only pass each call on to the
 * real function.  The run-time of UndefinedBehaviorSanitizer does none of this,
 * and its processes are traced.
 */
#ifndef SANITIZER_H
#define SANITIZER_H

#include <stdbool.h>

/*
 * Does the process have one of the run-times with which it is not traced?  The
 * first call, by the initial thread, searches the program and its libraries;
 * later calls return the same answer.  This function calls no function of libc,
 * because a run-time that is not initialized yet may intercept the call.  Any
 * thread may call this.
 */
bool sanitizer_is_here(void);

/*
 * Does the process have such a run-time as a shared library that ends the
 * program unless it is loaded before all other libraries?
 */
bool sanitizer_must_be_first(void);

/*
 * Make all loaded objects except the recorder call the functions that they
 * would call without the recorder, so that the sanitizer's reports show the
 * same stacks.  The library's constructor calls this.
 */
void sanitizer_step_aside(void);

#endif /* SANITIZER_H */
