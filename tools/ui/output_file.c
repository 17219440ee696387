/* SPDX-License-Identifier: MIT */
/* output_file.c - see output_file.h */
#include "tools/ui/output_file.h"

#include "tools/ui/message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Return 0 or an errno value. */
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

bool
output_file_write(const char *path, const char *bytes, size_t nbytes)
{
	const bool is_stdout = strcmp(path, "-") == 0;
	const int fd =
		is_stdout ? STDOUT_FILENO
			  : open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int sys_errno = fd < 0 ? errno : 0;

	/* A pipe or device has no length. */
	if (sys_errno == 0 && !is_stdout && ftruncate(fd, 0) != 0 &&
	    errno != EINVAL)
		sys_errno = errno;
	if (sys_errno == 0)
		sys_errno = write_all(fd, bytes, nbytes);
	if (fd >= 0 && !is_stdout && close(fd) != 0 && sys_errno == 0)
		sys_errno = errno;
	if (sys_errno != 0)
		message_print("%s: %s", is_stdout ? "standard output" : path,
			      strerror(sys_errno));
	return sys_errno == 0;
}
