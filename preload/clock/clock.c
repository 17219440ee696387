/* SPDX-License-Identifier: MIT */
/* clock.c - see clock.h */

#include "preload/clock/clock.h"

#include <fcntl.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif
#endif

#include "preload/sys/hot_line.h"

HOT_LINE _Alignas(64) _Atomic uint64_t clock_tick;
_Alignas(64) _Atomic uint64_t clock_epoch = 1;
bool clock_has_counter;

_Atomic bool clock_stamped;

/* the result of clock_omits_fences() */
static _Atomic bool clock_unfenced;

/*
 * The thread to which the writer has last granted the tick, or is about to
 * grant it; NULL: none yet.  Used only if 'clock_stamped' is set.
 */
static const void *_Atomic clock_owner;

#define TIMING_TRIES 3u

/*
 * Does the kernel derive the system's clock from the processor's counter?  It
 * does if the clock can be read without a system call, since the kernel reads
 * every other clock source in a system call.  (On a virtual machine, the
 * reading may use a page of memory that the host shares.)  Compare the duration
 * of a reading with the duration of a system call.  This comparison takes less
 * than a microsecond, while reading /sys would take 7 to 25.  Return false in
 * case of doubt.
 */
static bool
clock_needs_no_call(void)
{
	uint64_t clock = UINT64_MAX, call = UINT64_MAX;

	for (unsigned i = 0; i < TIMING_TRIES; i++) {
		const uint64_t start = clock_read_counter();

		sys_clock_ns(CLOCK_MONOTONIC);
		const uint64_t middle = clock_read_counter();

		sys_pid();
		const uint64_t end = clock_read_counter();

		if (middle - start < clock)
			clock = middle - start;
		if (end - middle < call)
			call = end - middle;
	}
	return clock < call / 2;
}

/*
 * The kernel stops using the counter as its clock source when it finds that the
 * counters of the processors differ.  The recorder must not trust the counter
 * then, either.
 */
