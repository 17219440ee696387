/* SPDX-License-Identifier: MIT */
/* left_status.c - see left_status.h */
#include "tools/control/left_status.h"

#include "hatf/recorder/socket_path.h"
#include "hatf/recorder/status_file.h"
#include "tools/control/maps.h"
#include "tools/control/process_info.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATUS_OFFSET offsetof(struct status_file, status)

#define NS_PER_MS 1000000u

int
left_status_open(int place_fd, const char *name, uid_t owner)
{
	struct stat st;
	const int fd = openat(place_fd, name,
			      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
				      O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == owner &&
	    st.st_nlink == 1)
		return fd;
	close(fd);
	return -1;
}

bool
left_status_is_written(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size > (off_t)STATUS_OFFSET;
}

bool
left_status_is_abandoned(int fd)
{
	return flock(fd, LOCK_SH | LOCK_NB) == 0;
}

static bool
is_status(const char *line, const void *inode)
{
	return maps_is_file(line, SOCKET_PATH_STATUS_SUFFIX,
			    *(const unsigned long long *)inode);
}

bool
left_status_is_mapped(int fd, pid_t pid)
{
	unsigned long long inode;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	inode = st.st_ino;
	return maps_find(pid, is_status, &inode);
}

/* Read the word at 'offset'; 0 if it cannot be read. */
static uint64_t
read_u64(int fd, off_t offset)
{
	uint64_t n;

	return pread(fd, &n, sizeof(n), offset) == sizeof(n) ? n : 0;
}

static uint32_t
read_u32(int fd, off_t offset)
{
	uint32_t n;

	return pread(fd, &n, sizeof(n), offset) == sizeof(n) ? n : 0;
}

uint64_t
left_status_seen(int fd)
{
	return read_u64(fd, offsetof(struct status_file, seen));
}

bool
left_status_read(int fd, pid_t pid, const char *pending, uint64_t now_ms,
		 char *answer, size_t cap)
{
	const uint64_t made_ms =
		read_u64(fd, offsetof(struct status_file, made_ns)) / NS_PER_MS;
	const uint64_t passed =
		now_ms > made_ms ? (now_ms - made_ms) / 1000 : 0;
	const uint32_t nbytes =
		read_u32(fd, offsetof(struct status_file, status_nbytes));
	char status[STATUS_FILE_NBYTES - STATUS_OFFSET + 1], exe[PATH_MAX];
	const char *seconds;
	int used;

	if (nbytes == 0 || nbytes >= sizeof(status) ||
	    pread(fd, status, nbytes, STATUS_OFFSET) != (ssize_t)nbytes)
		return false;
	status[nbytes] = '\0';
	seconds = strstr(status, "\nseconds=");
	/*
	 * A reader of the answer uses the first line with a given key, so write
	 * the updated "seconds" before the old one.
	 */
	used = seconds == NULL
		       ? snprintf(answer, cap, "ok\n%s%s", pending, status)
		       : snprintf(answer, cap, "ok\n%sseconds=%llu\n%s",
				  pending,
				  strtoull(seconds + 9, NULL, 10) +
					  (unsigned long long)passed,
				  status);
	/*
	 * A process that has never recorded does not state its executable in
	 * the file, so add the executable to the answer.
	 */
	if (used > 0 && (size_t)used < cap &&
	    strstr(status, "\nexe=") == NULL &&
	    process_info_exe(pid, exe, sizeof(exe)))
		used += snprintf(answer + used, cap - (size_t)used, "exe=%s\n",
				 exe);
	return used > 0 && (size_t)used < cap;
}
