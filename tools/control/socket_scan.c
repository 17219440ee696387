/* SPDX-License-Identifier: MIT */
/* socket_scan.c - see socket_scan.h */
#include "tools/control/socket_scan.h"

#include "hatf/recorder/bells.h"
#include "hatf/recorder/socket_path.h"
#include "tools/control/left_status.h"
#include "tools/control/places.h"
#include "tools/control/process_info.h"
#include "tools/control/sockets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * Maximum number of entries of a directory to examine.  The bound is needed
 * because an attacker can create any number of links to a socket.
 */
#define NAMES_MAX 65536

/*
 * Upper bound of the time that a recorder needs to create a socket, a file of
 * bells or a status file.  During this time, the name of the socket or file of
 * bells ends with SOCKET_PATH_MAKING_SUFFIX or BELLS_MAKING_SUFFIX, and the
 * status file has no status.
 */
#define MAKING_SECONDS 2

/*
 * Parse a name that consists of a number and 'end'.  Return the number; 0 if
 * the name has another form.
 */
static long
number_of_name(const char *name, const char *end)
{
	char *rest;
	const long n = strtol(name, &rest, 10);

	return n > 0 && n <= INT_MAX && strcmp(rest, end) == 0 ? n : 0;
}

/*
 * Is the file older than MAKING_SECONDS, so that no recorder is still making
 * it?
 */
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
 * Remove the status file 'name' if its process has ended.  A live process keeps
 * its file locked, so this works for processes in other PID namespaces, too.  A
 * recorder creates the file, locks it, and then writes the status.  Therefore
 * keep an unlocked file without a status while a recorder may still be about to
 * lock it.
 */
static void
sweep_status(const struct place *place, int place_fd, const char *name)
{
	const int fd = place->owner == geteuid()
			       ? left_status_open(place_fd, name, place->owner)
			       : -1;

	if (fd >= 0 && left_status_is_abandoned(fd) &&
	    (left_status_is_written(fd) || is_old(place_fd, name)))
		unlinkat(place_fd, name, 0);
	if (fd >= 0)
		close(fd);
}

/*
 * Remove 'name', an unfinished file of bells, if the process that was creating
 * it has ended.  A process in another PID namespace may seem to have ended
 * although it is alive.  If its file is removed, that process goes on without
 * the file.
 */
static void
sweep_half_made(const struct place *place, int place_fd, const char *name)
{
	if (place->owner == geteuid() && is_old(place_fd, name) &&
	    is_gone(number_of_name(name, BELLS_MAKING_SUFFIX)))
		unlinkat(place_fd, name, 0);
}

/*
 * Remove 'name' if it is a file that socket_scan_sweep() removes.  A socket is
 * dead if its process has ended and no process listens at it.  Check both,
 * because a process in another PID namespace may seem to have ended although it
 * listens: the number in the name is its id in that namespace, not in ours.
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
	fd = sockets_connect_to(place_fd, name, place->owner, 0);
	if (fd < 0 && errno == ECONNREFUSED)
		unlinkat(place_fd, name, 0);
	if (fd >= 0)
		close(fd);
}

/* Return the process that listens at the socket 'name'; 0 if there is none. */
static pid_t
process_of(const struct place *place, int place_fd, const char *name)
{
	const long number = number_of_name(name, SOCKET_PATH_SUFFIX);
	uid_t uid;
	pid_t pid;
	int fd;

	if (number == 0)
		return 0;
	fd = sockets_connect_to(place_fd, name, place->owner, 0);
	/*
	 * If the accept queue is full (EAGAIN), some process listens.  Return
	 * the number in the name, unless the socket belongs to another user.
	 */
	if (fd < 0)
		return errno == EAGAIN && place->owner == geteuid()
			       ? (pid_t)number
			       : 0;
	pid = sockets_listener(fd, &uid);
	close(fd);
	return pid != 0 && process_info_number(pid) == number ? pid : 0;
}

struct found {
	pid_t *pids; /* unused if 'max' is 0 */
	size_t count, max;
};

static void
scan_place(const struct place *place, struct found *found)
{
	const int place_fd = places_open(place);
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

	places_find(&places, geteuid(), NULL);
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
socket_scan_find_all(pid_t *pids, size_t max)
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
socket_scan_sweep(void)
{
	struct found found = { .max = 0 };

	scan_all(&found);
}
