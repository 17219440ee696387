/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the cheapest time stamp that orders events across threads
 *
 * A stamp is a value of the processor's invariant counter or, where there is no
 * counter that can be trusted, a time in nanoseconds.  Taking a stamp is the
 * most expensive part of an event.  An event whose place in the order is known
 * without a stamp has none: the event uses a tick, 'clock_tick', that the
 * writer thread renews every millisecond, or less often under load.  No event
 * needs a stamp while the process has one thread.  Later, no event needs a
 * stamp whenever only one thread has had events for some time: the writer
 * grants the tick to that thread, and any other thread revokes the grant before
 * its own first event.
 *
 * With HATFTRACE_CLOCK=us or ns each event has its own time.  While the process
 * has one thread, the ring alone gives the order of the events, so the thread
 * reads the counter without a fence (unfenced mode; ORDER.md, "Unfenced mode").
 *
 * One word, 'clock_tick', holds the whole state of the clock for a producer:
 *
 *   CLOCK_IDLE      the writer sleeps; wake it if it is needed (clock_wake())
 *   CLOCK_STAMPED   stamp each event, and read the word again after the stamp
 *   CLOCK_PENDING   as CLOCK_STAMPED; the writer is about to grant the tick
 *   CLOCK_UNFENCED  the only thread stamps each event, without a fence
 *   anything else   the current tick, itself a stamp; for its owner only
 *
 * CLOCK_STAMPED has an exception: an event needs no stamp if its thread owns
 * the pages of the event's block (owners.h), and if the epoch has not changed
 * since the thread's last stamp.  ORDER.md proves that these events are in the
 * right order.  What follows is about all other events.
 *
 * Why stamps and ticks give the right order: let event A of one thread precede
 * event B of another (as ORDER.md defines it: through the synchronization of
 * the allocator or of the program).  The owner is the thread that may use the
 * tick.
 *
 *   A by the owner, B by another thread: a tick is older than the moment of its
 *     use, so A's tick is below every stamp that is taken later, and below
 *     every tick that is granted later.
 *   A by another thread, B by the owner: A is stamped.  There are two cases:
 *     - A's thread revoked the tick (stored CLOCK_STAMPED) before A could have
 *       consequences.  The owner, whose B comes later, then reads CLOCK_STAMPED
 *       or a later word, and not the old tick.
 *     - A's thread read CLOCK_STAMPED again after it had taken A's stamp.  A's
 *       stamp is then older than the writer's store of CLOCK_PENDING.  The tick
 *       that is granted is larger than a stamp taken after that store, and so
 *       larger than A's stamp.
 *   Neither thread owns the tick: both events are stamped.
 *
 * The order is also right if a thread is slow to record and uses a tick that
 * was revoked long ago: every event that precedes the event of the slow thread
 * also precedes the moment at which that thread read 'clock_tick'.
 * tests/unit/preload/clock/test_clock.c tries all interleavings.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/sys/sys.h"

#define CLOCK_IDLE 0ull
/*
 * Value of 'tick' in struct thread (preload/record/thread.h) if the ring has no
 * tick that later events may use.  'clock_tick' never has this value.
 */
#define CLOCK_NO_TICK UINT64_MAX
#define CLOCK_STAMPED (1ull << 63)
#define CLOCK_PENDING (CLOCK_STAMPED | 1)
/*
 * As a signed number this is -2, which takes only one byte as the operand of a
 * comparison.
 */
#define CLOCK_UNFENCED (UINT64_MAX - 1)
/*
 * Value of 'tick' in struct thread if the thread may read the clock without a
 * fence whenever 'clock_tick' is CLOCK_UNFENCED.  'clock_tick' never has this
 * value.
 */
#define CLOCK_UNFENCED_OWN (UINT64_MAX - 2)

/*
 * How long a brief tick may last, in units of the stamp (EVENT_FLAG_BRIEF):
 * at most two milliseconds at any frequency that a counter has.
 */
#if defined(__aarch64__)
#define CLOCK_BRIEF (1u << 14)
#else
#define CLOCK_BRIEF (1u << 16)
#endif

