/* SPDX-License-Identifier: MIT */
/* sockets.c - see sockets.h */
#include "tools/control/sockets.h"

#include "hatf/recorder/bells.h"
#include "hatf/recorder/socket_path.h"
#include "tools/control/exe.h"
#include "tools/control/left_status.h"

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
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PLACES_MAX 256

/*
 * Upper bound of the directory entries that are examined: links to a socket
 * cost their creator nothing.
 */
#define NAMES_MAX 65536

/* Pause between two attempts to connect while the accept queue is full. */
#define CROWDED_US 10000

/*
 * Upper bound of the time that a recorder needs to create a socket
 * (SOCKET_PATH_MAKING_SUFFIX).
 */
#define MAKING_SECONDS 2

/* A directory that may hold sockets if it belongs to 'owner'. */
struct place {
	char path[PATH_MAX];
	uid_t owner;
};

struct places {
	struct place place[PLACES_MAX];
	unsigned count;
};

uint64_t
sockets_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* ----------------------------------------------------------------- places */

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
		if (p->place[i].owner == owner &&
		    strcmp(p->place[i].path, new->path) == 0)
			return;
	new->owner = owner;
	p->count++;
}

/*
 * Return the value of 'name' (which includes the '=') in the environment of
 * 'pid', or NULL.
 */
static const char *
environment_of(pid_t pid, const char *name)
{
	static char buf[1u << 20];
	const size_t length = strlen(name);
	char path[64];
	const char *found = NULL;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%ld/environ", (long)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return NULL;
	n = fread(buf, 1, sizeof(buf) - 1, f);
	fclose(f);
	buf[n] = '\0';
	for (size_t i = 0; i < n && found == NULL; i += strlen(buf + i) + 1)
		if (strncmp(buf + i, name, length) == 0)
			found = buf + i + length;
	return found;
}

bool
sockets_is_control_off(pid_t pid)
{
	const char *const value = environment_of(pid, "HATFTRACE_CONTROL=");

	return value != NULL && strcmp(value, "off") == 0;
}

static void
add_places_of(struct places *p, uid_t uid)
{
	char path[64];

	snprintf(path, sizeof(path), SOCKET_PATH_RUN "/%lu" SOCKET_PATH_FOLDER,
		 (unsigned long)uid);
	add_place(p, path, "", uid);
	snprintf(path, sizeof(path),
		 SOCKET_PATH_TMP "/" SOCKET_PATH_PREFIX "%lu",
		 (unsigned long)uid);
	add_place(p, path, "", uid);
}

/*
 * Add the directory of each user that 'directory' contains: 'prefix' and a user
 * id, owned by that user.  The owner is checked because anybody can create
 * names in /tmp.
 */
