/* SPDX-License-Identifier: MIT */
/* threadless.c - see threadless.h */
#include "tools/control/threadless.h"

#include "hatf/recorder/bells.h"
#include "hatf/recorder/socket_path.h"
#include "tools/control/left_status.h"
#include "tools/control/places.h"
#include "tools/control/process_info.h"
#include "tools/control/sockets.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* Open the file of bells in this directory, if 'pid' may have mapped it. */
static int
open_bells(const struct place *place, pid_t pid)
{
	int place_fd, fd;

	/*
	 * A process maps only a file of its own user, but may change its user
	 * afterwards.  Therefore open the file only if its owner is our user or
	 * a user of the process.
	 */
	if (place->owner != geteuid() &&
	    !process_info_is_user(pid, place->owner))
		return -1;
	place_fd = places_open(place);
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
		bell_find_process(pid, process_info_number(pid));
	const int fd = open_bells(place, pid);
	enum bell_listening listening;

	if (fd < 0)
		return BELL_NO;
	listening = bell_is_mapped(fd, pid);
	/*
	 * If /proc/PID/maps cannot be read, at least require that the file
	 * belongs to the user of the process.
	 */
	if ((listening == BELL_UNKNOWN &&
	     !process_info_is_user(pid, place->owner)) ||
	    (listening != BELL_NO && !bell_ring(fd, &p, call)))
		listening = BELL_NO;
	close(fd);
	return listening;
}

enum bell_listening
threadless_ring(pid_t pid, enum bell_call call)
{
	static struct places places;
	enum bell_listening listening = BELL_NO;

	places_find_of(&places, pid);
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
	places_find_of(&places, pid);
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
threadless_is_listening(pid_t pid)
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
	const int place_fd = places_open(place);
	char name[32];
	int fd;

	if (place_fd < 0)
		return -1;
	snprintf(name, sizeof(name), "%ld" SOCKET_PATH_STATUS_SUFFIX,
		 process_info_number(pid));
	fd = left_status_open(place_fd, name, place->owner);
	close(place_fd);
	if (fd < 0 ||
	    (left_status_is_written(fd) && left_status_is_mapped(fd, pid)))
		return fd;
	close(fd);
	return -1;
}

static int
find_status(pid_t pid)
{
	static struct places places;
	int fd = -1;

	places_find_of(&places, pid);
	for (unsigned i = 0; i < places.count && fd < 0; i++)
		if (places.place[i].owner == geteuid() ||
		    process_info_is_user(pid, places.place[i].owner))
			fd = open_status(&places.place[i], pid);
	return fd;
}

/*
 * Describe a process that has no status file because it has never had a writer
 * thread.
 */
static bool
write_dormant(pid_t pid, const char *pending, char *answer, size_t cap)
{
	char exe[PATH_MAX];
	int used = snprintf(answer, cap, "ok\n%spid=%ld\nstate=dormant\n",
			    pending, (long)pid);

	if (used > 0 && (size_t)used < cap &&
	    process_info_exe(pid, exe, sizeof(exe)))
		used += snprintf(answer + used, cap - (size_t)used, "exe=%s\n",
				 exe);
	return used > 0 && (size_t)used < cap;
}

bool
threadless_read_status(pid_t pid, char *answer, size_t cap, uid_t *uid_ret)
{
	const struct bells_process p =
		bell_find_process(pid, process_info_number(pid));
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
