/* SPDX-License-Identifier: MIT */
/*
 * tracer_client.h - talk to the tracer of a running process
 *
 * One order a connection, one answer of lines "key=value".  The answer is the
 * process's own word, which may be hostile: it has a limit of bytes and of
 * time, and its values are to be shown escaped.
 */
#ifndef TRACER_CLIENT_H
#define TRACER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TRACER_ANSWER_MAX 32768

struct tracer_answer {
	pid_t pid;
	bool has_rung;	   /* its writer thread was away, and has been called */
	bool is_recording; /* it was so then */
	uid_t uid;	   /* of the process, when it made its socket */
	/* "ok" or "error" and what follows, NUL-terminated. */
	char answer[TRACER_ANSWER_MAX];
};

/* One that has done what it was told.  False: something else is wrong with it. */
typedef bool tracer_answer_fn(const struct tracer_answer *r, void *context);

/*
 * Send 'order' to the tracers of all these processes at the same time and wait for
 * their answers; of a process that has just begun, up to a second for its socket; of one
 * whose writer thread is away, up to three for its next allocation, except that
 * "status" is answered without it.
 * Then call 'fn' for each that has done it, in their order; of the others says why not,
 * in words about that process.  However many do not answer, they take as long as one
 * that does not.  True if each has done it and 'fn' was content.
 */
bool tracer_send(const pid_t *pids, size_t count, const char *order,
		 tracer_answer_fn *fn, void *context);

/* The value of 'key' in the answer, unescaped, or NULL; until the next call. */
const char *tracer_value(const struct tracer_answer *r, const char *key);

/* Step through the answer: false at its end.  '*next' starts as NULL; 'key',
 * which is of letters, digits and '_', and 'value' (unescaped) are valid
 * until the next call. */
bool tracer_next_value(const struct tracer_answer *r, const char **next,
		       const char **key, const char **value);

#endif /* TRACER_CLIENT_H */
