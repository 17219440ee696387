/* SPDX-License-Identifier: MIT */
/* turns.c - see turns.h */
#include "tools/driver/turns.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLEEPER ((uint32_t)1 << 31)

/* How often a waiter looks before it sleeps: a few microseconds. */
#define SPIN_COUNT 100

static void
relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

void
turn_wait(turn_number *number, uint32_t turn)
{
	uint32_t seen;

	/*
	 * acquire, here and below: pairs with the release in turn_pass(), so
	 * that this thread sees the block's address that the other one stored.
	 */
	for (int i = 0; i < SPIN_COUNT; i++) {
		seen = atomic_load_explicit(number, memory_order_acquire);
		if ((seen & ~SLEEPER) == turn)
			return;
		relax();
	}
	for (;;) {
		seen = atomic_load_explicit(number, memory_order_acquire);
		if ((seen & ~SLEEPER) == turn)
			return;
		/* relaxed: the bit itself orders nothing. */
		if ((seen & SLEEPER) == 0 &&
		    !atomic_compare_exchange_weak_explicit(
			    number, &seen, seen | SLEEPER, memory_order_relaxed,
			    memory_order_relaxed))
			continue;
		syscall(SYS_futex, number, FUTEX_WAIT_PRIVATE, seen | SLEEPER,
			NULL, NULL, 0);
	}
}

void
turn_pass(turn_number *number)
{
	/* release: pairs with the acquire in turn_wait(). */
	const uint32_t seen =
		atomic_fetch_add_explicit(number, 1, memory_order_release);

	if ((seen & SLEEPER) == 0)
		return;
	/*
	 * relaxed: the increment has published everything.  A waiter that sets
	 * the bit again before this line finds another value in its futex call,
	 * or is asleep and woken below.
	 */
	atomic_fetch_and_explicit(number, ~SLEEPER, memory_order_relaxed);
	syscall(SYS_futex, number, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
