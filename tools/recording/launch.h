/* SPDX-License-Identifier: MIT */
/*
 * launch.h - run a command and be a transparent parent
 *
 * Signals that are sent to this process reach the command, and its end, be it an
 * exit status or a signal, becomes that of this process.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct launch {
	pid_t pid;
	uint64_t start_ns;  /* of the process, see started.h; 0: unknown */
	int64_t start_time; /* seconds since 1970, as files have it */
	int exec_errno;	    /* why the command could not be run, or 0 */
	int wait_status;    /* as waitpid(2) has it */
};

/* Run 'argv' and wait for its end.  False if there could be no child, which has
 * been said then. */
bool launch_run(char *const *argv, struct launch *ret);

/* Did the command succeed? */
bool launch_succeeded(const struct launch *l);

/* The exit status to pass on; does not return if it is a signal to die by. */
int launch_pass_on(const struct launch *l);

#endif /* LAUNCH_H */
