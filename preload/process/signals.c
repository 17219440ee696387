/* SPDX-License-Identifier: MIT */
/* signals.c - see signals.h */

#include "preload/process/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "preload/record/process_state.h"
#include "preload/sys/sys.h"

#define BIT(signal) ((uint64_t)1 << ((signal)-1))

/*
 * A thread raises these in itself, and a program may rely on its handlers.
 */
#define FAULTS                                                    \
	(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | \
	 BIT(SIGTRAP) | BIT(SIGSYS) | BIT(SIGABRT))

/* The first two cannot be changed; the other two are libc's own. */
#define FIXED (BIT(SIGKILL) | BIT(SIGSTOP) | BIT(32) | BIT(33))

/*
 * The default action of these is to do nothing.  SIG_IGN for SIGCHLD would
 * change wait(2).
 */
#define HARMLESS (BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH))

/* exit() may raise these in its own thread when it flushes. */
#define RAISED_BY_FLUSH (FAULTS | BIT(SIGPIPE) | BIT(SIGXFSZ))

/* Not wiped in a child, which inherits the filter. */
static _Atomic bool are_actions_left;

void
signals_leave_actions(void)
{
	/*
	 * relaxed: the calling thread, which is about to install the filter,
	 * sees its own store.
	 */
	atomic_store_explicit(&are_actions_left, true, memory_order_relaxed);
}

static bool
may_change_actions(void)
{
	/* relaxed: see signals_leave_actions(). */
	return !atomic_load_explicit(&are_actions_left, memory_order_relaxed);
}

static long
change_action(int signal, const struct signals_action *action,
	      struct signals_action *before_ret)
{
	return syscall(SYS_rt_sigaction, signal, action, before_ret,
		       sizeof(uint64_t));
}

/*
 * A handler that does nothing.  Do not use SIG_IGN instead: children that other
 * threads start would inherit it, even after an exec.
 */
static void
ignore(int unused)
{
	(void)unused;
}

#if defined(__x86_64__)
/* The code to which a handler returns; see sigreturn(2). */
extern const char signals_restore[] __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n.type signals_restore, @function\n"
	"signals_restore:\n"
	"	mov $15, %eax\n" /* SYS_rt_sigreturn */
	"	syscall\n"
	".size signals_restore, . - signals_restore\n.popsection\n");
#define RESTORE_FLAG 0x04000000ul
#define RESTORER     ((uintptr_t)signals_restore)
#else
#define RESTORE_FLAG 0ul
#define RESTORER     ((uintptr_t)0)
#endif

void
signals_hold_others(struct signals_held *held)
{
	if (!may_change_actions())
		return;
	for (int signal = 1; signal <= SIGNALS_MAX; signal++) {
		struct signals_action *const before = &held->before[signal - 1];
		const bool harmless = (HARMLESS & BIT(signal)) != 0;
		const struct signals_action none = {
			.handler = harmless ? (uintptr_t)SIG_DFL
					    : (uintptr_t)ignore,
			.flags = SA_RESTART | RESTORE_FLAG,
			.restorer = RESTORER,
		};

		if (((FAULTS | FIXED) & BIT(signal)) != 0 ||
		    change_action(signal, NULL, before) != 0 ||
		    before->handler == (uintptr_t)SIG_IGN ||
		    before->handler == none.handler)
			continue;
		if (change_action(signal, &none, NULL) == 0)
			held->changed |= BIT(signal);
	}
}

static void
restore_actions(const struct signals_held *held)
{
	for (int signal = 1; signal <= SIGNALS_MAX; signal++)
		if ((held->changed & BIT(signal)) != 0)
			change_action(signal, &held->before[signal - 1], NULL);
}

void
signals_hold(struct signals_held *held)
{
	held->mask = sys_block_signals();
	held->changed = 0;
}

void
signals_release(const struct signals_held *held)
{
	restore_actions(held);
	sys_restore_signals(held->mask);
}

void
signals_release_late(const struct signals_held *held)
{
	const uint64_t flush = RAISED_BY_FLUSH & ~held->mask;
	const struct timespec now = { 0, 0 };
	uint64_t pending = 0;

	restore_actions(held);
	/*
	 * A filter may kill for the calls below: keep all other signals
	 * blocked.
	 */
	if (process_has(PROCESS_IS_CONFINED)) {
		sys_restore_signals(~flush);
		return;
	}
	/*
	 * The signals that the flush may raise are about to be unblocked:
	 * discard those that arrived before it.
	 */
	while (syscall(SYS_rt_sigtimedwait, &flush, NULL, &now, sizeof(flush)) >
	       0)
		;
	syscall(SYS_rt_sigpending, &pending, sizeof(pending));
	sys_restore_signals(held->mask | (pending & ~flush));
}

bool
signals_abort_is_handled(void)
{
	struct signals_action action;

	if (!may_change_actions())
		return true;
	return change_action(SIGABRT, NULL, &action) == 0 &&
	       action.handler != (uintptr_t)SIG_DFL &&
	       action.handler != (uintptr_t)SIG_IGN;
}
