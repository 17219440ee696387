/* SPDX-License-Identifier: MIT */
/*
 * tracer_client.h - send orders to the tracers of running processes (prefix:
 * tracer_)
 *
 * Each connection carries one order and one answer, lines of "key=value".  The
 * answer comes from the process and is untrusted: its size and the time for it
 * are limited, and values must be escaped when shown.  Not thread-safe.
 */
#ifndef TRACER_CLIENT_H
#define TRACER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TRACER_ANSWER_MAX 32768

struct tracer_answer {
	pid_t pid;
	/* the writer thread was not running, and the bell was rung */
	bool has_rung;
	/* ... or may have been: we cannot see whether the process has one */
	bool has_rung_blindly;
	bool is_recording; /* state when the bell was rung */
	uid_t uid;	   /* of the process, when it created its socket */
	/* "ok" or "error" and the rest, NUL-terminated. */
	char answer[TRACER_ANSWER_MAX];
};

/*
 * Called for each process that carried out the order.  Return false to report a
 * failure.
 */
typedef bool tracer_answer_fn(const struct tracer_answer *r, void *context);

/*
 * Send 'order' to the tracers of 'count' processes in parallel and wait for all
 * answers.  Wait up to one second for the socket of a process that has just
 * started, and up to three seconds for the next allocation of a process whose
 * writer thread is not running; "status" needs neither.
 *
 * Then call 'fn' for each process that carried out the order, in the order of
 * 'pids', and print an error message for each other process.  Any number of
 * silent processes take as long as one.  Return true if every process carried
 * out the order and every 'fn' returned true.
 */
bool tracer_send(const pid_t *pids, size_t count, const char *order,
		 tracer_answer_fn *fn, void *context);

/*
 * Return the value of 'key' in the answer, unescaped, or NULL.  Valid until the
 * next call.
 */
const char *tracer_value(const struct tracer_answer *r, const char *key);

/*
 * Iterate over the answer; false at its end.  '*next' is NULL at first.  'key'
 * (letters, digits and '_') and 'value' (unescaped) are valid until the next
 * call.
 */
bool tracer_next_value(const struct tracer_answer *r, const char **next,
		       const char **key, const char **value);

/*
 * Open the trace that the process names.  The name is untrusted: it could be
 * any file that we can read.  Return a descriptor, or -1 with errno: EPERM if
 * the file belongs to another user, and those of regular_open().
 */
int tracer_open_trace(const struct tracer_answer *r, const char *trace);

#endif /* TRACER_CLIENT_H */
