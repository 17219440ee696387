/* SPDX-License-Identifier: MIT */
/*
 * own_slot.h - orders of 'hatf ctl' to a process without a writer thread
 *
 * The process has a slot in the file of bells (bells.h), and can read this slot
 * but not write to it.  The process remembers the value that it read last.  If
 * the slot has a new value, 'hatf ctl' has written an order for this process,
 * or for another process with the same slot.
 *
 * Any thread may call these functions; none allocates.  Those that are not
 * inline may change errno.
 */
#ifndef OWN_SLOT_H
#define OWN_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hatf/recorder/bells.h"

struct own_slot {
	/*
	 * Address of the slot in the file.  While the process takes no orders,
	 * this is &seen, so that the value at the address never differs from
	 * 'seen'.
	 */
	const _Atomic uint64_t *_Atomic order;
	_Atomic uint64_t seen;
};
extern struct own_slot own_slot __attribute__((visibility("hidden")));

/*
 * Has the slot changed?  Threads of a process without a writer thread check
 * this.  While the process is dormant, functions that allocate check it.  While
 * the process records, an event that finds the clock idle checks it.
 */
static inline __attribute__((always_inline)) bool
own_slot_is_called(void)
{
	/* relaxed, all accesses: a caller may see an order some time later. */
	const _Atomic uint64_t *const order =
		atomic_load_explicit(&own_slot.order, memory_order_relaxed);

	return __builtin_expect(
		atomic_load_explicit(order, memory_order_relaxed) !=
			atomic_load_explicit(&own_slot.seen,
					     memory_order_relaxed),
		0);
}

/*
 * Return whether the slot has a new order for this process.  If the order is
 * for another process, later calls ignore it.
 */
bool own_slot_has_order(void);

/*
 * Take the order for this process.  Only one thread gets an order.  Return 0 if
 * there is no order, or if another thread has taken it.
 */
enum bell_call own_slot_take(void);

/*
 * From now on, take orders from 'order', the slot of this process.  'is_first'
 * means that the process has not taken orders before.  In this case, an order
 * that is already in the slot counts as new if it has the id and the start time
 * of this process.  ('hatf ctl' can write an order for a child before the
 * child's first event.)  Return the value that counts as seen; any other value
 * is a new order.
 */
uint64_t own_slot_open(const _Atomic uint64_t *order, bool is_first);

/* Stop taking orders. */
void own_slot_close(void);

#endif /* OWN_SLOT_H */
