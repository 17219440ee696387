/* SPDX-License-Identifier: MIT */
/*
 * filter.h - may the program have a filter of system calls?
 *
 * A filter may kill the process for a system call.  Once the answer is yes, the
 * recorder therefore omits some system calls that it can do without.  The child
 * of a fork inherits both the filter and the answer.  Any thread may call these
 * functions.
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

#endif /* FILTER_H */
