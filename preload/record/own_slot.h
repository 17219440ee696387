/* SPDX-License-Identifier: MIT */
/*
 * own_slot.h - has 'hatf ctl' called this process, which has no writer thread?
 *
 * The process looks at its slot of the file of bells (bells.h), which it cannot
 * write to, and remembers what it saw there last.  If the slot differs from
 * that, somebody has been called: this process, or another one with the same
 * slot.
 *
 * Any thread; nothing here allocates.  Functions that are not inline may change
 * errno.
 */
#ifndef OWN_SLOT_H
#define OWN_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hatf/recorder/bells.h"

struct own_slot {
	/* In the file; or 'seen', which never differs: it takes no orders. */
	const _Atomic uint64_t *_Atomic order;
	_Atomic uint64_t seen;
};
extern struct own_slot own_slot __attribute__((visibility("hidden")));

/*
 * A process without a writer thread asks: while it is dormant, in functions
 * that allocate; while it records, when an event finds the clock idle.
 */
static inline __attribute__((always_inline)) bool
record_is_called(void)
{
	/* relaxed, all: seeing it some time later does no harm. */
	const _Atomic uint64_t *const order =
		atomic_load_explicit(&own_slot.order, memory_order_relaxed);

	return __builtin_expect(
		atomic_load_explicit(order, memory_order_relaxed) !=
			atomic_load_explicit(&own_slot.seen,
					     memory_order_relaxed),
		0);
}

/* Is there an order for this process?  What is for others is remembered. */
bool own_slot_has_order(void);

/* Take that order.  One thread gets it; 0: there is none. */
enum bell_call own_slot_take(void);

/*
 * Take orders from now on, by 'order', the slot of this process.  An order that
 * is in it already counts if 'is_first', the process has taken none so far, and
 * if it was certainly for this process: one that was forked from a process with
 * a bell can be called before its first event.  Returns what was seen.
 */
uint64_t own_slot_open(const _Atomic uint64_t *order, bool is_first);

/* Take no orders any more. */
void own_slot_close(void);

#endif /* OWN_SLOT_H */
