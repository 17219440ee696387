/* SPDX-License-Identifier: MIT */
/* reach.c - see reach.h */
#include "reach.h"
#include "speak.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* A tracer looks after its clients at least this often. */
#define ANSWER_SECONDS 10

#define PLACES_MAX 5

/* Where sockets may be. */
struct places {
	char path[PLACES_MAX][PATH_MAX];
	unsigned count;
};

static void
add_place(struct places *p, const char *directory, const char *below)
{
	char *const path = p->path[p->count];

	if (snprintf(path, PATH_MAX, "%s%s", directory, below) >= PATH_MAX)
		return;
	for (unsigned i = 0; i < p->count; i++)
		if (strcmp(p->path[i], path) == 0)
			return;
	p->count++;
}

/* What the environment of 'pid' says, or NULL. */
static const char *
runtime_of(pid_t pid, char *buf, size_t cap)
{
	static const char name[] = "XDG_RUNTIME_DIR=";
	char path[64];
	const char *found = NULL;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%ld/environ", (long)pid);
	f = fopen(path, "r");
	if (f == NULL)
		return NULL;
	n = fread(buf, 1, cap - 1, f);
	fclose(f);
	buf[n] = '\0';
	for (size_t i = 0; i < n && found == NULL; i += strlen(buf + i) + 1)
		if (strncmp(buf + i, name, sizeof(name) - 1) == 0)
			found = buf + i + sizeof(name) - 1;
	return found;
}

/* Those of the user 'uid', and what 'runtime' says if it says something. */
static void
find_places(struct places *p, uid_t uid, const char *runtime)
{
	const char *const own = getenv("XDG_RUNTIME_DIR");
	char path[64];

	p->count = 0;
	if (runtime != NULL && runtime[0] == '/')
		add_place(p, runtime, "/hatftrace");
	if (own != NULL && own[0] == '/')
		add_place(p, own, "/hatftrace");
	snprintf(path, sizeof(path), "/run/user/%lu/hatftrace",
		 (unsigned long)uid);
	add_place(p, path, "");
	snprintf(path, sizeof(path), "/tmp/hatftrace-%lu", (unsigned long)uid);
	add_place(p, path, "");
}

static int
connect_to(const char *path)
{
	const struct timeval limit = { .tv_sec = ANSWER_SECONDS };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, saved_errno;

	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENOENT;
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) ==
	    0)
		return fd;
	saved_errno = errno;
	close(fd);
	errno = saved_errno;
	return -1;
}

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

static uid_t
owner_of(pid_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld", (long)pid);
	return stat(path, &st) == 0 ? st.st_uid : geteuid();
}

static void
complain(pid_t pid, int e)
{
	const long n = (long)pid;

	if (kill(pid, 0) != 0 && errno == ESRCH)
		speak("%ld: no such process", n);
	else if (e == EACCES || e == EPERM ||
		 ((e == ECONNRESET || e == EPIPE) && geteuid() != 0 &&
		  owner_of(pid) != geteuid()))
		speak("%ld: permission denied: it is another user's", n);
	else if (e == ECONNRESET || e == EPIPE)
		speak("%ld: ended before it answered", n);
	else if (e == EAGAIN || e == ETIMEDOUT)
		speak("%ld: no answer in %d seconds", n, ANSWER_SECONDS);
	else if (e != ENOENT && e != ECONNREFUSED && e != ENOTDIR)
		speak("%ld: %s", n, strerror(e));
	else if (is_preloaded(pid))
		speak("%ld: has libhatftrace.so, but takes no orders (it may "
		      "be younger than 0.1 s, its trace at an end, or "
		      "HATFTRACE_CONTROL=off)",
		      n);
	else
		speak("%ld: not traced", n);
}

static int
connect_process(pid_t pid)
{
	static char environment[1u << 20];
	struct places places;
	char path[PATH_MAX + 64];
	int fd = -1, e = ENOENT;

	find_places(&places, owner_of(pid),
		    runtime_of(pid, environment, sizeof(environment)));
	for (unsigned i = 0; i < places.count && fd < 0; i++) {
		snprintf(path, sizeof(path), "%s/%ld.sock", places.path[i],
			 (long)pid);
		fd = connect_to(path);
		/* What says most: that one is there and is not for us. */
		if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
			e = errno;
	}
	errno = e;
	return fd;
}

static bool
converse(struct reach *r, int fd, const char *order)
{
	size_t used = 0;
	ssize_t n;

	if (send(fd, order, strlen(order), MSG_NOSIGNAL) < 0 ||
	    send(fd, "\n", 1, MSG_NOSIGNAL) < 0)
		return false;
	do {
		n = recv(fd, r->answer + used, sizeof(r->answer) - 1 - used, 0);
		if (n > 0)
			used += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	r->answer[used] = '\0';
	/* Closed without a word: we are not the one to be answered. */
	if (used == 0 && n == 0)
		errno = EACCES;
	return used > 0;
}

bool
reach_send(struct reach *r, pid_t pid, const char *order)
{
	const int fd = connect_process(pid);
	const char *reason;
	bool answered;

	r->pid = pid;
	r->answer[0] = '\0';
	if (fd < 0) {
		complain(pid, errno);
		return false;
	}
	answered = converse(r, fd, order);
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

/* All ------------------------------------------------------------------- */

/* The process of "PID.sock"; 0: it is another name. */
static pid_t
pid_of_name(const char *name)
{
	char *end;
	const long n = strtol(name, &end, 10);

	return n > 0 && n <= INT_MAX && strcmp(end, ".sock") == 0 ? (pid_t)n
								  : 0;
}

static bool
is_ours(const char *directory)
{
	struct stat st;

	return lstat(directory, &st) == 0 && S_ISDIR(st.st_mode) &&
	       st.st_uid == geteuid();
}

static size_t
scan_place(const char *directory, pid_t *pids, size_t count, size_t max)
{
	DIR *const d = is_ours(directory) ? opendir(directory) : NULL;
	const struct dirent *entry;

	while (d != NULL && (entry = readdir(d)) != NULL && count < max) {
		const pid_t pid = pid_of_name(entry->d_name);
		char path[2 * PATH_MAX];
		int fd;

		if (pid == 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		fd = connect_to(path);
		if (fd >= 0) {
			close(fd);
			pids[count++] = pid;
		} else if (errno == ECONNREFUSED) {
			unlink(path);
		}
	}
	if (d != NULL)
		closedir(d);
	return count;
}

static int
compare_pids(const void *a, const void *b)
{
	const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

ssize_t
reach_all(pid_t *pids, size_t max)
{
	struct places places;
	size_t count = 0;

	find_places(&places, geteuid(), NULL);
	for (unsigned i = 0; i < places.count; i++)
		count = scan_place(places.path[i], pids, count, max);
	qsort(pids, count, sizeof(*pids), compare_pids);
	return (ssize_t)count;
}
