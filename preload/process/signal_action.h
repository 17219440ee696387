/* SPDX-License-Identifier: MIT */
/*
 * signal_action.h - read and set the action of a signal by a raw system call
 *
 * For signals.c and signal_gate.c.
 */
#ifndef SIGNAL_ACTION_H
#define SIGNAL_ACTION_H

#include <stddef.h>
#include <stdint.h>

#include "preload/sys/sys.h"

/* The kernel's SIGRTMAX: signals have the numbers 1 to SIGNAL_ACTION_MAX. */
#define SIGNAL_ACTION_MAX 64

/* The bit of 'signal' in a mask of the kernel. */
#define SIGNAL_ACTION_BIT(signal) ((uint64_t)1 << ((signal)-1))

/* The kernel's struct for rt_sigaction(2). */
struct signal_action {
	uintptr_t handler; /* address of the handler, or SIG_DFL, SIG_IGN */
	unsigned long flags;
	uintptr_t restorer;
	uint64_t mask;
};

/*
 * Set the action of 'signal' to '*action' unless 'action' is NULL.  Store the
 * previous action in '*before_ret' unless 'before_ret' is NULL.  Return 0, or
 * -1 with errno.
 */
static inline long
signal_action_change(int signal, const struct signal_action *action,
		     struct signal_action *before_ret)
{
	return syscall(SYS_rt_sigaction, signal, action, before_ret,
		       sizeof(uint64_t));
}

#endif /* SIGNAL_ACTION_H */
