/* SPDX-License-Identifier: MIT */
/* signal_gate.c - see signal_gate.h */

#include "preload/process/signal_gate.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "preload/process/signal_action.h"
#include "preload/state/process_state.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"

#define MAX	    SIGNAL_ACTION_MAX
#define BIT(signal) SIGNAL_ACTION_BIT(signal)

/* The headers of old C libraries lack this name. */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/*
 * Signals whose default action is to do nothing.  The gate leaves this action
 * as it is.
 */
#define HARMLESS (BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH))

/*
 * Flags that the gate's action takes over from the program's action, since they
 * affect more than the handler.
 */
#define KEPT_FLAGS \
	((unsigned long)(SA_ONSTACK | SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT))

static struct signal_action before[MAX]; /* the program's actions */
MEMORY_LARGE static siginfo_t kept[MAX]; /* signals that the gate keeps */
/* id of the process that closed the gate */
static _Atomic int own_pid;
static _Atomic uint64_t gated;	  /* signals whose handler is the gate */
static _Atomic uint64_t kept_set; /* entries of 'kept' in use */
/* when the gate's time started, CLOCK_MONOTONIC; 0: not started */
static _Atomic uint64_t started_ns;
/* the thread that ends the process; valid if 'started_ns' is not 0 */
static _Atomic pthread_t ending_thread;

#if defined(__x86_64__)
/* The code to which a handler returns; see sigreturn(2). */
extern const char signal_gate_restore[] __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n.type signal_gate_restore, @function\n"
	"signal_gate_restore:\n"
	"	mov $15, %eax\n" /* SYS_rt_sigreturn */
	"	syscall\n"
	".size signal_gate_restore, . - signal_gate_restore\n.popsection\n");
#define RESTORE_FLAG 0x04000000ul
#define RESTORER     ((uintptr_t)signal_gate_restore)
#else
#define RESTORE_FLAG 0ul
#define RESTORER     ((uintptr_t)0)
#endif

/* Let the signal act as soon as the gate returns to the interrupted code. */
static void
pass(int signal, siginfo_t *info)
{
	signal_action_change(signal, &before[signal - 1], NULL);
	/*
	 * If the queue of signals is full, sending a real-time signal in this
	 * way fails.  kill(2) can still send the signal.
	 */
	if (syscall(SYS_rt_tgsigqueueinfo, sys_pid(), sys_tid(), signal,
		    info) != 0)
		syscall(SYS_kill, sys_pid(), signal);
}

/* If the gate still keeps a signal with this number, let that signal act. */
static void
pass_kept(int signal)
{
	const uint64_t bit = BIT(signal);

	if ((atomic_fetch_and(&kept_set, ~bit) & bit) != 0)
		pass(signal, &kept[signal - 1]);
}

/*
 * Make a timer send the kept signal again at the end of the gate's time.  If
 * tgkill(2) sent the signal to this thread, the timer sends the signal to this
 * thread, too; otherwise to the process.  If the kernel refuses a timer, let
 * the signal act at once, since it must not be lost.
 */
static void
send_later(int signal)
{
	const uint64_t end_ns = atomic_load(&started_ns) + SIGNAL_GATE_NS;
	const struct itimerspec end = {
		.it_value = { .tv_sec = (time_t)(end_ns / NS_PER_SEC),
			      .tv_nsec = (long)(end_ns % NS_PER_SEC) },
	};
	struct sigevent event;
	int id;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_SIGNAL;
	if (kept[signal - 1].si_code == SI_TKILL) {
		event.sigev_notify = SIGEV_THREAD_ID;
		event.sigev_notify_thread_id = sys_tid();
	}
	event.sigev_signo = signal;
	event.sigev_value.sival_ptr = kept;
	if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &id) != 0 ||
	    syscall(SYS_timer_settime, id, TIMER_ABSTIME, &end, NULL) != 0)
		pass_kept(signal);
}

/* Has send_later() sent this signal? */
static bool
is_sent_again(const siginfo_t *info)
{
	return info->si_code == SI_TIMER && info->si_value.sival_ptr == kept;
}

/* Has this process sent the signal to itself, by kill(2) or the like? */
static bool
is_own(const siginfo_t *info)
{
	return (info->si_code == SI_USER || info->si_code == SI_TKILL ||
		info->si_code == SI_QUEUE) &&
	       info->si_pid == atomic_load(&own_pid);
}

static void
keep(int signal, const siginfo_t *info)
{
	const uint64_t bit = BIT(signal);

	/*
	 * A signal by tgkill(2) is for this thread.  If the gate kept such a
	 * signal before the gate's time has started, signal_gate_start_time()
	 * would send the signal to another thread, the one that ends the
	 * process.  Therefore drop the signal.
	 */
	if (atomic_load(&started_ns) == 0 && info->si_code == SI_TKILL)
		return;
	if ((atomic_fetch_or(&kept_set, bit) & bit) != 0)
		return;
	kept[signal - 1] = *info;
	/*
	 * If 'started_ns' is still 0 here, signal_gate_start_time() later sees
	 * the bit in 'kept_set', and calls send_later() for this signal.
	 */
	if (atomic_load(&started_ns) != 0)
		send_later(signal);
}

static void
keep_or_pass(int signal, siginfo_t *info, bool is_stuck)
{
	const uint64_t start = atomic_load(&started_ns);

	if (start != 0 && is_sent_again(info)) {
		pass_kept(signal);
	} else if (start != 0 &&
		   (is_stuck || is_own(info) ||
		    sys_clock_ns(CLOCK_MONOTONIC) - start >= SIGNAL_GATE_NS)) {
		pass(signal, info);
	} else {
		keep(signal, info);
	}
}

