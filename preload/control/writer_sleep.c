/* SPDX-License-Identifier: MIT */
/* writer_sleep.c - see writer_sleep.h */

#include "preload/control/writer_sleep.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <time.h>

#include "preload/sys/file.h"
#include "preload/sys/sys.h"

/* The longest sleep on the futex while a descriptor may become readable. */
#define SLICE_NS 250000000ull

/*
 * glibc reserves this signal for the cancellation of its own threads.  glibc's
 * functions do not let a program block or catch this signal, or send it to a
 * thread.  The writer is not a thread of libc, so the recorder can use this
 * signal to wake the writer.
 */
#define WAKE_SIGNAL 32

static struct {
	int pid, tid; /* ids of the writer's process and thread */
	int signals;  /* the signalfd; -1: none */
	/*
	 * 1: the writer is in ppoll() or about to call it, and no thread has
	 * yet decided to send the signal
	 */
	_Atomic uint32_t is_polling;
} s; /* writer_sleep_init() initializes the members */

/*
 * Not wiped in the child of a fork, since the flag applies to the child, too.
 */
static _Atomic bool has_no_signals;

void
writer_sleep_init(void)
{
	s.pid = 0;
	s.tid = 0;
	s.signals = -1;
	/*
	 * relaxed: no other thread reads 'is_polling' before the writer thread
	 * exists.
	 */
	atomic_store_explicit(&s.is_polling, 0, memory_order_relaxed);
}

void
writer_sleep_begin(bool takes_orders)
{
	const uint64_t mask = 1ull << (WAKE_SIGNAL - 1);

	s.pid = sys_pid();
	s.tid = sys_tid();
	if (takes_orders)
		s.signals = file_above_standard(
			(int)syscall(SYS_signalfd4, -1, &mask, sizeof(mask),
				     SFD_NONBLOCK | SFD_CLOEXEC));
}

void
writer_sleep_close(void)
{
	if (s.signals >= 0)
		syscall(SYS_close, s.signals);
	s.signals = -1;
}

static void
drain_signals(void)
{
	struct signalfd_siginfo info;

	while (syscall(SYS_read, s.signals, &info, sizeof(info)) > 0)
		;
}

static void
sleep_by_futex(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns,
	       bool watches)
{
	if (watches && timeout_ns > SLICE_NS)
		timeout_ns = SLICE_NS;
	sys_futex_wait(word, expected, timeout_ns);
}

static void
poll_all(const int *fds, unsigned count, uint64_t timeout_ns)
{
	struct pollfd polled[1 + WRITER_SLEEP_FDS] = {
		{ .fd = s.signals, .events = POLLIN },
	};
	const struct timespec ts = {
		.tv_sec = (time_t)(timeout_ns / NS_PER_SEC),
		.tv_nsec = (long)(timeout_ns % NS_PER_SEC),
	};

	for (unsigned i = 0; i < count; i++)
		polled[1 + i] =
			(struct pollfd){ .fd = fds[i], .events = POLLIN };
	syscall(SYS_ppoll, polled, 1 + count, &ts, NULL, 0);
}

void
writer_sleep(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns,
	     const int *fds, unsigned count)
{
	if (count == 0 || s.signals < 0) {
		sleep_by_futex(word, expected, timeout_ns, count != 0);
		return;
	}
	/*
	 * seq_cst here, in writer_sleep_interrupt(), and where the caller of
	 * writer_sleep_interrupt() changes '*word'.  The writer stores
	 * 'is_polling' and then reads '*word'.  That caller changes '*word' and
	 * then reads 'is_polling'.  At least one of the two threads sees the
	 * store of the other.
	 */
	atomic_store_explicit(&s.is_polling, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&has_no_signals, memory_order_seq_cst)) {
		atomic_store_explicit(&s.is_polling, 0, memory_order_seq_cst);
		sleep_by_futex(word, expected, timeout_ns, true);
		return;
	}
	if (atomic_load_explicit(word, memory_order_seq_cst) == expected)
		poll_all(fds, count, timeout_ns);
	/*
	 * relaxed: the caller reads '*word' again, with acquire.  A signal that
	 * arrives later only ends the next sleep early.
	 */
	if (atomic_exchange_explicit(&s.is_polling, 0, memory_order_relaxed) ==
	    0)
		drain_signals();
}

static bool
wake_by_signal(void)
{
	/* seq_cst: see writer_sleep(). */
	if (atomic_load_explicit(&s.is_polling, memory_order_seq_cst) == 0)
		return false;
	if (atomic_exchange_explicit(&s.is_polling, 0, memory_order_seq_cst) !=
	    0)
		syscall(SYS_tgkill, s.pid, s.tid, WAKE_SIGNAL);
	return true;
}

void
writer_sleep_end_signals(void)
{
	/* seq_cst: see writer_sleep().  Wake the writer, if it is polling. */
	if (!atomic_exchange_explicit(&has_no_signals, true,
				      memory_order_seq_cst))
		wake_by_signal();
}

bool
writer_sleep_interrupt(void)
{
	/* seq_cst: see writer_sleep(). */
	return !atomic_load_explicit(&has_no_signals, memory_order_seq_cst) &&
	       wake_by_signal();
}
