/* SPDX-License-Identifier: MIT */
/*
 * launch.h - run a command as a transparent parent
 *
 * If another process sends SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1 or SIGUSR2
 * to this process, the command gets the signal.  After the command, this
 * process ends in the same way: with the same exit status or by the same
 * signal.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct launch {
	pid_t pid;
	/* start of the process, see started.h; 0: unknown */
	uint64_t start_ns;
	/* start in seconds since 1970, by the clock of file times */
	int64_t start_time;
	int exec_errno;	 /* why exec failed, or 0 */
	int wait_status; /* status that waitpid(2) stored */
};

/*
 * Run 'argv' and wait for its end.  Afterwards SIGCHLD and the signals named
 * above stay blocked in this process, and none of them is pending.  If the
 * child cannot be created, print an error message and return false.
 */
bool launch_run(char *const *argv, struct launch *ret);

/*
 * After launch_run(): has this process got SIGHUP, SIGINT or SIGTERM since the
 * end of the command?
 */
bool launch_is_interrupted(void);

/* Did the command end with exit status 0? */
bool launch_succeeded(const struct launch *l);

/*
 * Return the exit status for this process.  If the command was killed by a
 * signal, end by the same signal and do not return.
 */
int launch_pass_on(const struct launch *l);

#endif /* LAUNCH_H */
