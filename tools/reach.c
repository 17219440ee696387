/* SPDX-License-Identifier: MIT */
/* reach.c - see reach.h */
#include "reach.h"
#include "speak.h"
#include "started.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* A tracer looks after its clients at least this often. */
#define ANSWER_SECONDS 10

/* How long a process that has the tracer may take to make its socket, and one that
 * is not what it will be yet, to become it. */
#define YOUNG_MS  1000
#define UNBORN_MS 200

#define PLACES_MAX 64

#define NOBODY ((uid_t)-1)

/* Where sockets may be. */
struct place {
	char path[PATH_MAX];
	uid_t owner; /* that the directory must have; NOBODY: any */
	/* Another user's, and not the process's as far as is known: what is there
	 * must be shown to be of the process. */
	bool is_foreign;
};

struct places {
	struct place place[PLACES_MAX];
	unsigned count;
};

static void
add_place(struct places *p, const char *directory, const char *below,
	  uid_t owner)
{
	if (p->count == PLACES_MAX)
		return;

	struct place *const new = &p->place[p->count];

	if (snprintf(new->path, PATH_MAX, "%s%s", directory, below) >= PATH_MAX)
		return;
	for (unsigned i = 0; i < p->count; i++)
		if (strcmp(p->place[i].path, new->path) == 0)
			return;
	new->owner = owner;
	new->is_foreign = false;
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

static void
add_places_of(struct places *p, uid_t uid)
{
	char path[64];

	snprintf(path, sizeof(path), "/run/user/%lu/hatftrace",
		 (unsigned long)uid);
	add_place(p, path, "", uid);
	snprintf(path, sizeof(path), "/tmp/hatftrace-%lu", (unsigned long)uid);
	add_place(p, path, "", uid);
}

/* Those of each user for whom 'directory' has a name that is 'prefix' and his
 * number. */
static void
add_foreign(struct places *p, const char *directory, const char *prefix)
{
	DIR *const d = opendir(directory);
	const size_t n = strlen(prefix);
	const struct dirent *entry;

	while (d != NULL && (entry = readdir(d)) != NULL) {
		const char *const digits = entry->d_name + n;
		const unsigned before = p->count;
		char *end;

		if (strncmp(entry->d_name, prefix, n) != 0 || digits[0] < '0' ||
		    digits[0] > '9')
			continue;

		const unsigned long uid = strtoul(digits, &end, 10);

		if (*end != '\0' || uid >= NOBODY)
			continue;
		add_places_of(p, (uid_t)uid);
		for (unsigned i = before; i < p->count; i++)
			p->place[i].is_foreign = true;
	}
	if (d != NULL)
		closedir(d);
}

/*
 * Our own first, then those of the user 'uid' and what 'runtime' says if it says
 * something; and for root all others: a process may have been another user's when
 * it made its socket.
 */
static void
find_places(struct places *p, uid_t uid, const char *runtime)
{
	const char *const own = getenv("XDG_RUNTIME_DIR");

	p->count = 0;
	if (runtime != NULL && runtime[0] == '/')
		add_place(p, runtime, "/hatftrace", NOBODY);
	if (own != NULL && own[0] == '/')
		add_place(p, own, "/hatftrace", NOBODY);
	add_places_of(p, geteuid());
	add_places_of(p, uid);
	if (geteuid() == 0) {
		add_foreign(p, "/run/user", "");
		add_foreign(p, "/tmp", "hatftrace-");
	}
}

/* The directory, if only its owner can have put something there; else -1. */
static int
open_place(const struct place *place)
{
	struct stat st;
	const int fd = open(place->path,
			    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && (st.st_mode & 022) == 0 &&
	    (place->owner == NOBODY || st.st_uid == place->owner))
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

/* Has the socket been made by process 'pid'? */
static bool
is_of(int fd, pid_t pid)
{
	struct ucred peer;
	socklen_t nbytes = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &nbytes) == 0 &&
	       peer.pid == pid;
}

/* Connect to 'name' in the directory open as 'place_fd'. */
static int
connect_to(int place_fd, const char *name)
{
	const struct timeval limit = { .tv_sec = ANSWER_SECONDS };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, saved_errno;

	/* However long the path is; and the directory stays this one. */
	snprintf(address.sun_path, sizeof(address.sun_path),
		 "/proc/self/fd/%d/%s", place_fd, name);
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

/* Connect to the socket of 'pid' in this place. */
static int
connect_in(const struct place *place, pid_t pid)
{
	const int place_fd = open_place(place);
	char name[32];
	int fd, saved_errno;

	if (place_fd < 0)
		return -1;
	snprintf(name, sizeof(name), "%ld.sock", (long)pid);
	fd = connect_to(place_fd, name);
	saved_errno = errno;
	close(place_fd);
	if (fd >= 0 && place->is_foreign && !is_of(fd, pid)) {
		close(fd);
		saved_errno = ENOENT;
		fd = -1;
	}
	errno = saved_errno;
	return fd;
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

/* Where sockets of 'pid' are looked for. */
static void
find_places_of(struct places *p, pid_t pid)
{
	static char environment[1u << 20];

	find_places(p, owner_of(pid),
		    runtime_of(pid, environment, sizeof(environment)));
}

static void
complain_deaf(pid_t pid)
{
	static struct places places;
	char list[1024] = "";
	size_t used = 0;

	find_places_of(&places, pid);
	for (unsigned i = 0; i < places.count && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used,
					 "%s%s", i == 0 ? "" : ", ",
					 places.place[i].path);
	speak("%ld: has libhatftrace.so, but takes no orders (it may be "
	      "younger than 0.1 s, or it was forked and has had no heap event "
	      "yet, its trace at an end, or HATFTRACE_CONTROL=off); no socket "
	      "of it in %s",
	      (long)pid, list);
}

static bool
is_absent(int e)
{
	return e == ENOENT || e == ECONNREFUSED || e == ENOTDIR || e == ELOOP;
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
	else if (!is_absent(e))
		speak("%ld: %s", n, strerror(e));
	else if (is_preloaded(pid))
		complain_deaf(pid);
	else
		speak("%ld: not traced", n);
}

static int
try_process(pid_t pid)
{
	static struct places places;
	int fd = -1, e = ENOENT;

	find_places_of(&places, pid);
	for (unsigned i = 0; i < places.count && fd < 0; i++) {
		fd = connect_in(&places.place[i], pid);
		/* What says most: that one is there and is not for us. */
		if (fd < 0 && (!is_absent(errno) || errno == ECONNREFUSED))
			e = errno;
	}
	errno = e;
	return fd;
}

static uint64_t
now_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Has the process begun less than UNBORN_MS ago?  Its image may be that of the
 * shell which is about to execute the program. */
static bool
is_unborn(pid_t pid)
{
	uint64_t start_ns;

	return started_ns((uint64_t)pid, &start_ns) &&
	       now_ms(CLOCK_BOOTTIME) < start_ns / 1000000 + UNBORN_MS;
}

/* A socket is made a while after the start: wait for it if there is to be one. */
static int
connect_process(pid_t pid)
{
	const uint64_t until = now_ms(CLOCK_MONOTONIC) + YOUNG_MS;
	int fd = try_process(pid), e;

	while (fd < 0 && is_absent(errno)) {
		e = errno;
		if (now_ms(CLOCK_MONOTONIC) >= until ||
		    (!is_preloaded(pid) && !is_unborn(pid))) {
			errno = e;
			break;
		}
		usleep(10000);
		fd = try_process(pid);
	}
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

/* The process of "PID" and 'end'; 0: it is another name. */
static pid_t
pid_of_name(const char *name, const char *end)
{
	char *rest;
	const long n = strtol(name, &rest, 10);

	return n > 0 && n <= INT_MAX && strcmp(rest, end) == 0 ? (pid_t)n : 0;
}

/* Is it older than any socket that is being made ("PID.soc-")? */
static bool
is_old(int place_fd, const char *name)
{
	struct stat st;

	return fstatat(place_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISSOCK(st.st_mode) && st.st_mtim.tv_sec + 2 < time(NULL);
}

/* Whose socket is 'name'?  0: nobody's; of a process that is no more, it goes. */
static pid_t
look_at(const struct place *place, int place_fd, const char *name)
{
	const pid_t pid = pid_of_name(name, ".sock");
	bool is_his;
	int fd;

	if (pid == 0 &&
	    (pid_of_name(name, ".soc-") == 0 || !is_old(place_fd, name)))
		return 0;
	fd = connect_to(place_fd, name);
	if (fd < 0) {
		if (errno == ECONNREFUSED)
			unlinkat(place_fd, name, 0);
		return 0;
	}
	is_his = !place->is_foreign || is_of(fd, pid);
	close(fd);
	return is_his ? pid : 0;
}

static size_t
scan_place(const struct place *place, pid_t *pids, size_t count, size_t max)
{
	const int place_fd = open_place(place);
	const int fd = place_fd >= 0
			       ? openat(place_fd, ".",
					O_RDONLY | O_DIRECTORY | O_CLOEXEC)
			       : -1;
	DIR *const d = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	while (d != NULL && (entry = readdir(d)) != NULL && count < max) {
		const pid_t pid = look_at(place, place_fd, entry->d_name);

		if (pid != 0)
			pids[count++] = pid;
	}
	if (d != NULL)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	if (place_fd >= 0)
		close(place_fd);
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
	static struct places places;
	size_t count = 0, kept = 0;

	find_places(&places, geteuid(), NULL);
	for (unsigned i = 0; i < places.count; i++) {
		/* Ours, whoever has set the environment. */
		if (places.place[i].owner == NOBODY)
			places.place[i].owner = geteuid();
		count = scan_place(&places.place[i], pids, count, max);
	}
	qsort(pids, count, sizeof(*pids), compare_pids);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || pids[kept - 1] != pids[i])
			pids[kept++] = pids[i];
	return (ssize_t)kept;
}
