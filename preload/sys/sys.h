/* SPDX-License-Identifier: MIT */
/*
 * sys.h - functions for the system calls that many files of the recorder make
 *
 * All but sys_clock_ns() and sys_page_nbytes() go through our own syscall(2),
 * which is not a cancellation point and uses neither stdio nor locks.  A
 * failure sets errno as usual.  A caller on a thread of the program saves errno
 * before its first call and restores it after its last call (record.c,
 * attach.c, ...).  Any thread may call these functions.
 */
#ifndef SYS_H
#define SYS_H

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SEC 1000000000ull

static inline uint64_t
sys_clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

/*
 * Sleep while '*word' is 'expected', for at most 'timeout_ns' nanoseconds.  A
 * 'timeout_ns' of 0 means no limit.  The function may return early.
 */
static inline void
sys_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
	const struct timespec ts = {
		.tv_sec = (time_t)(timeout_ns / NS_PER_SEC),
		.tv_nsec = (long)(timeout_ns % NS_PER_SEC),
	};

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected,
		timeout_ns == 0 ? NULL : &ts, NULL, 0);
}

static inline void
sys_futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* Sleep for 'ns' nanoseconds, less than a second. */
static inline void
sys_sleep(uint64_t ns)
{
	const struct timespec ts = { 0, (long)ns };

	syscall(SYS_nanosleep, &ts, NULL);
}

/*
 * Block every signal, including glibc's internal ones, and return the previous
 * mask.  The kernel's mask has 64 bits, regardless of sigset_t.
 */
static inline uint64_t
sys_block_signals(void)
{
	const uint64_t all = ~(uint64_t)0;
	uint64_t before = 0;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	return before;
}

static inline void
sys_restore_signals(uint64_t before)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
}

/*
 * Remove the pending signal, SIGPIPE or SIGXFSZ, that our own write has raised
 * in this thread.  All signals must be blocked.
 */
static inline void
sys_take_back_signal(int number)
{
	const uint64_t set = (uint64_t)1 << (number - 1);
	const struct timespec now = { 0, 0 };

	syscall(SYS_rt_sigtimedwait, &set, NULL, &now, sizeof(set));
}

/*
 * Return the page size.  Avoid sysconf(3) where possible, because it would make
 * a short process load two more pages of libc.
 */
static inline size_t
sys_page_nbytes(void)
{
#if defined(__x86_64__)
	return 4096;
#else
	return (size_t)sysconf(_SC_PAGESIZE);
#endif
}

/*
 * Return the process id.  Ask the kernel, because getpid() of glibc before 2.25
 * caches the id, and returns the parent's id in a child of clone(2).
 */
static inline int
sys_pid(void)
{
	return (int)syscall(SYS_getpid);
}

static inline int
sys_tid(void)
{
	return (int)syscall(SYS_gettid);
}

#endif /* SYS_H */
