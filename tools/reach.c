/* SPDX-License-Identifier: MIT */
/* reach.c - see reach.h */
#include "reach.h"
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

/* Is libhatftrace.so mapped there?  Only who may look knows. */
static bool
is_preloaded(pid_t pid)
{
	char path[64], line[PATH_MAX + 128];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/maps", (long)pid);
	f = fopen(path, "r");
	if (f == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), f) != NULL)
		found = strstr(line, "libhatftrace") != NULL;
	fclose(f);
	return found;
}

static void
complain_deaf(pid_t pid)
{
	char list[1024];

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
	else if (is_preloaded(pid))
		complain_deaf(pid);
	else
		speak("%ld: not traced", n);
}

/* Has the process begun less than UNBORN_MS ago?  Its image may be that of the
 * shell which is about to execute the program. */
static bool
is_unborn(pid_t pid)
{
	struct timespec ts;
	uint64_t start_ns;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return started_ns((uint64_t)pid, &start_ns) &&
	       (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000 <
		       start_ns / 1000000 + UNBORN_MS;
}

/*
 * A socket is made a while after the start: wait for it if there is to be one.  A
 * dormant process has a bell, and the socket after its next allocation.
 */
static int
connect_process(struct reach *r, uint64_t until_ms)
{
	uint64_t young_ms = sockets_now_ms() + YOUNG_MS;
	int fd = sockets_connect(r->pid, until_ms, &r->uid), e;

	while (fd < 0 && sockets_is_absent(errno)) {
		e = errno;
		if (!r->has_rung && sockets_ring(r->pid, false)) {
			r->has_rung = true;
			young_ms = sockets_now_ms() + BELL_MS;
		}
		if (sockets_now_ms() >= young_ms ||
		    (!r->has_rung && !is_preloaded(r->pid) &&
		     !is_unborn(r->pid))) {
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

/* Has it been called in vain?  A start is left with it. */
static bool
is_quiet(const struct reach *r, int e, const char *order)
{
	const bool start = strcmp(order, "start") == 0;

	if (!r->has_rung || !sockets_is_absent(e) || kill(r->pid, 0) != 0)
		return false;
	if (start)
		sockets_ring(r->pid, true);
	speak("%ld: dormant, and has allocated nothing for %d seconds: it %s "
	      "with its next allocation",
	      (long)r->pid, BELL_MS / 1000,
	      start ? "begins to record" : "takes orders");
	return true;
}

bool
reach_send(struct reach *r, pid_t pid, const char *order)
{
	const uint64_t until_ms = sockets_now_ms() + 1000 * ANSWER_SECONDS;
	const char *reason;
	bool answered;
	int fd;

	r->pid = pid;
	r->answer[0] = '\0';
	r->has_rung = false;
	fd = connect_process(r, until_ms);
	if (fd < 0) {
		if (!is_quiet(r, errno, order))
			complain(pid, errno);
		return false;
	}
	answered = converse(r, fd, order, until_ms);
	if (!answered)
		complain(pid, errno);
	close(fd);
	if (!answered || strncmp(r->answer, "ok\n", 3) == 0)
		return answered;
	reason = reach_value(r, "reason");
	speak("%ld: %s", (long)pid, reason != NULL ? reason : "bad answer");
	return false;
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