/*
 * One moment on both clocks: 'ns' is a time of CLOCK_MONOTONIC, and 'stamp' is
 * a stamp that was taken just after 'ns'.
 */
struct clock_reading {
	uint64_t stamp, ns;
};

/*
 * Writer: read CLOCK_MONOTONIC and take a stamp.  If too much time passes
 * between the two, try again, a few times at most.  The readings returned are
 * less than a microsecond apart, unless the thread is starved.
 */
struct clock_reading clock_read(void);

/* The stamp where there is no counter: a time of CLOCK_MONOTONIC, in ns. */
uint64_t clock_stamp_by_system(void);

/* Read by every producer at every event; written rarely. */
extern _Atomic uint64_t clock_tick;
/*
 * This number changes when every thread must stamp its next event.  It is never
 * 0.  In stamped mode, an event can do without a stamp only if this number is
 * the same as at the thread's last stamp.
 */
extern _Atomic uint64_t clock_epoch;
/*
 * Has clock_go_stamped() announced a second thread, or was clock_init() called
 * with 'stamped'?  If so, a thread may use a tick only if the writer has
 * granted the tick to that thread.  Only clock.c writes 'clock_stamped'.
 */
extern _Atomic bool clock_stamped;
extern bool clock_has_counter; /* constant after clock_init() */

/* Read 'clock_stamped'. */
static inline bool
clock_expects_threads(void)
{
	/*
	 * relaxed: a thread that reads false is the only one, or calls
	 * clock_go_stamped(), whose exchange orders the threads.
	 */
	return atomic_load_explicit(&clock_stamped, memory_order_relaxed);
}

/* Read the processor's counter after all earlier loads have completed. */
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
	return 0; /* not called: clock_has_counter is false */
#endif
}

/*
 * Take a stamp.  The processor reads the counter after all earlier loads of the
 * calling thread, and before all later stores.  (For later loads, see
 * clock_end_stamp().)  Both an event that is recorded before the call of the
 * allocator (a free) and an event that is recorded after the call (an
 * allocation) need this order.  Without the fence in clock_read_counter(), the
 * processor may read the counter while an earlier load still waits for another
 * processor: the load that handed us the block, or the load of the lock under
 * which the allocator got the block.  The stamp would then be older than the
 * stamp of the event by which another thread gave up the block.
 */
static inline uint64_t
clock_stamp(void)
{
	return __builtin_expect(clock_has_counter, 1) ? clock_read_counter()
						      : clock_stamp_by_system();
}

/*
 * Read the processor's counter without a fence.  This takes half as long as
 * clock_read_counter().  The result may be some hundred cycles old, and older
 * than an earlier stamp of this thread.  But if the thread stores the result,
 * the processor reads the counter before the store.
 */
static inline uint64_t
clock_read_unfenced(void)
{
#if defined(__x86_64__)
	/*
	 * RDTSC overwrites RAX, which is the result in malloc().  Keep the
	 * value of RAX here, because the compiler would move it on every path
	 * through malloc(), even if the path reads no clock.
	 */
	register uint64_t n __asm__("r11");
	register uint64_t rax __asm__("r10");

	__asm__ volatile("mov %%rax, %1\n\trdtsc\n\tshl $32, %%rdx\n\t"
			 "lea (%%rax,%%rdx), %0\n\tmov %1, %%rax"
			 : "=&r"(n), "=&r"(rax)
			 :
			 : "rdx", "cc", "memory");
	return n;
#elif defined(__aarch64__)
	uint64_t n;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(n)::"memory");
	return n;
#else
	return 0; /* not called: clock_has_counter is false */
#endif
}

/*
 * Read the clock without a fence.  The result shows how much time has passed,
 * but does not order events; see clock_read_unfenced().
 */
static inline uint64_t
clock_glance(void)
{
	return __builtin_expect(clock_has_counter, 1) ? clock_read_unfenced()
						      : clock_stamp_by_system();
}

