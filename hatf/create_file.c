/* SPDX-License-Identifier: MIT */
/*
 * create_file.c - create a file for data from a trace; open a file whose name
 * comes from a directory or from another file
 *
 * A trace contains command lines, file names and addresses, so a file with such
 * data must be readable only by the owner of the file.  Do not copy the mode of
 * the trace that the data comes from: that trace may be a pipe, and users can
 * share the new file by chmod.
 */
#include "hatf/create_file.h"
#include "hatf/hatf.h"
#include "hatf/io/checked_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWNER_ONLY (S_IRUSR | S_IWUSR)

/*
 * Truncate a regular file that existed before, and make it accessible only to
 * its owner.  Refuse a regular file of another user.  Leave any other file, for
 * example a device, as it is.
 */
static bool
take_over(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	if (!S_ISREG(st.st_mode))
		return true;
	/*
	 * Refuse a file of another user, because its owner can make it readable
	 * at any time.
	 */
	if (st.st_uid != geteuid()) {
		errno = EPERM;
		return false;
	}
	/*
	 * File systems without modes, such as FAT, refuse fchmod().  Such a
	 * file system gives no protection anyway, so continue.
	 */
	if ((st.st_mode & 07777) != OWNER_ONLY && fchmod(fd, OWNER_ONLY) != 0 &&
	    errno != EPERM)
		return false;
	return ftruncate(fd, 0) == 0;
}

/* Return a descriptor for writing, or -1 with errno set. */
static int
create(const char *path)
{
	int fd =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, OWNER_ONLY);
	int saved_errno;

	if (fd >= 0 || errno != EEXIST)
		return fd;
	/*
	 * The name exists, but may be a device, a pipe or a dangling link.  For
	 * a dangling link, this open() creates the target.
	 */
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