static void
add_users(struct places *p, const char *directory, const char *prefix)
{
	DIR *const d = opendir(directory);
	const size_t n = strlen(prefix);
	const struct dirent *entry;
	struct stat st;

	while (d != NULL && (entry = readdir(d)) != NULL) {
		const char *const digits = entry->d_name + n;
		char *end;

		if (strncmp(entry->d_name, prefix, n) != 0 || digits[0] < '0' ||
		    digits[0] > '9')
			continue;

		const unsigned long uid = strtoul(digits, &end, 10);

		if (*end == '\0' &&
		    fstatat(dirfd(d), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISDIR(st.st_mode) && st.st_uid == uid)
			add_places_of(p, (uid_t)uid);
	}
	if (d != NULL)
		closedir(d);
}

/* Add the places for 'runtime', a value of XDG_RUNTIME_DIR or NULL. */
static void
add_runtime(struct places *p, const char *runtime, uid_t uid)
{
	if (runtime == NULL || runtime[0] != '/')
		return;
	add_place(p, runtime, SOCKET_PATH_FOLDER, geteuid());
	add_place(p, runtime, SOCKET_PATH_FOLDER, uid);
}

/*
 * Add the places to search for a process: those of its environment, if it can
 * be read; our own; those of user 'uid'; and for root those of all users,
 * because a process may have had another user id when it created its socket.
 */
static void
find_places(struct places *p, uid_t uid, const char *runtime)
{
	p->count = 0;
	add_runtime(p, runtime, uid);
	add_runtime(p, getenv("XDG_RUNTIME_DIR"), uid);
	add_places_of(p, geteuid());
	add_places_of(p, uid);
	if (geteuid() == 0) {
		add_users(p, SOCKET_PATH_RUN, "");
		add_users(p, SOCKET_PATH_TMP, SOCKET_PATH_PREFIX);
	}
}

static void
find_places_of(struct places *p, pid_t pid)
{
	find_places(p, sockets_owner_of(pid),
		    environment_of(pid, SOCKET_PATH_VARIABLE));
}

void
sockets_list_places(pid_t pid, char *list, size_t cap)
{
	static struct places places;
	size_t used = 0;

	find_places_of(&places, pid);
	list[0] = '\0';
	for (unsigned i = 0; i < places.count && used < cap; i++)
		if (i == 0 ||
		    strcmp(places.place[i].path, places.place[i - 1].path) != 0)
			used += (size_t)snprintf(list + used, cap - used,
						 "%s%s", i == 0 ? "" : ", ",
						 places.place[i].path);
}

/*
 * Open the directory if it belongs to 'owner' and nobody else may write to it;
 * else return -1.
 */
static int
open_place(const struct place *place)
{
	struct stat st;
	const int fd = open(place->path,
			    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && (st.st_mode & 022) == 0 &&
	    st.st_uid == place->owner)
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

/* ----------------------------------------------------------------- sockets */

/* Open the socket 'name' of 'owner' without following links; -1 on failure. */
static int
open_socket_file(int place_fd, const char *name, uid_t owner)
{
	struct stat st;
	const int fd = openat(place_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == owner)
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

/* Connect to the socket that is open as 'file_fd'. */
static int
connect_once(int file_fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, saved_errno;

	/*
	 * Short however long the path is, and always the file that was checked.
	 */
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d",
		 file_fd);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address,
			      sizeof(address)) == 0)
		return fd;
	saved_errno = errno;
	close(fd);
	errno = saved_errno;
	return -1;
}

/*
 * Connect to 'name', a socket of 'owner'.  If the accept queue is full, retry
 * until 'until_ms', then fail with EAGAIN.
 */
static int
connect_to(int place_fd, const char *name, uid_t owner, uint64_t until_ms)
{
	const int file_fd = open_socket_file(place_fd, name, owner);
	int fd, saved_errno;

	if (file_fd < 0)
		return -1;
	fd = connect_once(file_fd);
	while (fd < 0 && errno == EAGAIN && sockets_now_ms() < until_ms) {
		usleep(CROWDED_US);
		fd = connect_once(file_fd);
	}
	saved_errno = errno;
	close(file_fd);
	errno = saved_errno;
	return fd;
}

/*
 * Return the id of the listening process, or 0 if it has none in this PID
 * namespace.  Also return its user id at the time of listen().
 */
static pid_t
listener_of(int fd, uid_t *uid_ret)
{
	struct ucred peer;
	socklen_t nbytes = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &nbytes) != 0)
		return 0;
	*uid_ret = peer.uid;
	return peer.pid;
}

/*
 * Return the value of 'key' in the status of 'pid', with leading blanks, or "".
 */
static const char *
status_of(pid_t pid, const char *key, char *line, int cap)
{
	const size_t n = strlen(key);
	char path[64];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	f = fopen(path, "re");
	while (!found && f != NULL && fgets(line, cap, f) != NULL)
		found = strncmp(line, key, n) == 0;
	if (f != NULL)
		fclose(f);
	return found ? line + n : "";
}

long
sockets_inner_number(pid_t pid)
{
	char line[512];
	const char *const last =
		strrchr(status_of(pid, "NSpid:", line, sizeof(line)), '\t');

	return last != NULL ? strtol(last, NULL, 10) : pid;
}

/* Is 'uid' the real, effective or saved user id of 'pid'? */
static bool
is_user_of(pid_t pid, uid_t uid)
{
	char line[512];
	const char *next = status_of(pid, "Uid:", line, sizeof(line));

	while (*next == '\t') {
		char *end;

		if (strtoul(next + 1, &end, 10) == uid)
			return true;
		next = end;
	}
	return false;
}

