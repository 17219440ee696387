/* SPDX-License-Identifier: MIT */
/*
 * sanitizer.h - detect the run-time of a sanitizer, and stay out of its way
 *
 * The run-times of AddressSanitizer, HWAddressSanitizer, LeakSanitizer,
 * MemorySanitizer and ThreadSanitizer have their own allocator, intercept most
 * of libc, and fail in a thread that they have not made.  A process with one of
 * them is not traced: the recorder's entry points only pass on their calls.
 * The run-time of UndefinedBehaviorSanitizer does none of this, and its
 * processes are traced.
 */
#ifndef SANITIZER_H
#define SANITIZER_H

#include <stdbool.h>

/*
 * Does the process have such a run-time?  The first call searches, on the
 * thread that begins the process; later calls return the same answer.  Calls no
 * function of libc: a run-time that has not begun yet may have intercepted it.
 * Any thread.
 */
bool sanitizer_is_here(void);

/*
 * Is it in a library that ends the program if another library is loaded before?
 */
bool sanitizer_must_be_first(void);

/*
 * Make all loaded objects call the functions that they would call without the
 * recorder: the sanitizer's reports then show the same stacks.  For the
 * constructor.
 */
void sanitizer_step_aside(void);

#endif /* SANITIZER_H */