#if defined(__x86_64__)
/*
 * Is there a system call instruction at 'pc'?  Read nothing outside the page
 * with the number 'page', since the pages next to it may not be readable.
 */
static bool
is_syscall(uintptr_t pc, uintptr_t page)
{
	static const uint8_t instruction[] = { 0x0f, 0x05 };

	return pc / 4096 == page && (pc + 1) / 4096 == page &&
	       memcmp((const void *)pc, instruction, 2) == 0;
}

/*
 * Has the signal interrupted a system call that was waiting?  There are three
 * signs: the kernel has set the program counter back to the call's instruction;
 * the call returns EINTR; or a write returns less than its third argument.
 */
static bool
was_waiting(const void *context)
{
	const greg_t *const r =
		((const ucontext_t *)context)->uc_mcontext.gregs;
	const uintptr_t pc = (uintptr_t)r[REG_RIP], page = pc / 4096;
	const bool is_short = r[REG_RAX] > 0 && r[REG_RAX] < r[REG_RDX];

	if (r[REG_RAX] == -EINTR || is_short)
		return is_syscall(pc - 2, page);
	return is_syscall(pc, page);
}
#else
static bool
was_waiting(const void *unused)
{
	(void)unused;
	return false;
}
#endif

/*
 * Is this the thread that is ending the process, and has the signal interrupted
 * a system call in which this thread was waiting?
 */
static bool
is_stuck(const void *context)
{
	return pthread_equal(pthread_self(), atomic_load(&ending_thread)) &&
	       was_waiting(context);
}

static void
gate(int signal, siginfo_t *info, void *context)
{
	const int saved_errno = errno;
	siginfo_t unknown = { .si_signo = signal, .si_code = SI_USER };
	struct signal_action action;

	/*
	 * If SA_SIGINFO is missing, the program has removed the gate, and has
	 * set it again by signal(2).  'info' is then invalid.
	 */
	if (signal_action_change(signal, NULL, &action) != 0 ||
	    (action.flags & SA_SIGINFO) == 0)
		info = &unknown;
	/*
	 * Under a seccomp filter, do not call getpid(2), because the filter may
	 * kill the process for the call.  The gate therefore cannot tell
	 * whether the process is a child.  keep_or_pass() then keeps every
	 * signal, because the gate's time never starts in a process with a
	 * filter.
	 */
	if (!process_has(PROCESS_IS_CONFINED) &&
	    sys_pid() != atomic_load(&own_pid))
		pass(signal, info);
	else
		keep_or_pass(signal, info, is_stuck(context));
	errno = saved_errno;
}

/* Should the gate replace this action of 'signal'? */
static bool
is_to_be_gated(int signal, const struct signal_action *action)
{
	const bool harmless = (HARMLESS & BIT(signal)) != 0;

	return action->handler != (uintptr_t)SIG_IGN &&
	       action->handler != (uintptr_t)gate &&
	       !(harmless && action->handler == (uintptr_t)SIG_DFL);
}

static void
gate_signal(int signal, bool several)
{
	const unsigned long flags = SA_SIGINFO | RESTORE_FLAG;
	struct signal_action old, new = {
		.handler = (uintptr_t)gate,
		.flags = flags | SA_RESTART | SA_ONSTACK,
		.restorer = RESTORER,
		.mask = ~(uint64_t)0,
	};

	/*
	 * Unless 'several' is set, a single call reads the old action and sets
	 * the new one.  Most old actions are SIG_DFL, and need no further call.
	 */
	if (signal_action_change(signal, several ? NULL : &new, &old) != 0)
		return;
	if (!is_to_be_gated(signal, &old)) {
		if (!several)
			signal_action_change(signal, &old, NULL);
		return;
	}
	before[signal - 1] = old;
	if (old.handler != (uintptr_t)SIG_DFL)
		new.flags = flags | (old.flags & KEPT_FLAGS);
	if ((several || old.handler != (uintptr_t)SIG_DFL) &&
	    signal_action_change(signal, &new, NULL) != 0)
		return;
	atomic_fetch_or(&gated, BIT(signal));
}

void
signal_gate_close(uint64_t signals, bool several)
{
	const int pid = process_pid();

	/*
	 * Reset the variables only in the first call of a process.  The child
	 * of a fork begins with its parent's values, so it resets them, too.
	 */
	if (atomic_exchange(&own_pid, pid) == pid)
		return;
	atomic_store(&started_ns, 0);
	atomic_store(&kept_set, 0);
	for (int signal = 1; signal <= MAX; signal++)
		if ((signals & BIT(signal)) != 0)
			gate_signal(signal, several);
}

uint64_t
signal_gate_start_time(void)
{
	uint64_t expected = 0;

	atomic_store(&ending_thread, pthread_self());
	/*
	 * If two threads call exit(), only the first one starts the gate's
	 * time.
	 */
	if (!atomic_compare_exchange_strong(&started_ns, &expected,
					    sys_clock_ns(CLOCK_MONOTONIC)))
		return atomic_load(&gated);
	for (int signal = 1; signal <= MAX; signal++)
		if ((atomic_load(&kept_set) & BIT(signal)) != 0)
			send_later(signal);
	return atomic_load(&gated);
}

void
signal_gate_open(void)
{
	const uint64_t signals = atomic_exchange(&gated, 0);

	for (int signal = 1; signal <= MAX; signal++)
		if ((signals & BIT(signal)) != 0)
			signal_action_change(signal, &before[signal - 1], NULL);
}
