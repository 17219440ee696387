/* SPDX-License-Identifier: MIT */
/*
 * reach.h - talk to the tracer of a running process
 *
 * Its socket is PID.sock in one of a few directories, which are the recorder's
 * (preload/control.c).  One order a connection, one answer of lines "key=value".
 */
#ifndef REACH_H
#define REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define REACH_ANSWER_MAX 32768

struct reach {
	pid_t pid;
	/* "ok" or "error" and what follows, NUL-terminated. */
	char answer[REACH_ANSWER_MAX];
};

/*
 * Send 'order' to the tracer of 'pid' and wait for the answer; of a process that has
 * just begun, up to a second for its socket.  On failure says
 * why, in words about that process, and returns false.
 */
bool reach_send(struct reach *r, pid_t pid, const char *order);

/* The value of 'key' in the answer, unescaped, or NULL; until the next call. */
const char *reach_value(const struct reach *r, const char *key);

/* Step through the answer: false at its end.  '*next' starts as NULL; 'key' and
 * 'value' (unescaped) are valid until the next call. */
bool reach_next(const struct reach *r, const char **next, const char **key,
		const char **value);

/*
 * The processes whose sockets are in this user's directories, for root in those of
 * all users, in ascending order; sockets of processes that are no more are removed.  Returns how many there are,
 * at most 'max', or -1 after saying what is wrong.
 */
ssize_t reach_all(pid_t *pids, size_t max);

#endif /* REACH_H */
