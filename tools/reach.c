/* SPDX-License-Identifier: MIT */
/* reach.c - see reach.h */
#include "reach.h"
#include "quiet.h"
#include "sockets.h"
#include "speak.h"
#include "started.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* What a talk may take; a tracer looks after its clients far more often. */
#define ANSWER_SECONDS 10

/* How long a process that has the tracer may take to make its socket, and one that
 * is not what it will be yet, to become it. */
#define YOUNG_MS  1000
#define UNBORN_MS 200

/* How long a dormant process may take to allocate something. */
#define BELL_MS 3000

static void
complain_deaf(pid_t pid)
{
	char list[1024];

	if (quiet_is_waiting(pid)) {
		speak("%ld: recording, but with too few heap events so far for "
		      "a trace: it takes orders once it has begun one",
		      (long)pid);
		return;
	}
	sockets_list_places(pid, list, sizeof(list));
	speak("%ld: has libhatftrace.so, but takes no orders (it may be "
	      "younger than 0.1 s, or have had too few heap events so far for "
	      "HATFTRACE_BEGIN=late, its trace at an end, or "
	      "HATFTRACE_CONTROL=off); no socket of it in %s",
	      (long)pid, list);
}

static void
complain(pid_t pid, int e)
{
	const long n = (long)pid;

	if (kill(pid, 0) != 0 && errno == ESRCH)
		speak("%ld: no such process", n);
	else if (e == EACCES || e == EPERM ||
		 ((e == ECONNRESET || e == EPIPE) && geteuid() != 0 &&
		  sockets_owner_of(pid) != geteuid()))
		speak("%ld: permission denied: it is another user's", n);
	else if (e == ECONNRESET || e == EPIPE)
		speak("%ld: ended before it answered", n);
	else if (e == ETIMEDOUT)
		speak("%ld: no answer in %d seconds", n, ANSWER_SECONDS);
	else if (!sockets_is_absent(e))
		speak("%ld: %s", n, strerror(e));
	else if (quiet_is_preloaded(pid))
		complain_deaf(pid);
	else
		speak("%ld: not traced", n);
}

/* Has the process begun less than so long ago? */
static bool
is_younger(pid_t pid, uint64_t ms)
{
	struct timespec ts;
	uint64_t start_ns;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return started_ns((uint64_t)pid, &start_ns) &&
	       (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000 <
		       start_ns / 1000000 + ms;
}

/* May there be a socket soon?  The image of a process that has just begun may be that
 * of the shell which is about to execute the program. */
static bool
may_appear(const struct reach *r)
{
	if (r->has_rung)
		return true;
	return is_younger(r->pid, YOUNG_MS)
		       ? quiet_is_preloaded(r->pid) ||
				 is_younger(r->pid, UNBORN_MS)
		       : quiet_is_preloaded(r->pid) &&
				 !quiet_is_waiting(r->pid);
}

/*
 * Connect to the socket of the process.  It is made a while after the start: wait for it
 * if there is to be one.  A process whose writer thread is away has a bell, and the
 * socket after its next allocation.
 */
static int
connect_process(struct reach *r, uint64_t until_ms)
{
	uint64_t young_ms = sockets_now_ms() + YOUNG_MS;
	int fd = sockets_connect(r->pid, until_ms, &r->uid), e;

	while (fd < 0 && sockets_is_absent(errno)) {
		e = errno;
		if (!r->has_rung && sockets_ring(r->pid, BELL_CALL)) {
			r->has_rung = true;
			young_ms = sockets_now_ms() + BELL_MS;
		}
		if (sockets_now_ms() >= young_ms || !may_appear(r)) {
			errno = e;
			break;
		}
		usleep(10000);
		fd = sockets_connect(r->pid, until_ms, &r->uid);
	}
	return fd;
}

/* Wait for something to read; false with ETIMEDOUT, or what else is wrong. */
static bool
wait_for(int fd, uint64_t until_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n;

	do {
		const uint64_t now = sockets_now_ms();

		errno = ETIMEDOUT;
		if (now >= until_ms)
			return false;
		n = poll(&p, 1, (int)(until_ms - now));
	} while (n == 0 || (n < 0 && errno == EINTR));
	return n > 0;
}

/* The whole of the talk is over at 'until_ms', however it is drawn out. */
static bool
converse(struct reach *r, int fd, const char *order, uint64_t until_ms)
{
	char line[64];
	const int nbytes = snprintf(line, sizeof(line), "%s\n", order);
	size_t used = 0;
	ssize_t n;

	/* A fresh socket has room for it. */
	if (send(fd, line, (size_t)nbytes, MSG_NOSIGNAL) != nbytes)
		return false;
	do {
		if (!wait_for(fd, until_ms))
			return false;
		n = recv(fd, r->answer + used, sizeof(r->answer) - 1 - used, 0);
		if (n > 0)
			used += (size_t)n;
	} while (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)));
	r->answer[used] = '\0';
	/* Closed without a word: we are not the one to be answered. */
	if (used == 0 && n == 0)
		errno = EACCES;
	return used > 0;
}

