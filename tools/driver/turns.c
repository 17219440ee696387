/* SPDX-License-Identifier: MIT */
/* turns.c - see turns.h */
#include "tools/driver/turns.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLEEPER ((uint32_t)1 << 31)

/*
 * How many times a waiter checks the number before it sleeps.  All checks
 * together take at most a few microseconds.
 */
#define SPIN_COUNT 100

static void
relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

bool
turn_has_come(const turn_number *number, uint32_t turn)
{
	/*
	 * acquire, here and below: pairs with the release in turn_pass(), so
	 * that this thread sees the block's address that the other thread
	 * stored in the slot.
	 */
	return (atomic_load_explicit(number, memory_order_acquire) &
		~SLEEPER) == turn;
}

bool
turn_spin(const turn_number *number, uint32_t turn)
{
	for (int i = 0; i < SPIN_COUNT; i++) {
		if (turn_has_come(number, turn))
			return true;
		relax();
	}
	return false;
}

void
turn_sleep(turn_number *number, uint32_t turn)
{
	for (;;) {
		uint32_t seen =
			atomic_load_explicit(number, memory_order_acquire);

		if ((seen & ~SLEEPER) == turn)
			return;
		/* relaxed, because the bit SLEEPER orders no data. */
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
turn_wait(turn_number *number, uint32_t turn)
{
	if (!turn_spin(number, turn))
		turn_sleep(number, turn);
}

void
turn_pass(turn_number *number)
{
	/* release: pairs with the acquire in turn_has_come(). */
	const uint32_t seen =
		atomic_fetch_add_explicit(number, 1, memory_order_release);

	if ((seen & SLEEPER) == 0)
		return;
	/*
	 * relaxed, because the increment above has released everything.  If a
	 * waiter sees or sets the bit before this line clears it, the waiter's
	 * futex call either finds another value, or sleeps and is woken below.
	 */
	atomic_fetch_and_explicit(number, ~SLEEPER, memory_order_relaxed);
	syscall(SYS_futex, number, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
