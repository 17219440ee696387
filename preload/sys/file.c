/* SPDX-License-Identifier: MIT */
/* file.c - see file.h */

#include "preload/sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "hatf/codec/comment_text.h"
#include "preload/sys/sys.h"

int
file_above_standard(int fd)
{
	int high, error;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	high = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	error = errno;
	syscall(SYS_close, fd);
	errno = error;
	return high;
}

struct file_id
file_id_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (struct file_id){ st.st_dev, st.st_ino }
				   : (struct file_id){ 0 };
}

bool
file_is_at(int folder, const char *name, const struct file_id *id)
{
	struct stat st;
	const int fd = (int)syscall(SYS_openat, folder, name,
				    O_PATH | O_NOFOLLOW | O_CLOEXEC);
	bool is_it;

	/*
	 * If the open failed because no descriptor is free, use fstatat()
	 * instead of fstat().
	 */
	if (fd < 0 && errno != EMFILE && errno != ENFILE)
		return false;
	is_it = (fd >= 0 ? fstat(fd, &st)
			 : fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW)) ==
			0 &&
		S_ISREG(st.st_mode) && st.st_dev == id->device &&
		st.st_ino == id->inode;
	if (fd >= 0)
		syscall(SYS_close, fd);
	return is_it;
}

int
file_reopen(const char *path, const struct file_id *id, int flags)
{
	/*
	 * First open the file with O_PATH.  If the file is a device, an open
	 * without O_PATH may have effects on the device.
	 */
	const int found = (int)syscall(SYS_openat, AT_FDCWD, path,
				       O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char link[64];
	struct stat st;
	struct text t;
	int fd = -1, error = ESTALE;

	if (found < 0)
		return -1;
	text_init(&t, link, sizeof(link) - 1);
	text_str(&t, "/proc/thread-self/fd/");
	text_u64(&t, (uint64_t)found);
	link[t.used] = '\0';
	if (fstat(found, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_dev == id->device && st.st_ino == id->inode) {
		fd = (int)syscall(SYS_openat, AT_FDCWD, link,
				  flags | O_CLOEXEC);
		error = errno;
	}
	syscall(SYS_close, found);
	errno = error;
	return fd;
}

int
file_open_folder(const char *path)
{
	const char *const slash = strrchr(path, '/');
	const size_t n = slash != NULL ? (size_t)(slash - path) + 1 : 0;
	char folder[PATH_MAX];

	if (n >= sizeof(folder)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(folder, path, n);
	folder[n] = '\0';
	return (int)syscall(SYS_openat, AT_FDCWD, n != 0 ? folder : ".",
			    O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void
file_unlink(int folder, const char *path, const struct file_id *id)
{
	const char *const slash = strrchr(path, '/');
	const char *const name = slash != NULL ? slash + 1 : path;
	const int own = folder < 0 ? file_open_folder(path) : -1;

	if (folder < 0)
		folder = own;
	if (folder >= 0 && file_is_at(folder, name, id))
		syscall(SYS_unlinkat, folder, name, 0);
	if (own >= 0)
		syscall(SYS_close, own);
}
