/* SPDX-License-Identifier: MIT */
/*
 * watch.h - wait for the driver, and end one that makes no progress
 *
 * The driver makes no progress if one of these states lasts for 'limit_ms':
 *
 *   - a thread stays in one call, or does not end after its last call;
 *   - all threads wait for one another;
 *   - a signal has stopped the driver;
 *   - the driver is before its first call, or after its last one.
 *
 * A wait or a pause that will end by itself does not count.  Nor does the time
 * in which a debugger has stopped the driver, or most of the time in which this
 * process itself is stopped.
 *
 * SIGINT, SIGTERM and SIGHUP end the driver and the processes that its
 * allocator has started, and then this process.  SIGTSTP stops all of them.
 */
#ifndef WATCH_H
#define WATCH_H

#include "tools/compile/compile.h"
#include "tools/driver/driver.h"

#include <signal.h>
#include <sys/types.h>

struct watch {
	pid_t pid;		      /* id of the driver and of its group */
	const struct driver_run *run; /* shared with the driver */
	const struct compiled *compiled;
	uint64_t limit_ms; /* 0: no limit */
	sigset_t waited;   /* the signals to wait for, which are blocked */
	sigset_t before;   /* the signal mask before watch_begin() */
	/* the signal that has stopped the driver; 0: none, or not known yet */
	int stop_signal;
	uint64_t stopped_ms; /* how long the driver has been stopped */
};

/*
 * Block the signals that watch_wait() waits for.  Call this function before the
 * driver starts.
 */
void watch_begin(struct watch *watch);

/* Restore the signal mask.  Call this if the driver could not be started. */
void watch_cancel(const struct watch *watch);

/*
 * Wait for the end of the driver and store its status.  If the driver makes no
 * progress, kill it and describe this in 'fault', of 'cap' bytes; otherwise
 * make 'fault' empty.  If the allocator has left other processes, kill these
 * and return false.  Restore the signal mask.
 */
bool watch_wait(struct watch *watch, int *status_ret, char *fault, size_t cap);

#endif /* WATCH_H */