/* Has it been called in vain?  A start or a stop is left with it. */
static bool
is_quiet(const struct reach *r, int e, const char *order)
{
	const char *will = "takes orders";

	if (!r->has_rung || !sockets_is_absent(e) || kill(r->pid, 0) != 0)
		return false;
	if (strcmp(order, "start") == 0 && sockets_ring(r->pid, BELL_START))
		will = "begins to record";
	if (strcmp(order, "stop") == 0 && sockets_ring(r->pid, BELL_STOP))
		will = "ends its trace";
	speak("%ld: %s, and has allocated nothing for %d seconds: it %s with "
	      "its next allocation",
	      (long)r->pid, r->is_recording ? "recording" : "dormant",
	      BELL_MS / 1000, will);
	return true;
}

/*
 * Without the process: what its tracer has left with the bell, or what can be seen of one
 * that has no file yet.  True: 'order' is dealt with, '*done_ret' tells how.
 */
static bool
do_without(struct reach *r, const char *order, bool *done_ret)
{
	const bool is_status = strcmp(order, "status") == 0;
	const char *state;

	*done_ret = is_status;
	if (!sockets_read_status(r->pid, r->answer, sizeof(r->answer), &r->uid))
		return is_status && !is_younger(r->pid, YOUNG_MS) &&
		       quiet_tell(r->pid, r->answer, sizeof(r->answer));
	state = reach_value(r, "state");
	r->is_recording = state != NULL && strcmp(state, "recording") == 0;
	if (is_status || (strcmp(order, "start") == 0) != r->is_recording)
		return is_status;
	speak("%ld: %s", (long)r->pid,
	      r->is_recording ? "recording already" : "not recording");
	return true;
}

/* What has become of an order. */
enum outcome {
	FAILED, /* which has been said */
	DONE,
	HUNG_UP, /* not heard; errno says more */
};

static enum outcome
send_once(struct reach *r, const char *order, uint64_t until_ms)
{
	const char *reason;
	bool done;
	int fd;

	fd = sockets_connect(r->pid, until_ms, &r->uid);
	if (fd < 0 && sockets_is_absent(errno)) {
		if (do_without(r, order, &done))
			return done ? DONE : FAILED;
		fd = connect_process(r, until_ms);
	}
	if (fd < 0) {
		if (!is_quiet(r, errno, order))
			complain(r->pid, errno);
		return FAILED;
	}
	done = converse(r, fd, order, until_ms);
	close(fd);
	if (!done)
		return HUNG_UP;
	if (strncmp(r->answer, "ok\n", 3) == 0)
		return DONE;
	reason = reach_value(r, "reason");
	speak("%ld: %s", (long)r->pid, reason != NULL ? reason : "bad answer");
	return FAILED;
}

bool
reach_send(struct reach *r, pid_t pid, const char *order)
{
	const uint64_t until_ms = sockets_now_ms() + 1000 * ANSWER_SECONDS;
	enum outcome outcome = HUNG_UP;

	*r = (struct reach){ .pid = pid };
	/* Its writer thread may have left just then, and the socket with it. */
	for (unsigned tries = 0; tries < 2 && outcome == HUNG_UP; tries++)
		outcome = send_once(r, order, until_ms);
	if (outcome == HUNG_UP)
		complain(pid, errno);
	return outcome == DONE;
}

static unsigned
hex_digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10) & 15;
}

/* Undo the \xHH of a value of 'n' bytes. */
static void
unescape(const char *s, size_t n, char *out, size_t cap)
{
	size_t used = 0;

	for (size_t i = 0; i < n && used + 1 < cap; i++) {
		if (s[i] == '\\' && i + 3 < n && s[i + 1] == 'x') {
			out[used++] = (char)(hex_digit(s[i + 2]) << 4 |
					     hex_digit(s[i + 3]));
			i += 3;
		} else {
			out[used++] = s[i];
		}
	}
	out[used] = '\0';
}

#define KEY_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

bool
reach_next(const struct reach *r, const char **next, const char **key,
	   const char **value)
{
	static char name[64], text[2 * PATH_MAX];
	const char *const line =
		*next != NULL ? *next : strchr(r->answer, '\n');
	const char *end, *equals;

	if (line == NULL || line[0] != '\n')
		return false;
	end = strchr(line + 1, '\n');
	equals = strchr(line, '=');
	if (end == NULL || equals == NULL || equals > end)
		return false;
	if (strspn(line + 1, KEY_CHARACTERS) != (size_t)(equals - line - 1))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(equals - line - 1),
		 line + 1);
	unescape(equals + 1, (size_t)(end - equals - 1), text, sizeof(text));
	*next = end;
	*key = name;
	*value = text;
	return true;
}

const char *
reach_value(const struct reach *r, const char *key)
{
	const char *next = NULL, *name, *value;

	while (reach_next(r, &next, &name, &value))
		if (strcmp(name, key) == 0)
			return value;
	return NULL;
}