/*
 * Call this after taking a stamp: no later load of this thread runs before the
 * processor has read the clock.
 */
static inline void
clock_end_stamp(void)
{
#if defined(__x86_64__)
	__builtin_ia32_lfence();
#elif defined(__aarch64__)
	__asm__ volatile("isb" : : : "memory");
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

/*
 * Read 'clock_tick' again, after the reading of the clock that gave 'stamp'.  A
 * load may overtake the reading of the counter, but not if the load's address
 * depends on the counter's value.
 */
static inline uint64_t
clock_tick_after(uint64_t stamp)
{
	uintptr_t offset = 0;

#if defined(__x86_64__)
	/* Zero, but the processor treats it as dependent on 'stamp'. */
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
	/*
	 * relaxed: only the moment of the load matters; see the top of this
	 * file.
	 */
	return atomic_load_explicit(&clock_tick + offset, memory_order_relaxed);
}

/*
 * Find out whether the counter can be used, and start the clock.  The clock
 * starts with a tick unless 'stamped' is set.  If 'stamped' is set, each event
 * has its own stamp from the start: the clock starts in unfenced mode, or in
 * stamped mode if there is no counter.
 */
void clock_init(bool stamped);

/*
 * Is the clock in unfenced mode, or will it be once it is no longer idle?  The
 * answer is false once clock_go_stamped() has been called.
 */
bool clock_omits_fences(void);

/*
 * Announce that the process has, or will have, a second thread.  From then on,
 * a thread may use a tick only if the writer has granted the tick to this
 * thread, and no thread may omit a fence.  Return true if, until this call, the
 * only thread could use ticks that nobody had granted to it.
 */
bool clock_go_stamped(void);

/*
 * Increase the epoch; this is the bump of ORDER.md.  If another thread later
 * gets memory that the caller has freed, or learns of an event of the caller,
 * that thread also sees the new epoch, and stamps its next event.  That stamp
 * is larger than all earlier stamps of the caller.  The call is a full barrier.
 */
void clock_bump(void);

/*
 * Is the clock in stamped mode, so that no thread may use a tick at present?
 * If clock_expects_threads() is true, an idle clock is in stamped mode, too.
 */
bool clock_is_stamped(void);

/*
 * A producer calls this if 'clock_tick' is CLOCK_IDLE (the writer sleeps) and
 * wake_is_wanted() is true.  Start the clock.  Return true if this caller must
 * wake the writer.
 */
bool clock_wake(void);

/*
 * A producer asks: may the thread 'self' use 'tick'?  The caller has just read
 * 'tick' from 'clock_tick'; 'tick' is not CLOCK_IDLE, CLOCK_STAMPED or
 * CLOCK_UNFENCED.  If the result is false, the caller must call clock_revoke()
 * with this tick and read 'clock_tick' again.  If 'tick' is CLOCK_PENDING, true
 * means only that the caller need not revoke the tick; the caller must still
 * stamp its event.
 */
bool clock_is_owned(uint64_t tick, const void *self);

/*
 * Call clock_bump().  Then, if 'clock_tick' is still 'tick', the value that the
 * caller has read, change to stamped mode.
 */
void clock_revoke(uint64_t tick);

/*
 * Writer: if 'clock_tick' is a tick older than 'stamp', make 'stamp' the tick.
 */
void clock_renew(uint64_t stamp);

/*
 * The writer calls this function before it sleeps.  Afterwards, the first
 * producer that needs the writer calls clock_wake().
 */
void clock_set_idle(void);

/*
 * Writer: grant the tick to the thread that 'self' identifies.  Only that
 * thread uses ticks until another thread has an event.  The grant has two
 * steps: clock_grant_begin() and clock_grant_end().  Each step returns false on
 * failure.  The first step fails if the clock is not in stamped mode.  The
 * second step fails if another thread had an event in between.
 */
bool clock_grant_begin(const void *self);
bool clock_grant_end(void);

/* Writer: if the process has more than one thread, take back a granted tick. */
void clock_drop_grant(void);

#endif /* CLOCK_H */
