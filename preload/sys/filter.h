/* SPDX-License-Identifier: MIT */
/*
 * filter.h - does the program have a filter of system calls?
 *
 * A filter may kill the process for a system call.  If there is a filter, or if
 * the program is about to install one, the recorder therefore omits some system
 * calls that it can do without.  The child of a fork inherits the filter, so
 * these functions give the same answers in the child.  Any thread may call
 * them.
 */
#ifndef FILTER_H
#define FILTER_H

#include <stdatomic.h>
#include <stdbool.h>

extern _Atomic bool filter_expected __attribute__((visibility("hidden")));

/* Call this before the program installs a filter. */
static inline void
filter_expect(void)
{
	/* relaxed: threads come under the filter only after this store. */
	atomic_store_explicit(&filter_expected, true, memory_order_relaxed);
}

static inline bool
filter_is_expected(void)
{
	/* relaxed: see filter_expect(). */
	return atomic_load_explicit(&filter_expected, memory_order_relaxed);
}

/* Does the calling thread have a filter now? */
bool filter_is_installed(void);

#endif /* FILTER_H */
