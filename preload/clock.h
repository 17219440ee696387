/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the cheapest time stamp that orders events across threads
 *
 * A stamp is a count of the processor's invariant counter (or, where there is
 * none that can be trusted, of nanoseconds).  Reading it is the dearest part of
 * an event, so a process with one thread, where order needs no stamp, does
 * without: its events carry a tick, 'clock_tick', that the writer thread renews
 * every millisecond.  From the second thread on each event is stamped.
 *
 * One word tells a producer all it must know:
 *
 *   CLOCK_IDLE      the writer sleeps; wake it (clock_wake())
 *   CLOCK_STAMPED   stamp each event
 *   anything else   the current tick, itself a stamp
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sys.h"

#define CLOCK_IDLE 0ull
/* What 'clock_tick' never is: for a thread that has announced no tick yet. */
#define CLOCK_NO_TICK UINT64_MAX
#define CLOCK_STAMPED (1ull << 63)

/* The stamp where there is no counter. */
uint64_t clock_stamp_by_system(void);

/* Read by every producer at every event; written rarely. */
extern _Atomic uint64_t clock_tick;
extern bool clock_has_counter; /* constant after clock_init() */

/*
 * A stamp that lies between what the program did before and what it does after.
 * The fence is needed on both sides of the allocator: without it the counter may
 * be read while the load that handed us the block (or the lock under which the
 * allocator got it) is still on its way from another processor, and the stamp
 * would be older than the other thread's.  Later stores cannot overtake it.
 */
static inline uint64_t
clock_stamp(void)
{
#if defined(__x86_64__)
	if (__builtin_expect(clock_has_counter, 1)) {
		__builtin_ia32_lfence();
		return __builtin_ia32_rdtsc();
	}
#elif defined(__aarch64__)
	if (__builtin_expect(clock_has_counter, 1)) {
		uint64_t n;

		__asm__ volatile("isb\n\tmrs %0, cntvct_el0"
				 : "=r"(n)::"memory");
		return n;
	}
#endif
	return clock_stamp_by_system();
}

/* Find out what this machine has; start in coarse or stamped mode. */
void clock_init(bool stamped);

/* From now on, for good, every event has a stamp.  Returns true the first time. */
bool clock_go_stamped(void);
bool clock_is_stamped(void);

/*
 * Producer: the writer sleeps; set the clock going.  Returns true if it is this
 * caller who must wake the writer.
 */
bool clock_wake(void);

/* Writer: renew the tick, go to sleep, come back. */
void clock_renew(uint64_t stamp);
void clock_set_idle(void);

#endif /* CLOCK_H */
