/* SPDX-License-Identifier: MIT */
/* output.c - see output.h */

#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "say.h"
#include "sys.h"
#include "text.h"

#define TRIES_MAX 100000u

/* Descriptors below this are for the program, while there are so many. */
#define FD_FLOOR 1000

/* Fill in the template; false if the name is too long. */
static bool
expand(struct text *t, const char *template, const struct output_names *names,
       uint64_t number, bool *numbered_ret)
{
	*numbered_ret = false;
	for (const char *p = template; *p != '\0'; p++) {
		if (*p != '%') {
			text_bytes(t, p, 1);
			continue;
		}
		switch (*++p) {
		case 'p':
			text_u64(t, names->pid);
			break;
		case 'e':
			text_str(t, names->exe);
			break;
		case 'h':
			text_str(t, names->host);
			break;
		case 'n':
			text_u64(t, number);
			*numbered_ret = true;
			break;
		default:
			text_bytes(t, p, 1);
		}
	}
	return !t->full;
}

/* The absolute name of the try with this number; false if it is too long. */
static bool
build_path(struct output *o, const char *template,
	   const struct output_names *names, uint64_t number)
{
	struct text t;
	bool numbered;

	text_init(&t, o->path, sizeof(o->path) - 1);
	if (template[0] != '/') {
		const long n = syscall(SYS_getcwd, o->path, PATH_MAX);

		/* Without a working directory a relative name may do. */
		if (n > 0 && o->path[0] == '/') {
			t.used = (size_t)n - 1;
			if (t.used > 1)
				text_str(&t, "/");
		}
	}
	if (!expand(&t, template, names, number, &numbered))
		return false;
	if (!numbered && number > 0) {
		text_str(&t, ".");
		text_u64(&t, number);
	}
	o->path[t.used] = '\0';
	return !t.full;
}

/* Out of the way of a program that counts on getting the lowest number. */
static int
move_high(int fd)
{
	struct rlimit limit;
	int floor = FD_FLOOR;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= FD_FLOOR)
		floor = (int)(limit.rlim_cur / 2);
	const int high = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, floor);

	if (high < 0)
		return fd;
	syscall(SYS_close, fd);
	return high;
}

static bool
is_regular(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool
output_open(struct output *o, const char *template,
	    const struct output_names *names)
{
	int fd = -1;

	for (uint64_t number = 0; number < TRIES_MAX; number++) {
		if (!build_path(o, template, names, number)) {
			errno = ENAMETOOLONG;
			break;
		}
		fd = (int)syscall(SYS_openat, AT_FDCWD, o->path,
				  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC |
					  O_NOFOLLOW,
				  0600);
		if (fd >= 0 || errno != EEXIST)
			break;
		if (!is_regular(o->path)) {
			say("%s: is there and not a regular file; not tracing",
			    o->path);
			return false;
		}
	}
	if (fd < 0) {
		say("%s: %s; not tracing", o->path, say_errno(errno));
		return false;
	}
	o->fd = move_high(fd);
	o->nbytes = 0;
	return true;
}

int
output_write(struct output *o, const void *data, size_t nbytes)
{
	const char *next = data;
	size_t left = nbytes;
	int error = 0;

	while (left > 0) {
		const long n = syscall(SYS_write, o->fd, next, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			error = n < 0 ? errno : EIO;
			/* It is not for the program, see output.h. */
			if (error == EFBIG)
				sys_take_back_signal(SIGXFSZ);
			break;
		}
		next += n;
		left -= (size_t)n;
	}
	o->nbytes += nbytes - left;
	return error;
}

bool
output_is_removed(const struct output *o)
{
	struct stat st;

	return fstat(o->fd, &st) == 0 && st.st_nlink == 0;
}

void
output_discard(struct output *o)
{
	syscall(SYS_unlinkat, AT_FDCWD, o->path, 0);
	syscall(SYS_close, o->fd);
	o->fd = -1;
}