/*
 * Is 'pid' the listener?  The number alone is no proof: a process can create a
 * socket, leave it to a child and end, and then another user's process may get
 * its number.  A process that gave up root's privileges created its socket as
 * root; in that case only root gets here.
 */
static bool
is_listener(int fd, pid_t pid, uid_t *uid_ret)
{
	return listener_of(fd, uid_ret) == pid &&
	       (*uid_ret == geteuid() || is_user_of(pid, *uid_ret));
}

bool
sockets_is_absent(int e)
{
	return e == ENOENT || e == ECONNREFUSED || e == ENOTDIR || e == ELOOP;
}

/* Connect to the socket of 'pid' in this place. */
static int
connect_in(const struct place *place, pid_t pid, uint64_t until_ms,
	   uid_t *uid_ret)
{
	const int place_fd = open_place(place);
	char name[32];
	int fd, saved_errno;

	if (place_fd < 0)
		return -1;
	snprintf(name, sizeof(name), "%ld" SOCKET_PATH_SUFFIX,
		 sockets_inner_number(pid));
	fd = connect_to(place_fd, name, place->owner, until_ms);
	saved_errno = errno == EAGAIN ? ETIMEDOUT : errno;
	close(place_fd);
	if (fd >= 0 && !is_listener(fd, pid, uid_ret)) {
		close(fd);
		saved_errno = ENOENT;
		fd = -1;
	}
	errno = saved_errno;
	return fd;
}

int
sockets_connect(pid_t pid, uint64_t until_ms, uid_t *uid_ret)
{
	static struct places places;
	int fd = -1, e = ENOENT;

	find_places_of(&places, pid);
	for (unsigned i = 0; i < places.count && fd < 0; i++) {
		const uid_t owner = places.place[i].owner;

		/* Do not let other users' sockets block us. */
		if (owner != geteuid() && !is_user_of(pid, owner))
			continue;
		fd = connect_in(&places.place[i], pid, until_ms, uid_ret);
		/*
		 * Keep the most informative error: a socket exists but may not
		 * be used.
		 */
		if (fd < 0 &&
		    (!sockets_is_absent(errno) || errno == ECONNREFUSED))
			e = errno;
	}
	errno = e;
	return fd;
}

/* ------------------------------------------------- bells and status files */

/* Open the file of bells in this place, if it may be that of 'pid'. */
static int
open_bells(const struct place *place, pid_t pid)
{
	int place_fd, fd;

	/* A process maps only its own user's file. */
	if (place->owner != geteuid() && !is_user_of(pid, place->owner))
		return -1;
	place_fd = open_place(place);
	if (place_fd < 0)
		return -1;
	fd = bell_open(place_fd, place->owner);
	close(place_fd);
	return fd;
}

static enum bell_listening
ring_in(const struct place *place, pid_t pid, enum bell_call call)
{
	const struct bells_process p =
		bell_find_process(pid, sockets_inner_number(pid));
	const int fd = open_bells(place, pid);
	enum bell_listening listening;

	if (fd < 0)
		return BELL_NO;
	listening = bell_is_mapped(fd, pid);
	/* Without the maps, the process must at least be that user's. */
	if ((listening == BELL_UNKNOWN && !is_user_of(pid, place->owner)) ||
	    (listening != BELL_NO && !bell_ring(fd, &p, call)))
		listening = BELL_NO;
	close(fd);
	return listening;
}

enum bell_listening
sockets_ring(pid_t pid, enum bell_call call)
{
	static struct places places;
	enum bell_listening listening = BELL_NO;

	find_places_of(&places, pid);
	for (unsigned i = 0; i < places.count && listening != BELL_YES; i++) {
		const enum bell_listening here =
			ring_in(&places.place[i], pid, call);

		if (here != BELL_NO)
			listening = here;
	}
	return listening;
}

