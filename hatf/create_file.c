/* SPDX-License-Identifier: MIT */
/*
 * create_file.c - files by name: one that is found, one for what comes from a
 * trace
 *
 * A trace holds command lines, file names and addresses, so what is made of it
 * is for its owner alone.  The mode of the input is not taken over: a pipe has
 * none, and whoever wants to share a file can say so with chmod.
 */
#include "hatf/create_file.h"
#include "hatf/hatf.h"
#include "hatf/io/checked_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWNER_ONLY (S_IRUSR | S_IWUSR)

/* Empty the file, which was there already, and close it to others. */
static bool
take_over(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	if (!S_ISREG(st.st_mode))
		return true;
	/* Whatever its mode, its owner would read it. */
	if (st.st_uid != geteuid()) {
		errno = EPERM;
		return false;
	}
	/*
	 * File systems without modes, such as FAT, refuse; they have no secrets
	 * to keep.
	 */
	if ((st.st_mode & 07777) != OWNER_ONLY && fchmod(fd, OWNER_ONLY) != 0 &&
	    errno != EPERM)
		return false;
	return ftruncate(fd, 0) == 0;
}

/* A descriptor, or -1 with errno. */
static int
create(const char *path)
{
	int fd =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, OWNER_ONLY);
	int saved_errno;

	if (fd >= 0 || errno != EEXIST)
		return fd;
	/* Also a device or a pipe; a link that leads nowhere makes a file. */
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, OWNER_ONLY);
	if (fd < 0 || take_over(fd))
		return fd;
	saved_errno = errno;
	close(fd);
	errno = saved_errno;
	return -1;
}

enum hatf_status
hatf_file_create(const char *path, int *fd_ret, struct hatf_error *err)
{
	*fd_ret = create(path);
	return *fd_ret < 0 ? file_fail(err) : HATF_OK;
}

enum hatf_status
hatf_file_open_found(const char *path, int *fd_ret, struct hatf_error *err)
{
	*fd_ret = checked_file_open_found(path);
	return *fd_ret < 0 ? file_fail(err) : HATF_OK;
}

enum hatf_status
file_fail(struct hatf_error *err)
{
	if (err != NULL)
		*err = (struct hatf_error){ .status = HATF_IO,
					    .sys_errno = errno };
	return HATF_IO;
}
