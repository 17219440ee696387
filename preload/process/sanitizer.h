/* SPDX-License-Identifier: MIT */
/*
 * sanitizer.h - the run-time of a sanitizer is in this process
 *
 * The run-times of AddressSanitizer, LeakSanitizer, MemorySanitizer,
 * ThreadSanitizer and their like have an allocator of their own, intercept most
 * of libc, and fail in a thread that they have not made.  A process with one of
 * them is not traced: our entry points only pass their calls on.
 * UndefinedBehaviorSanitizer does none of that, and its processes are traced.
 */
#ifndef SANITIZER_H
#define SANITIZER_H

#include <stdbool.h>

/*
 * Is there one?  The first call looks, in the thread that begins the process;
 * the answer stays.  Calls no function of libc's, since a run-time that is
 * about to begin may have intercepted it.  Any thread.
 */
bool sanitizer_is_here(void);

/* Is it in a library that ends the program if another library comes first? */
bool sanitizer_must_be_first(void);

/*
 * Let all loaded objects call the functions that they would call without us:
 * the sanitizer's reports then show the same stacks as without us.  For the
 * constructor.
 */
void sanitizer_step_aside(void);

#endif /* SANITIZER_H */
