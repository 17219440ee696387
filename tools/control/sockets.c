/* SPDX-License-Identifier: MIT */
/* sockets.c - see sockets.h */
#include "tools/control/sockets.h"

#include "hatf/recorder/socket_path.h"
#include "tools/control/places.h"
#include "tools/control/process_info.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Pause between two attempts to connect while the accept queue is full. */
#define CROWDED_US 10000

uint64_t
sockets_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

bool
sockets_is_control_off(pid_t pid)
{
	const char *const value =
		process_info_variable(pid, "HATFTRACE_CONTROL=");

	return value != NULL && strcmp(value, "off") == 0;
}

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
	 * This path is short even if the socket's own path is long, and it
	 * always leads to the file that was checked.
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

int
sockets_connect_to(int place_fd, const char *name, uid_t owner,
		   uint64_t until_ms)
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

pid_t
sockets_listener(int fd, uid_t *uid_ret)
{
	struct ucred peer;
	socklen_t nbytes = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &nbytes) != 0)
		return 0;
	*uid_ret = peer.uid;
	return peer.pid;
}

/*
 * Is 'pid' the listener?  The process id alone is no proof: a process can
 * create a socket, leave it to a child and end, and then another user's process
 * may get the same id.  Therefore compare the user ids, too.
 *
 * A process that created its socket as root and then gave up root's privileges
 * fails that comparison.  Only root can connect to its socket, so we are root
 * then.  Therefore also accept a listener whose user id is our own.
 */
static bool
is_listener(int fd, pid_t pid, uid_t *uid_ret)
{
	return sockets_listener(fd, uid_ret) == pid &&
	       (*uid_ret == geteuid() || process_info_is_user(pid, *uid_ret));
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
	const int place_fd = places_open(place);
	char name[32];
	int fd, saved_errno;

	if (place_fd < 0)
		return -1;
	snprintf(name, sizeof(name), "%ld" SOCKET_PATH_SUFFIX,
		 process_info_number(pid));
	fd = sockets_connect_to(place_fd, name, place->owner, until_ms);
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

	places_find_of(&places, pid);
	for (unsigned i = 0; i < places.count && fd < 0; i++) {
		const uid_t owner = places.place[i].owner;

		/*
		 * Skip directories of unrelated users.  Otherwise they could
		 * delay us with a socket whose accept queue is full.
		 */
		if (owner != geteuid() && !process_info_is_user(pid, owner))
			continue;
		fd = connect_in(&places.place[i], pid, until_ms, uid_ret);
		/*
		 * If a socket exists but cannot be used, keep its error, which
		 * says more than ENOENT.
		 */
		if (fd < 0 &&
		    (!sockets_is_absent(errno) || errno == ECONNREFUSED))
			e = errno;
	}
	errno = e;
	return fd;
}
