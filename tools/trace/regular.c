/* SPDX-License-Identifier: MIT */
/* regular.c - see regular.h */
#include "tools/trace/regular.h"

#include "hatf/hatf.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Get the owner, and check that the file is not empty.  Return 0 or an errno
 * value.
 */
static int
judge(int fd, uid_t *owner_ret)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return errno;
	*owner_ret = st.st_uid;
	return st.st_size == 0 ? ENODATA : 0;
}

int
regular_open(const char *path, uid_t *owner_ret)
{
	struct hatf_error err;
	int fd, e;

	if (hatf_file_open_found(path, &fd, &err) != HATF_OK) {
		e = err.sys_errno;
		errno = e == ELOOP || e == EISDIR || e == ENOTSUP ? EINVAL : e;
		return -1;
	}
	e = judge(fd, owner_ret);
	if (e == 0)
		return fd;
	close(fd);
	errno = e;
	return -1;
}
