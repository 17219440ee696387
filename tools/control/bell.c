/* SPDX-License-Identifier: MIT */
/* bell.c - see bell.h */
#include "tools/control/bell.h"

#include "hatf/recorder/socket_path.h"
#include "tools/control/exe.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATUS_OFFSET offsetof(struct bell_file, status)

#define NS_PER_MS 1000000u

int
bell_open(int place_fd, const char *name, uid_t owner)
{
	struct stat st;
	const int fd =
		openat(place_fd, name,
		       O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == owner &&
	    st.st_nlink == 1 && st.st_size > (off_t)STATUS_OFFSET)
		return fd;
	close(fd);
	return -1;
}

bool
bell_ring(int fd, enum bell_call call)
{
	const char byte = (char)call;

	return pwrite(fd, &byte, 1, 0) == 1;
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

bool
bell_is_abandoned(int fd)
{
	return flock(fd, LOCK_SH | LOCK_NB) == 0;
}

/*
 * Parse the inode number in a line of /proc/PID/maps, after the addresses,
 * permissions, offset and device.
 */
static unsigned long long
inode_of(const char *line)
{
	for (unsigned field = 0; field < 4 && line != NULL; field++) {
		line = strchr(line, ' ');
		if (line != NULL)
			line++;
	}
	return line != NULL ? strtoull(line, NULL, 10) : 0;
}

bool
bell_is_mapped(int fd, pid_t pid)
{
	char path[64], line[PATH_MAX + 128];
	bool found = false;
	struct stat st;
	FILE *f;

	if (fstat(fd, &st) != 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%ld/maps", (long)pid);
	f = fopen(path, "re");
	while (!found && f != NULL && fgets(line, sizeof(line), f) != NULL)
		found = strstr(line, SOCKET_PATH_BELL_SUFFIX "\n") != NULL &&
			inode_of(line) == st.st_ino;
	if (f != NULL)
		fclose(f);
	return found;
}

/* Return the line that names the pending start or stop, or "". */
static const char *
pending_of(int fd)
{
	char rung = 0;

	if (pread(fd, &rung, 1, 0) != 1)
		return "";
	if (rung == BELL_START)
		return "pending=start\n";
	return rung == BELL_STOP ? "pending=stop\n" : "";
}

bool
bell_read(int fd, pid_t pid, uint64_t now_ms, char *answer, size_t cap)
{
	const uint64_t made_ms =
		read_u64(fd, offsetof(struct bell_file, made_ns)) / NS_PER_MS;
	const uint64_t passed =
		now_ms > made_ms ? (now_ms - made_ms) / 1000 : 0;
	const uint32_t nbytes =
		read_u32(fd, offsetof(struct bell_file, status_nbytes));
	const char *const pending = pending_of(fd);
	char status[BELL_FILE_NBYTES - STATUS_OFFSET + 1], exe[PATH_MAX];
	const char *seconds;
	int used;

	if (nbytes == 0 || nbytes >= sizeof(status) ||
	    pread(fd, status, nbytes, STATUS_OFFSET) != (ssize_t)nbytes)
		return false;
	status[nbytes] = '\0';
	seconds = strstr(status, "\nseconds=");
	/* Use only the first line of a name. */
	used = seconds == NULL
		       ? snprintf(answer, cap, "ok\n%s%s", pending, status)
		       : snprintf(answer, cap, "ok\n%sseconds=%llu\n%s",
				  pending,
				  strtoull(seconds + 9, NULL, 10) +
					  (unsigned long long)passed,
				  status);
	/* A process that has never recorded states no figures. */
	if (used > 0 && (size_t)used < cap &&
	    strstr(status, "\nexe=") == NULL && exe_read(pid, exe, sizeof(exe)))
		used += snprintf(answer + used, cap - (size_t)used, "exe=%s\n",
				 exe);
	return used > 0 && (size_t)used < cap;
}
