/* SPDX-License-Identifier: MIT */
/* output_file.c - see output_file.h */
#include "tools/ui/output_file.h"

#include "tools/ui/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Write all bytes.  Return 0 or an errno value. */
static int
write_all(int fd, const char *bytes, size_t nbytes)
{
	while (nbytes > 0) {
		const ssize_t n = write(fd, bytes, nbytes);

		if (n >= 0) {
			bytes += n;
			nbytes -= (size_t)n;
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

/*
 * Create a temporary file beside 'path', with the owner and mode of the open
 * file 'old'.  The temporary file will replace 'old'.  Return -1 if 'old' can
 * only be written in place: it is not a regular file, it has several hard
 * links, or the user may not create a file in its folder or give a file to its
 * owner.  The caller frees '*name_ret'.
 */
static int
open_beside(const char *path, int old, char **name_ret)
{
	char *const target = realpath(path, NULL);
	struct stat st;
	int fd = -1;

	*name_ret = NULL;
	if (target == NULL || fstat(old, &st) != 0 || !S_ISREG(st.st_mode) ||
	    st.st_nlink != 1 || asprintf(name_ret, "%s.XXXXXX", target) < 0) {
		free(target);
		return -1;
	}
	free(target);
	fd = mkostemp(*name_ret, O_CLOEXEC);
	if (fd < 0 || (fchown(fd, st.st_uid, st.st_gid) == 0 &&
		       fchmod(fd, st.st_mode & 07777) == 0))
		return fd;
	close(fd);
	unlink(*name_ret);
	return -1;
}

/*
 * Write the bytes to the temporary file 'name', and rename it to 'path'.
 * Return 0 or an errno value.
 */
static int
replace(const char *path, int fd, const char *name, const char *bytes,
	size_t nbytes)
{
	char *const target = realpath(path, NULL);
	int sys_errno = target == NULL ? errno : write_all(fd, bytes, nbytes);

	if (close(fd) != 0 && sys_errno == 0)
		sys_errno = errno;
	if (sys_errno == 0 && rename(name, target) != 0)
		sys_errno = errno;
	if (sys_errno != 0)
		unlink(name);
	free(target);
	return sys_errno;
}

/* Write to an open file.  Return 0 or an errno value. */
static int
write_in_place(int fd, const char *bytes, size_t nbytes)
{
	/* EINVAL: a pipe or device has no length to change. */
	if (ftruncate(fd, 0) != 0 && errno != EINVAL)
		return errno;
	return write_all(fd, bytes, nbytes);
}

/*
 * Open 'path' for writing.  Create the file if it does not exist, and do not
 * change the content of an existing file.  Set '*is_new_ret' to whether 'path'
 * did not exist.  Return -1 and set errno on failure.
 */
static int
open_target(const char *path, bool *is_new_ret)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	*is_new_ret = fd >= 0;
	/* Keep O_CREAT, because 'path' may be a link to a missing file. */
	if (fd < 0 && errno == EEXIST)
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return fd;
}

/*
 * Write the bytes to the file 'path'.  Return 0 or an errno value.  On failure,
 * leave no new file behind.
 */
static int
write_file(const char *path, const char *bytes, size_t nbytes)
{
	bool is_new;
	/*
	 * Open the file even if a temporary file then takes its place, because
	 * opening tests whether the user may write the file.
	 */
	const int fd = open_target(path, &is_new);
	int sys_errno, beside;
	char *name;

	if (fd < 0)
		return errno;
	beside = open_beside(path, fd, &name);
	sys_errno = beside >= 0 ? replace(path, beside, name, bytes, nbytes)
				: write_in_place(fd, bytes, nbytes);
	if (close(fd) != 0 && sys_errno == 0)
		sys_errno = errno;
	if (sys_errno != 0 && is_new)
		unlink(path);
	free(name);
	return sys_errno;
}

bool
output_file_write(const char *path, const char *bytes, size_t nbytes)
{
	const bool is_stdout = strcmp(path, "-") == 0;
	const int sys_errno = is_stdout
				      ? write_all(STDOUT_FILENO, bytes, nbytes)
				      : write_file(path, bytes, nbytes);

	if (sys_errno != 0)
		message_print("%s: %s", is_stdout ? "standard output" : path,
			      strerror(sys_errno));
	return sys_errno == 0;
}

/*
 * Get the status of a file or, if the path is "-", of the descriptor
 * 'standard'.  Return false on failure.
 */
static bool
find_file(const char *path, int standard, struct stat *st_ret)
{
	return (strcmp(path, "-") == 0 ? fstat(standard, st_ret)
				       : stat(path, st_ret)) == 0;
}

bool
output_file_overwrites(const char *out, const char *in)
{
	struct stat x, y;

	return find_file(out, STDOUT_FILENO, &x) &&
	       find_file(in, STDIN_FILENO, &y) && S_ISREG(y.st_mode) &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool
output_file_refused(const char *out, const char *in)
{
	if (out == NULL || !output_file_overwrites(out, in))
		return false;
	message_print("%s: input and output are the same file",
		      strcmp(out, "-") == 0 ? "standard output" : out);
	return true;
}

/*
 * Get the status of the directory of 'path', and the last part of 'path', which
 * is the name in that directory.
 */
static bool
find_directory(const char *path, struct stat *st_ret, const char **name_ret)
{
	const char *const slash = strrchr(path, '/');
	char *const directory =
		slash != NULL ? strndup(path, (size_t)(slash + 1 - path))
			      : strdup(".");
	const bool is_found = directory != NULL && stat(directory, st_ret) == 0;

	*name_ret = slash != NULL ? slash + 1 : path;
	free(directory);
	return is_found;
}

bool
output_file_is_same(const char *a, const char *b)
{
	struct stat x, y;
	const char *x_name = "", *y_name = "";
	const bool a_exists = stat(a, &x) == 0, b_exists = stat(b, &y) == 0;

	if (a_exists != b_exists)
		return false;
	if (!a_exists && (!find_directory(a, &x, &x_name) ||
			  !find_directory(b, &y, &y_name)))
		return false;
	return x.st_dev == y.st_dev && x.st_ino == y.st_ino &&
	       strcmp(x_name, y_name) == 0;
}