static bool
kernel_trusts_counter(void)
{
	static const char *const distrust[] = { "hpet", "acpi_pm", "jiffies",
						"refined-jiffies", "pit" };
	char name[32];
	const int fd =
		(int)syscall(SYS_openat, AT_FDCWD,
			     "/sys/devices/system/clocksource/clocksource0/"
			     "current_clocksource",
			     O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		/*
		 * Probably a sandbox forbids the open.  Rely on what the
		 * processor says about its counter.
		 */
		return true;

	const long n = syscall(SYS_read, fd, name, sizeof(name) - 1);

	syscall(SYS_close, fd);
	if (n <= 0)
		return true;
	name[n] = '\0';
	name[strcspn(name, "\n")] = '\0';
	for (size_t i = 0; i < sizeof(distrust) / sizeof(distrust[0]); i++)
		if (strcmp(name, distrust[i]) == 0)
			return false;
	return true;
}

static bool
counter_is_invariant(void)
{
#if defined(__x86_64__)
#ifdef CPU_FEATURE_PRESENT
	/*
	 * libc has executed CPUID and kept the result.  On a virtual machine
	 * executing it again would take some microseconds.
	 */
	return CPU_FEATURE_PRESENT(INVARIANT_TSC);
#else
	unsigned a, b, c, d;

	/* CPUID 8000_0007h, EDX bit 8: "Invariant TSC". */
	return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 &&
	       (d & 1u << 8) != 0;
#endif
#elif defined(__aarch64__)
	return true; /* the architecture requires an invariant generic timer */
#else
	return false;
#endif
}

uint64_t
clock_stamp_by_system(void)
{
	return sys_clock_ns(CLOCK_MONOTONIC);
}

/*
 * Accept a stamp between two readings of the system's clock that are at most
 * READ_WITHIN_NS apart; after READ_TRIES tries, accept the stamp whose two
 * readings are closest.
 */
#define READ_WITHIN_NS 250u
#define READ_TRIES     8u

struct clock_reading
clock_read(void)
{
	struct clock_reading best = { .ns = sys_clock_ns(CLOCK_MONOTONIC) };
	uint64_t before = best.ns, best_ns = UINT64_MAX;

	/* If there is no counter, stamps are readings of the system's clock. */
	best.stamp = best.ns;
	if (!clock_has_counter)
		return best;
	for (unsigned i = 0; i < READ_TRIES && best_ns > READ_WITHIN_NS; i++) {
		const uint64_t stamp = clock_stamp();
		const uint64_t after = sys_clock_ns(CLOCK_MONOTONIC);

		if (after - before < best_ns) {
			best_ns = after - before;
			best = (struct clock_reading){ stamp, before };
		}
		before = after;
	}
	return best;
}

bool
clock_omits_fences(void)
{
	/*
	 * relaxed: a thread that reads true is the only thread with events.
	 * Before a second thread has events, a thread has called
	 * clock_go_stamped().
	 */
	return atomic_load_explicit(&clock_unfenced, memory_order_relaxed);
}

/* Return the value of 'clock_tick' with which a clock starts. */
static uint64_t
first_tick(void)
{
	/* seq_cst, both: see clock_go_stamped(). */
	if (!atomic_load_explicit(&clock_stamped, memory_order_seq_cst))
		return clock_stamp();
	return atomic_load_explicit(&clock_unfenced, memory_order_seq_cst)
		       ? CLOCK_UNFENCED
		       : CLOCK_STAMPED;
}

/*
 * 'tick' is a result of first_tick().  Has clock_go_stamped() been called since
 * then, so that the clock must not start with this value?
 */
static bool
is_over(uint64_t tick)
{
	/* seq_cst, both: see clock_go_stamped(). */
	if (tick == CLOCK_UNFENCED)
		return !atomic_load_explicit(&clock_unfenced,
					     memory_order_seq_cst);
	return tick != CLOCK_STAMPED &&
	       atomic_load_explicit(&clock_stamped, memory_order_seq_cst);
}

void
clock_init(bool stamped)
{
	/* 'clock_has_counter' is set; the child of a fork inherits its value */
	static bool asked;

	if (!asked)
		clock_has_counter =
			counter_is_invariant() &&
			(clock_needs_no_call() || kernel_trusts_counter());
	asked = true;
	/*
	 * relaxed: the process state is published after these stores, with
	 * release.
	 */
	atomic_store_explicit(&clock_stamped, stamped, memory_order_relaxed);
	atomic_store_explicit(&clock_unfenced, stamped && clock_has_counter,
			      memory_order_relaxed);
	atomic_store_explicit(&clock_tick, first_tick(), memory_order_relaxed);
	atomic_store_explicit(&clock_owner, NULL, memory_order_relaxed);
}

/*
 * Change to stamped mode: replace a tick, CLOCK_PENDING or CLOCK_UNFENCED by
 * CLOCK_STAMPED.  An idle clock stays idle.
 */
static void
drop_tick(void)
{
	uint64_t tick = atomic_load_explicit(&clock_tick, memory_order_seq_cst);

	while (tick != CLOCK_IDLE && tick != CLOCK_STAMPED) {
		clock_revoke(tick);
		tick = atomic_load_explicit(&clock_tick, memory_order_seq_cst);
	}
}

bool
clock_go_stamped(void)
{
	/*
	 * A thread that synchronizes with this thread after this call sees the
	 * new values of 'clock_unfenced', 'clock_stamped' and 'clock_tick'.
	 * For example, this thread creates the other thread, or both use the
	 * allocator's lock.  seq_cst: the exchanges, the store in
	 * clock_revoke() and the accesses of clock_wake() are in one total
	 * order.
	 */
	const bool was_unfenced = atomic_exchange_explicit(
		&clock_unfenced, false, memory_order_seq_cst);
	const bool was_stamped = atomic_exchange_explicit(&clock_stamped, true,
							  memory_order_seq_cst);

	/*
	 * If the clock has a tick, or is in unfenced mode, change to stamped
	 * mode now.  If the clock is idle, clock_wake() reads 'clock_unfenced'
	 * and 'clock_stamped' when it starts the clock.
	 */
	if (was_unfenced || !was_stamped)
		drop_tick();
	return !was_stamped;
}

void
clock_bump(void)
{
	/*
	 * This thread's earlier stamps must be smaller than the stamps that
	 * other threads take after the increment.  Therefore the processor must
	 * have read the counter for all earlier stamps before the increment.
	 */
	clock_end_stamp();
	/*
	 * seq_cst: no later access of the caller may come before this
	 * increment.
	 */
	atomic_fetch_add_explicit(&clock_epoch, 1, memory_order_seq_cst);
}

bool
clock_is_stamped(void)
{
	/* relaxed, both loads: the writer asks again in its next round. */
	const uint64_t tick =
		atomic_load_explicit(&clock_tick, memory_order_relaxed);

	return atomic_load_explicit(&clock_stamped, memory_order_relaxed) &&
	       (tick == CLOCK_IDLE || tick >= CLOCK_STAMPED);
}

bool
clock_wake(void)
{
	uint64_t idle = CLOCK_IDLE;
	const uint64_t tick = first_tick();
	const bool woken = atomic_compare_exchange_strong_explicit(
		&clock_tick, &idle, tick, memory_order_seq_cst,
		memory_order_seq_cst);

	/*
	 * Another thread may have called clock_go_stamped() since first_tick()
	 * read 'clock_stamped' and 'clock_unfenced'.
	 */
	if (woken && is_over(tick))
		drop_tick();
	return woken;
}

void
clock_renew(uint64_t stamp)
{
	uint64_t tick = atomic_load_explicit(&clock_tick, memory_order_relaxed);

	if (tick >= CLOCK_STAMPED || tick == CLOCK_IDLE || tick >= stamp)
		return;
	/*
	 * relaxed: no other access depends on this store.  If another thread
	 * has changed 'clock_tick' meanwhile, the new value stays.
	 */
	atomic_compare_exchange_strong_explicit(&clock_tick, &tick, stamp,
						memory_order_relaxed,
						memory_order_relaxed);
}

void
clock_set_idle(void)
{
	/*
	 * If 'clock_tick' was a tick, events under this tick have claimed no
	 * pages (owners.h), so make all threads stamp their next events.
	 */
	clock_bump();
	/*
	 * seq_cst: the writer stores CLOCK_IDLE before it checks the rings for
	 * the last time.  A producer may have read the old value just before
	 * the store.  The writer finds that producer's event in this check or,
	 * at the latest, when its sleep times out.
	 */
	atomic_store_explicit(&clock_tick, CLOCK_IDLE, memory_order_seq_cst);
}

bool
clock_is_owned(uint64_t tick, const void *self)
{
	/*
	 * relaxed: 'clock_stamped' is set before a second thread has its first
	 * event, so a thread that reads false is still the only one.
	 */
	if (!atomic_load_explicit(&clock_stamped, memory_order_relaxed))
		return true;
	/*
	 * Also compare the tick, because 'self' may be the owner of a later
	 * tick.  The writer stores the owner of a later tick only after 'tick'
	 * has been revoked (and before 'clock_tick' becomes CLOCK_PENDING).  A
	 * thread that reads this owner, and only then reads 'clock_tick' again,
	 * therefore does not find 'tick' there.  The acquire load keeps the
	 * order of these two reads.
	 */
	return atomic_load_explicit(&clock_owner, memory_order_acquire) ==
		       self &&
	       atomic_load_explicit(&clock_tick, memory_order_relaxed) == tick;
}

void
clock_revoke(uint64_t tick)
{
	/*
	 * Events under this tick have claimed no pages (owners.h), so make all
	 * threads stamp their next events.  The epoch changes before
	 * 'clock_tick'.  A thread that reads the new 'clock_tick' therefore
	 * reads the new epoch, too, and stamps its event.
	 */
	clock_bump();
	/*
	 * seq_cst: this exchange and the two steps of a grant are in one total
	 * order.  Ignore a failure: another thread has then changed
	 * 'clock_tick', and the caller reads its new value.
	 */
	atomic_compare_exchange_strong_explicit(
		&clock_tick, &tick, CLOCK_STAMPED, memory_order_seq_cst,
		memory_order_seq_cst);
}

bool
clock_grant_begin(const void *self)
{
	uint64_t stamped = CLOCK_STAMPED;

	if (atomic_load_explicit(&clock_tick, memory_order_relaxed) != stamped)
		return false;
	/* release: pairs with the acquire in clock_is_owned(). */
	atomic_store_explicit(&clock_owner, self, memory_order_release);
	return atomic_compare_exchange_strong_explicit(
		&clock_tick, &stamped, CLOCK_PENDING, memory_order_seq_cst,
		memory_order_seq_cst);
}

bool
clock_grant_end(void)
{
	uint64_t pending = CLOCK_PENDING;

	/* Read the clock only after all threads can see CLOCK_PENDING. */
	atomic_thread_fence(memory_order_seq_cst);

	const uint64_t tick = clock_stamp() + 1;

	/*
	 * Wait until new stamps are larger than the tick, even if the clock is
	 * coarse.
	 */
	while (clock_stamp() <= tick)
		;
	/* seq_cst includes the release that publishes the owner. */
	return atomic_compare_exchange_strong_explicit(
		&clock_tick, &pending, tick, memory_order_seq_cst,
		memory_order_seq_cst);
}

void
clock_drop_grant(void)
{
	/*
	 * relaxed: 'clock_stamped' is set before a second thread has its first
	 * event.  If the writer reads false, there is no grant to take back.
	 */
	if (atomic_load_explicit(&clock_stamped, memory_order_relaxed))
		drop_tick();
}
