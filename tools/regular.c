/* SPDX-License-Identifier: MIT */
/* regular.c - see regular.h */
#include "regular.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Other file systems of the kernel's have files that are always empty. */
static bool
is_of_kernel(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) != 0 || fs.f_type == PROC_SUPER_MAGIC ||
	       fs.f_type == SYSFS_MAGIC;
}

/* May the file be read?  0 or an errno. */
static int
judge(int fd, uid_t *owner_ret)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || is_of_kernel(fd))
		return EINVAL;
	*owner_ret = st.st_uid;
	return st.st_size == 0 ? ENODATA : 0;
}

int
regular_open(const char *path, uid_t *owner_ret)
{
	const int place_fd = open(path, O_PATH | O_CLOEXEC);
	char name[64];
	int fd = -1, e;

	if (place_fd < 0)
		return -1;
	e = judge(place_fd, owner_ret);
	if (e == 0) {
		/* The same file, whatever 'path' is by now. */
		snprintf(name, sizeof(name), "/proc/self/fd/%d", place_fd);
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		e = errno;
	}
	close(place_fd);
	errno = e;
	return fd;
}
