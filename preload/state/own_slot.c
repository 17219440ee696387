/* SPDX-License-Identifier: MIT */
/* own_slot.c - see own_slot.h */

#include "preload/state/own_slot.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "preload/state/process_state.h"
#include "preload/sys/procstat.h"

/* Both fields are on one cache line, which is read often and written rarely. */
_Alignas(2 * sizeof(uint64_t)) struct own_slot own_slot = {
	.order = &own_slot.seen,
};

/*
 * Find the PID namespace of this process.  The result is 0 (unknown) if the
 * root directory has no /proc.
 */
static void
find_namespace(struct bells_process *p)
{
	struct stat st;

	p->namespace = fstatat(AT_FDCWD, "/proc/self/ns/pid", &st, 0) == 0
			       ? st.st_ino
			       : 0;
}

static void
find_start(struct bells_process *p)
{
	char buf[PROCSTAT_NBYTES];
	const char *const state =
		procstat_read(AT_FDCWD, "/proc/self/stat", buf);

	p->start_ticks = state != NULL ? procstat_field(state, 22) : 0;
}

static bool
is_for_us(uint64_t order)
{
	struct bells_process p = { .number = (uint64_t)process_pid() };

	/* Ask the kernel for the namespace only if the process id matches. */
	if (!bells_is_for(order, &p))
		return false;
	find_namespace(&p);
	return bells_is_for(order, &p);
}

static bool
is_since_start(uint64_t order)
{
	struct bells_process p = { .number = (uint64_t)process_pid() };

	if (order == 0 || !bells_is_for(order, &p))
		return false;
	find_namespace(&p);
	find_start(&p);
	return bells_is_for(order, &p) && bells_is_since_start(order, &p);
}

/*
 * Find an order that this process has not yet seen.  Return false if there is
 * none.
 */
static bool
find_new(uint64_t *order_ret, uint64_t *seen_ret)
{
	/*
	 * acquire: pairs with the release in own_slot_open(), so that 'seen' is
	 * visible.
	 */
	const _Atomic uint64_t *const order =
		atomic_load_explicit(&own_slot.order, memory_order_acquire);

	/* relaxed, both: no other data depends on the two values. */
	*order_ret = atomic_load_explicit(order, memory_order_relaxed);
	*seen_ret = atomic_load_explicit(&own_slot.seen, memory_order_relaxed);
	return order != &own_slot.seen && *order_ret != *seen_ret;
}

/*
 * Store that this process has seen the order.  Return false if another thread
 * was first.
 */
static bool
remember(uint64_t order, uint64_t seen)
{
	/* relaxed, both: no other data depends on 'seen'. */
	return atomic_compare_exchange_strong_explicit(
		&own_slot.seen, &seen, order, memory_order_relaxed,
		memory_order_relaxed);
}

/*
 * May the caller take the order?  There are three cases in which it may not:
 *
 * - The caller is a child process that shares its parent's memory.  It cannot
 *   carry out an order, so leave the order to the parent.
 * - The order is for another process with the same slot.  Ignore the order from
 *   now on.
 * - The process is not traced, for example because it was made by a clone(2)
 *   that bypassed libc, and has a copy of its parent's memory.  Ignore the
 *   order from now on.
 */
static bool
is_ours_to_take(uint64_t order, uint64_t seen)
{
	if (process_is_tracing()) {
		if (!process_is_own())
			return false;
		if (is_for_us(order))
			return true;
	}
	remember(order, seen);
	return false;
}

bool
own_slot_has_order(void)
{
	uint64_t order, seen;

	return find_new(&order, &seen) && is_ours_to_take(order, seen);
}

enum bell_call
own_slot_take(void)
{
	uint64_t order, seen;

	if (!find_new(&order, &seen) || !is_ours_to_take(order, seen) ||
	    !remember(order, seen))
		return 0;
	return bells_call_of(order);
}

uint64_t
own_slot_open(const _Atomic uint64_t *order, bool is_first)
{
	/* relaxed: the order is a number that refers to no other data. */
	uint64_t seen = atomic_load_explicit(order, memory_order_relaxed);

	if (is_first && is_since_start(seen))
		seen = ~seen;
	/* relaxed: the next store publishes 'seen'. */
	atomic_store_explicit(&own_slot.seen, seen, memory_order_relaxed);
	/* release: pairs with the acquire in find_new(). */
	atomic_store_explicit(&own_slot.order, order, memory_order_release);
	return seen;
}

void
own_slot_close(void)
{
	/* relaxed: the old address stays readable, see bells_unmap(). */
	atomic_store_explicit(&own_slot.order, &own_slot.seen,
			      memory_order_relaxed);
}
