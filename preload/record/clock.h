/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the cheapest time stamp that orders events across threads
 *
 * A stamp is a count of the processor's invariant counter (or, where there is
 * none that can be trusted, of nanoseconds).  Reading it is the most expensive
 * part of an event, so where order needs no stamp there is none: events carry a
 * tick, 'clock_tick', that the writer thread renews every millisecond.  That is
 * so while the process has one thread, and after that whenever one thread alone
 * has had events for some time: the writer grants it the tick, and any other
 * thread revokes that before its first event.
 *
 * One word holds the whole state of the clock for a producer:
 *
 *   CLOCK_IDLE      the writer sleeps; wake it (clock_wake())
 *   CLOCK_STAMPED   stamp each event, and look at the word once more after it
 *   CLOCK_PENDING   the same; the tick is about to be granted
 *   anything else   the current tick, itself a stamp; for its owner only
 *
 * Why stamps and ticks order what they must: let an event of one thread precede
 * one of another, as order.h has it, that is by the allocator's synchronisation
 * or the program's own.
 *
 *   owner, then another: a tick is older than the moment of its use, so it is
 *     below every stamp that is taken, and every tick that is granted, later.
 *   another, then owner: the other one's event is stamped.  Either it revoked
 *     the tick (stored CLOCK_STAMPED) before its event could have consequences;
 *     then the owner, who comes after it, reads that or a later word, and not
 *     the old tick.  Or it found CLOCK_STAMPED again after it had its stamp;
 *     then that stamp was taken before the writer stored CLOCK_PENDING, while
 *     the tick granted is larger than a stamp taken after that.
 *   two threads that do not own the tick: both events are stamped.
 *
 * A thread that is slow to record, and uses a tick that was revoked long ago,
 * is no exception: whatever precedes its event precedes its reading of the
 * word. tests/unit/test_clock.c tries all interleavings.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/sys/sys.h"

#define CLOCK_IDLE 0ull
/* A value that 'clock_tick' never has: the thread has announced no tick. */
#define CLOCK_NO_TICK UINT64_MAX
#define CLOCK_STAMPED (1ull << 63)
#define CLOCK_PENDING (CLOCK_STAMPED | 1)

/*
 * A moment by both clocks; 'ns', of CLOCK_MONOTONIC, was read just before
 * 'stamp'.
 */
struct clock_reading {
	uint64_t stamp, ns;
};

/*
 * Writer: read both clocks, and again if too much time has passed in between.
 * Unless the thread gets no processor, less than a microsecond lies between the
 * two.
 */
struct clock_reading clock_read(void);

/* The stamp where there is no counter. */
uint64_t clock_stamp_by_system(void);

/* Read by every producer at every event; written rarely. */
extern _Atomic uint64_t clock_tick;
extern bool clock_has_counter; /* constant after clock_init() */

/* Read the processor's counter after all earlier loads are done. */
static inline uint64_t
clock_read_counter(void)
{
#if defined(__x86_64__)
	__builtin_ia32_lfence();
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t n;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(n)::"memory");
	return n;
#else
	return 0; /* never called */
#endif
}

/*
 * A stamp that lies between what the program did before and what it does after.
 * The fence is needed on both sides of the allocator: without it the counter
 * may be read while the load that handed us the block (or the lock under which
 * the allocator got it) is still on its way from another processor, and the
 * stamp would be older than the other thread's.  Later stores cannot overtake
 * it.
 */
static inline uint64_t
clock_stamp(void)
{
	return __builtin_expect(clock_has_counter, 1) ? clock_read_counter()
						      : clock_stamp_by_system();
}

/*
 * The word once more, read after the clock that gave 'stamp': a load may
 * overtake the counter, but not one whose address is made of what the counter
 * said.
 */
static inline uint64_t
clock_tick_after(uint64_t stamp)
{
	uintptr_t offset = 0;

#if defined(__x86_64__)
	/* A zero that depends on 'stamp', also for the processor. */
	__asm__ volatile("mov %1, %0\n\tand $0, %0"
			 : "=&r"(offset)
			 : "r"(stamp)
			 : "cc", "memory");
#elif defined(__aarch64__)
	__asm__ volatile("and %0, %1, xzr"
			 : "=r"(offset)
			 : "r"(stamp)
			 : "memory");
#else
	(void)stamp;
	atomic_thread_fence(memory_order_seq_cst);
#endif
	/* relaxed: see the top; what matters is when it is read. */
	return atomic_load_explicit(&clock_tick + offset, memory_order_relaxed);
}

/* Find out whether the counter can be used; start in coarse or stamped mode. */
void clock_init(bool stamped);

/*
 * The process has, or will have, a second thread: from now on a tick is used
 * only where it is granted.  Returns true the first time.
 */
bool clock_go_stamped(void);

/* Has clock_go_stamped() been called in this process? */
bool clock_expects_threads(void);

/* Is each event stamped at present? */
bool clock_is_stamped(void);

/*
 * Producer: the writer sleeps; start the clock.  Return true if this caller
 * must wake the writer.
 */
bool clock_wake(void);

/*
 * Producer: may the thread that 'self' stands for go by 'tick', which it has
 * just read and which is neither CLOCK_IDLE nor CLOCK_STAMPED?  If not, it must
 * call clock_revoke() with it and read the word again.
 */
bool clock_is_owned(uint64_t tick, const void *self);
void clock_revoke(uint64_t tick);

/* Writer: renew the tick, go to sleep, come back. */
void clock_renew(uint64_t stamp);
void clock_set_idle(void);

/*
 * Writer: the thread that 'self' stands for, and no other, may go by ticks
 * until another one has an event.  In two steps, of which the first one fails
 * where events are not stamped, the second one where another thread had an
 * event in between.
 */
bool clock_grant_begin(const void *self);
bool clock_grant_end(void);

/* Writer: take the tick back if there is more than one thread. */
void clock_drop_grant(void);

#endif /* CLOCK_H */
