/* SPDX-License-Identifier: MIT */
/*
 * tracer_client.h - send orders to the recorders of running processes (prefix:
 * tracer_)
 *
 * Each connection carries one order and one answer.  The answer consists of
 * "ok" or "error" and lines of "key=value".  The answer comes from the process
 * and is untrusted.  The size of the answer and the time for it are limited,
 * and callers must escape the values that they show.  Not thread-safe.
 */
#ifndef TRACER_CLIENT_H
#define TRACER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TRACER_ANSWER_MAX 32768

/*
 * Timeout of one exchange of order and answer; a recorder answers much faster.
 */
#define TRACER_ANSWER_SECONDS 10

/*
 * How long to wait until a process without a writer thread makes an allocation.
 * Only then does the process notice the order in the file of bells.
 */
#define TRACER_BELL_MS 3000

struct tracer_answer {
	pid_t pid;
	/*
	 * the process had no socket, so hatf wrote the order into the file of
	 * bells (bell.h), which the process maps
	 */
	bool has_rung;
	/*
	 * hatf wrote the order into a file of bells (bell.h), but has no
	 * permission to see whether the process maps that file
	 */
	bool has_rung_blindly;
	/* the process left a status file, which says "recording" */
	bool is_recording;
	/*
	 * user id of the process when it created its socket; without a socket,
	 * the owner of the file of bells
	 */
	uid_t uid;
	/* The answer: "ok" or "error", then more text; NUL-terminated. */
	char answer[TRACER_ANSWER_MAX];
};

/*
 * Called for each process that carried out the order.  Return false to make
 * tracer_send() return false.
 */
typedef bool tracer_answer_fn(const struct tracer_answer *r, void *context);

/*
 * Send 'order' to the recorders of 'count' processes in parallel and wait for
 * all answers.  Wait up to one second for the socket of a process that has just
 * started, and up to three seconds for the next allocation of a process whose
 * writer thread is not running.  "status" does not wait if the status can be
 * found without the help of the process.  For up to two seconds, repeat an
 * order that the recorder refuses because of a fork.
 *
 * Then call 'fn' for each process that carried out the order, in the sequence
 * of 'pids', and print an error message for each other process.  Processes that
 * do not answer time out at the same moment.  Return true if every process
 * carried out the order and every 'fn' returned true.
 */
bool tracer_send(const pid_t *pids, size_t count, const char *order,
		 tracer_answer_fn *fn, void *context);

/*
 * Return the value of 'key' in the answer, unescaped, or NULL.  The value is
 * valid until the next call of this function or of tracer_next_value().
 */
const char *tracer_value(const struct tracer_answer *r, const char *key);

/*
 * Iterate over the values of the answer.  The caller sets '*next' to NULL
 * before the first call.  Return false at the end of the answer.  'key'
 * (letters, digits and '_') and 'value' (unescaped) are valid until the next
 * call of this function or of tracer_value().
 */
bool tracer_next_value(const struct tracer_answer *r, const char **next,
		       const char **key, const char **value);

/*
 * Open the trace that the process names in its answer.  The name is untrusted,
 * because it could name any file that we can read.  Return a descriptor, or -1
 * with errno: EPERM if the process is another user's and the file belongs
 * neither to that user nor to us, or an errno of regular_open().
 */
int tracer_open_trace(const struct tracer_answer *r, const char *trace);

#endif /* TRACER_CLIENT_H */
