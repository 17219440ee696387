/* SPDX-License-Identifier: MIT */
/* bell.c - see bell.h */
#include "tools/control/bell.h"

#include "tools/control/maps.h"
#include "tools/control/started.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int
bell_open(int place_fd, uid_t owner)
{
	struct stat st;
	const int fd =
		openat(place_fd, BELLS_NAME,
		       O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == owner &&
	    (st.st_mode & 07777) == 0600 && st.st_nlink == 1 &&
	    st.st_size == (off_t)sizeof(struct bells))
		return fd;
	close(fd);
	return -1;
}

struct bells_process
bell_find_process(pid_t pid, long number)
{
	struct bells_process p = { .number = (uint64_t)number };
	uint64_t start_ns;
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/ns/pid", (long)pid);
	if (stat(path, &st) == 0)
		p.namespace = st.st_ino;
	if (started_ns((uint64_t)pid, &start_ns))
		p.start_ticks = start_ns /
				(1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	return p;
}

static off_t
slot_offset(const struct bells_process *p)
{
	return (off_t)(bells_slot_of(p->number) * sizeof(uint64_t));
}

/*
 * Read and write the file instead of mapping it.  If another process shortened
 * a mapped file, SIGBUS would end 'hatf ctl'.
 */
bool
bell_ring(int fd, const struct bells_process *p, enum bell_call call)
{
	uint64_t order;

	if (pread(fd, &order, sizeof(order), slot_offset(p)) != sizeof(order))
		return false;
	order = bells_order(order, p, call);
	return pwrite(fd, &order, sizeof(order), slot_offset(p)) ==
	       sizeof(order);
}

enum bell_call
bell_pending(int fd, const struct bells_process *p, uint64_t seen)
{
	enum bell_call call;
	uint64_t order;

	if (pread(fd, &order, sizeof(order), slot_offset(p)) != sizeof(order) ||
	    order == seen || !bells_is_for(order, p) ||
	    !bells_is_since_start(order, p))
		return 0;
	call = bells_call_of(order);
	return call == BELL_START || call == BELL_STOP ? call : 0;
}

static bool
is_bells(const char *line, const void *inode)
{
	return maps_is_file(line, "/" BELLS_NAME,
			    *(const unsigned long long *)inode);
}

enum bell_listening
bell_is_mapped(int fd, pid_t pid)
{
	unsigned long long inode;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return BELL_NO;
	inode = st.st_ino;
	if (maps_find(pid, is_bells, &inode))
		return BELL_YES;
	return errno == EACCES || errno == EPERM ? BELL_UNKNOWN : BELL_NO;
}

static bool
is_named(const char *line, const void *unused)
{
	(void)unused;
	return strstr(line, "/" BELLS_NAME "\n") != NULL;
}

bool
bell_may_listen(pid_t pid)
{
	return maps_find(pid, is_named, NULL);
}
