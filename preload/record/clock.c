/* SPDX-License-Identifier: MIT */
/* clock.c - see clock.h */

#include "preload/record/clock.h"

#include <fcntl.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif
#endif

_Atomic uint64_t clock_tick;
bool clock_has_counter;

/* Has a second thread been announced?  Then a tick is used only if granted. */
static _Atomic bool clock_stamped;

/* The thread that has, or is getting, the tick; valid if 'clock_stamped'. */
static const void *_Atomic clock_owner;

#define TIMING_TRIES 3u

/*
 * Is the system's clock read without a system call?  Then by the counter, also
 * on the virtual machines that do so by way of a page of their host's: every
 * other source is read in the kernel.  To measure that takes less than a
 * microsecond, to ask /sys 7 to 25.  False: perhaps not.
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
 * The kernel gives up the counter as its clock source when it has seen it run
 * unevenly between processors; then we must not trust it either.
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
		return true; /* a sandbox: rely on the processor alone */

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
	 * libc has asked; again it would take some microseconds on a virtual
	 * machine.
	 */
	return CPU_FEATURE_PRESENT(INVARIANT_TSC);
#else
	unsigned a, b, c, d;

	/* CPUID 8000_0007h, EDX bit 8: "Invariant TSC". */
	return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 &&
	       (d & 1u << 8) != 0;
#endif
#elif defined(__aarch64__)
	return true; /* the generic timer is, by its architecture */
#else
	return false;
#endif
}

uint64_t
clock_stamp_by_system(void)
{
	return sys_clock_ns(CLOCK_MONOTONIC);
}

/* Accept two readings of the system's clock that are so close; try so often. */
#define READ_WITHIN_NS 250u
#define READ_TRIES     8u

struct clock_reading
clock_read(void)
{
	struct clock_reading best = { .ns = sys_clock_ns(CLOCK_MONOTONIC) };
	uint64_t before = best.ns, best_ns = UINT64_MAX;

	/* Without a counter, stamps are readings of the system's clock. */
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

void
clock_init(bool stamped)
{
	static bool asked; /* a fork's child inherits the answer */

	if (!asked)
		clock_has_counter =
			counter_is_invariant() &&
			(clock_needs_no_call() || kernel_trusts_counter());
	asked = true;
	/* relaxed: the process state is published after this with release. */
	atomic_store_explicit(&clock_stamped, stamped, memory_order_relaxed);
	atomic_store_explicit(&clock_tick,
			      stamped ? CLOCK_STAMPED : clock_stamp(),
			      memory_order_relaxed);
	atomic_store_explicit(&clock_owner, NULL, memory_order_relaxed);
}

/* Take the tick away, whatever it is; an idle clock stays idle. */
static void
drop_tick(void)
{
	uint64_t tick = atomic_load_explicit(&clock_tick, memory_order_seq_cst);

	while (tick != CLOCK_IDLE && tick != CLOCK_STAMPED &&
	       !atomic_compare_exchange_weak_explicit(
		       &clock_tick, &tick, CLOCK_STAMPED, memory_order_seq_cst,
		       memory_order_seq_cst))
		;
}

bool
clock_go_stamped(void)
{
	/*
	 * release: who sees the flag or the word afterwards does so through a
	 * later synchronisation of the program's own (the start of the thread,
	 * the allocator's lock); seq_cst keeps the two stores in order for
	 * clock_wake().
	 */
	if (atomic_exchange_explicit(&clock_stamped, true,
				     memory_order_seq_cst))
		return false;
	/* An idle clock: clock_wake() reads the flag. */
	drop_tick();
	return true;
}

bool
clock_expects_threads(void)
{
	/*
	 * relaxed: a thread that finds false calls clock_go_stamped(), which
	 * orders.
	 */
	return atomic_load_explicit(&clock_stamped, memory_order_relaxed);
}

bool
clock_is_stamped(void)
{
	/* relaxed, both: only the writer asks, to note it in the trace. */
	const uint64_t tick =
		atomic_load_explicit(&clock_tick, memory_order_relaxed);

	return atomic_load_explicit(&clock_stamped, memory_order_relaxed) &&
	       (tick == CLOCK_IDLE || tick >= CLOCK_STAMPED);
}

bool
clock_wake(void)
{
	uint64_t idle = CLOCK_IDLE;
	/* seq_cst: see clock_go_stamped(). */
	const uint64_t tick =
		atomic_load_explicit(&clock_stamped, memory_order_seq_cst)
			? CLOCK_STAMPED
			: clock_stamp();
	const bool woken = atomic_compare_exchange_strong_explicit(
		&clock_tick, &idle, tick, memory_order_seq_cst,
		memory_order_seq_cst);

	/* The flag may have been set between our two steps. */
	if (woken && tick != CLOCK_STAMPED &&
	    atomic_load_explicit(&clock_stamped, memory_order_seq_cst))
		drop_tick();
	return woken;
}

void
clock_renew(uint64_t stamp)
{
	uint64_t tick = atomic_load_explicit(&clock_tick, memory_order_relaxed);

	if (tick >= CLOCK_STAMPED || tick == CLOCK_IDLE || tick >= stamp)
		return;
	/* relaxed: a tick orders nothing; a lost race leaves CLOCK_STAMPED. */
	atomic_compare_exchange_strong_explicit(&clock_tick, &tick, stamp,
						memory_order_relaxed,
						memory_order_relaxed);
}

void
clock_set_idle(void)
{
	/*
	 * seq_cst: before the writer's last look at the rings.  A producer that
	 * read the old word just before is seen by that look or, at the latest,
	 * when the writer's sleep times out.
	 */
	atomic_store_explicit(&clock_tick, CLOCK_IDLE, memory_order_seq_cst);
}

bool
clock_is_owned(uint64_t tick, const void *self)
{
	/* relaxed: set before a second thread has its first event. */
	if (!atomic_load_explicit(&clock_stamped, memory_order_relaxed))
		return true;
	/*
	 * acquire, and the word once more: a later owner is stored before the
	 * word changes to CLOCK_PENDING, but after the tick at hand was
	 * revoked.
	 */
	return atomic_load_explicit(&clock_owner, memory_order_acquire) ==
		       self &&
	       atomic_load_explicit(&clock_tick, memory_order_relaxed) == tick;
}

void
clock_revoke(uint64_t tick)
{
	/*
	 * seq_cst: in one order with the two steps of a grant.  If the word is
	 * another one by now the caller looks at that.
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

	/* The clock must be read after CLOCK_PENDING can be seen by all. */
	atomic_thread_fence(memory_order_seq_cst);

	const uint64_t tick = clock_stamp() + 1;

	/* Later stamps are larger, on a clock of large steps too. */
	while (clock_stamp() <= tick)
		;
	/* release: the owner is seen with it. */
	return atomic_compare_exchange_strong_explicit(
		&clock_tick, &pending, tick, memory_order_seq_cst,
		memory_order_seq_cst);
}

void
clock_drop_grant(void)
{
	/* relaxed: set before a second thread has its first event. */
	if (atomic_load_explicit(&clock_stamped, memory_order_relaxed))
		drop_tick();
}