/* Open the file of bells that 'pid' maps; -1 if there is none. */
static int
find_bells(pid_t pid, uid_t *uid_ret)
{
	static struct places places;

	if (!bell_may_listen(pid))
		return -1;
	find_places_of(&places, pid);
	for (unsigned i = 0; i < places.count; i++) {
		const int fd = open_bells(&places.place[i], pid);

		*uid_ret = places.place[i].owner;
		if (fd >= 0 && bell_is_mapped(fd, pid) == BELL_YES)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

bool
sockets_is_listening(pid_t pid)
{
	uid_t uid;
	const int fd = find_bells(pid, &uid);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Open the status file of 'pid' in this place; -1 if there is none. */
static int
open_status(const struct place *place, pid_t pid)
{
	const int place_fd = open_place(place);
	char name[32];
	int fd;

	if (place_fd < 0)
		return -1;
	snprintf(name, sizeof(name), "%ld" SOCKET_PATH_STATUS_SUFFIX,
		 sockets_inner_number(pid));
	fd = left_status_open(place_fd, name, place->owner);
	close(place_fd);
	if (fd < 0 || left_status_is_mapped(fd, pid))
		return fd;
	close(fd);
	return -1;
}

static int
find_status(pid_t pid)
{
	static struct places places;
	int fd = -1;

	find_places_of(&places, pid);
	for (unsigned i = 0; i < places.count && fd < 0; i++)
		if (places.place[i].owner == geteuid() ||
		    is_user_of(pid, places.place[i].owner))
			fd = open_status(&places.place[i], pid);
	return fd;
}

/* A process that left no status has never had a writer thread. */
static bool
write_dormant(pid_t pid, const char *pending, char *answer, size_t cap)
{
	char exe[PATH_MAX];
	int used = snprintf(answer, cap, "ok\n%spid=%ld\nstate=dormant\n",
			    pending, (long)pid);

	if (used > 0 && (size_t)used < cap && exe_read(pid, exe, sizeof(exe)))
		used += snprintf(answer + used, cap - (size_t)used, "exe=%s\n",
				 exe);
	return used > 0 && (size_t)used < cap;
}

bool
sockets_read_status(pid_t pid, char *answer, size_t cap, uid_t *uid_ret)
{
	const struct bells_process p =
		bell_find_process(pid, sockets_inner_number(pid));
	const int bells_fd = find_bells(pid, uid_ret);
	const char *pending = "";
	enum bell_call call;
	int fd;
	bool done;

	if (bells_fd < 0)
		return false;
	fd = find_status(pid);
	call = bell_pending(bells_fd, &p, fd >= 0 ? left_status_seen(fd) : 0);
	if (call != 0)
		pending = call == BELL_START ? "pending=start\n"
					     : "pending=stop\n";
	done = fd >= 0 ? left_status_read(fd, pid, pending, sockets_now_ms(),
					  answer, cap)
		       : write_dormant(pid, pending, answer, cap);
	close(bells_fd);
	if (fd >= 0)
		close(fd);
	return done;
}

uid_t
sockets_owner_of(pid_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld", (long)pid);
	return stat(path, &st) == 0 ? st.st_uid : geteuid();
}

/* ------------------------------------------------------------ all processes */

/*
 * Parse a name of a number and 'end'.  Return the number; 0 if the name has
 * another form.
 */
static long
number_of_name(const char *name, const char *end)
{
	char *rest;
	const long n = strtol(name, &rest, 10);

	return n > 0 && n <= INT_MAX && strcmp(rest, end) == 0 ? n : 0;
}

/* Is the file older than the time that creating a socket takes? */
static bool
is_old(int place_fd, const char *name)
{
	struct stat st;

	return fstatat(place_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_mtim.tv_sec + MAKING_SECONDS < time(NULL);
}

static bool
is_gone(long number)
{
	return kill((pid_t)number, 0) != 0 && errno == ESRCH;
}

/*
 * Remove the status file 'name' if its process has ended, in whatever PID
 * namespace.
 */
static void
sweep_status(const struct place *place, int place_fd, const char *name)
{
	const int fd = place->owner == geteuid()
			       ? left_status_open(place_fd, name, place->owner)
			       : -1;

	if (fd >= 0 && left_status_is_abandoned(fd))
		unlinkat(place_fd, name, 0);
	if (fd >= 0)
		close(fd);
}

/*
 * Remove 'name', a file of bells that was never finished, if its process has
 * ended.  One that lives in another PID namespace does without.
 */
static void
sweep_half_made(const struct place *place, int place_fd, const char *name)
{
	if (place->owner == geteuid() && is_old(place_fd, name) &&
	    is_gone(number_of_name(name, BELLS_MAKING_SUFFIX)))
		unlinkat(place_fd, name, 0);
}

/*
 * Remove 'name' if it is a dead socket: its process has ended and nobody
 * listens.  If the number comes from another PID namespace, the process may be
 * alive although we do not see it, but then it listens.
 */
static void
sweep(const struct place *place, int place_fd, const char *name)
{
	long number = number_of_name(name, SOCKET_PATH_SUFFIX);
	int fd;

	if (number_of_name(name, SOCKET_PATH_STATUS_SUFFIX) != 0) {
		sweep_status(place, place_fd, name);
		return;
	}
	if (number_of_name(name, BELLS_MAKING_SUFFIX) != 0) {
		sweep_half_made(place, place_fd, name);
		return;
	}
	if (number == 0 && is_old(place_fd, name))
		number = number_of_name(name, SOCKET_PATH_MAKING_SUFFIX);
	if (number == 0 || place->owner != geteuid() || !is_gone(number))
		return;
	fd = connect_to(place_fd, name, place->owner, 0);
	if (fd < 0 && errno == ECONNREFUSED)
		unlinkat(place_fd, name, 0);
	if (fd >= 0)
		close(fd);
}

/* Return the process of the socket 'name'; 0 if there is none. */
static pid_t
process_of(const struct place *place, int place_fd, const char *name)
{
	const long number = number_of_name(name, SOCKET_PATH_SUFFIX);
	uid_t uid;
	pid_t pid;
	int fd;

	if (number == 0)
		return 0;
	fd = connect_to(place_fd, name, place->owner, 0);
	/*
	 * A listener with a full accept queue is kept.  The process of another
	 * user's socket is unknown.
	 */
	if (fd < 0)
		return errno == EAGAIN && place->owner == geteuid()
			       ? (pid_t)number
			       : 0;
	pid = listener_of(fd, &uid);
	close(fd);
	return pid != 0 && sockets_inner_number(pid) == number ? pid : 0;
}

struct found {
	pid_t *pids; /* unused if 'max' is 0 */
	size_t count, max;
};

static void
scan_place(const struct place *place, struct found *found)
{
	const int place_fd = open_place(place);
	const int fd = place_fd >= 0
			       ? openat(place_fd, ".",
					O_RDONLY | O_DIRECTORY | O_CLOEXEC)
			       : -1;
	DIR *const d = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	for (unsigned i = 0; d != NULL && i < NAMES_MAX; i++) {
		pid_t pid;

		entry = readdir(d);
		if (entry == NULL)
			break;
		sweep(place, place_fd, entry->d_name);
		if (found->count == found->max)
			continue;
		pid = process_of(place, place_fd, entry->d_name);
		if (pid != 0)
			found->pids[found->count++] = pid;
	}
	if (d != NULL)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	if (place_fd >= 0)
		close(place_fd);
}

static void
scan_all(struct found *found)
{
	static struct places places;

	find_places(&places, geteuid(), NULL);
	for (unsigned i = 0; i < places.count; i++)
		if (found->max != 0 || places.place[i].owner == geteuid())
			scan_place(&places.place[i], found);
}

static int
compare_pids(const void *a, const void *b)
{
	const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

size_t
sockets_find_all(pid_t *pids, size_t max)
{
	struct found found = { .pids = pids, .max = max };
	size_t kept = 0;

	scan_all(&found);
	qsort(pids, found.count, sizeof(*pids), compare_pids);
	for (size_t i = 0; i < found.count; i++)
		if (kept == 0 || pids[kept - 1] != pids[i])
			pids[kept++] = pids[i];
	return kept;
}

void
sockets_sweep(void)
{
	struct found found = { .max = 0 };

	scan_all(&found);
}
