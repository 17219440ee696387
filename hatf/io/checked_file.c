/* SPDX-License-Identifier: MIT */
/*
 * checked_file.c - see checked_file.h
 *
 * With O_PATH the kernel looks up a file without opening it: it calls no
 * driver, does not wait for the other end of a FIFO, and mounts nothing at the
 * last component of the path.  The functions then check the file and open it
 * through /proc/self/fd, so that nobody can replace it between check and open.
 */
#include "hatf/io/checked_file.h"

#include "hatf/io/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Maximum number of symbolic links to follow; the kernel has the same limit. */
#define LINKS_MAX 40

#define ANYBODY ((uid_t)-1)

/* Magic number of configfs, which <linux/magic.h> lacks. */
#define CONFIGFS_MAGIC 0x62656570

bool
checked_file_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static void
close_quietly(int fd)
{
	const int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
}

/*
 * Is the file in a pseudo file system, such as procfs?  Return true also if
 * fstatfs() fails.
 */
static bool
is_in_pseudo_fs(int fd)
{
	static const unsigned long magics[] = {
		PROC_SUPER_MAGIC,     SYSFS_MAGIC,	   DEBUGFS_MAGIC,
		TRACEFS_MAGIC,	      SECURITYFS_MAGIC,	   CONFIGFS_MAGIC,
		CGROUP_SUPER_MAGIC,   CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,
		EFIVARFS_MAGIC,	      PSTOREFS_MAGIC,	   SELINUX_MAGIC,
		SMACK_MAGIC,	      AUTOFS_SUPER_MAGIC,  BINFMTFS_MAGIC,
		RDTGROUP_SUPER_MAGIC, XENFS_SUPER_MAGIC,   NSFS_MAGIC,
	};
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return true;
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if ((unsigned long)fs.f_type == magics[i])
			return true;
	return false;
}

/* Is it safe to open the file of 'fd', an O_PATH descriptor? */
static bool
check(int fd, struct stat *st_ret)
{
	if (fstat(fd, st_ret) != 0)
		return false;
	if (S_ISREG(st_ret->st_mode) && !is_in_pseudo_fs(fd))
		return true;
	errno = S_ISLNK(st_ret->st_mode)   ? ELOOP
		: S_ISDIR(st_ret->st_mode) ? EISDIR
					   : ENOTSUP;
	return false;
}

/*
 * Open the file of 'path_fd'.  O_NONBLOCK prevents open() from waiting for a
 * process that has a lease on the file.
 */
static int
reopen(int path_fd, int access)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	return open(path, access | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/*
 * Open the file by name, for systems without /proc.  Fail if the name now
 * refers to another file.
 */
static int
open_again(int dir_fd, const char *name, int access, const struct stat *st)
{
	const int fd = openat(dir_fd, name,
			      access | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat now;

	if (fd < 0 || (fstat(fd, &now) == 0 && checked_file_is_same(st, &now)))
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

/*
 * Look up, check and open a file.  It must belong to 'owner', unless 'owner' is
 * ANYBODY.  'follow' is 0 (follow a link in the last component) or O_NOFOLLOW
 * (refuse such a link).
 */
static int
open_checked(int dir_fd, const char *name, int access, int follow, uid_t owner)
{
	const int path_fd = openat(dir_fd, name, O_PATH | O_CLOEXEC | follow);
	struct stat st;
	int fd = -1;

	if (path_fd < 0)
		return -1;
	if (!check(path_fd, &st)) {
		close_quietly(path_fd);
		return -1;
	}
	errno = EPERM;
	if (owner == ANYBODY || owner == st.st_uid) {
		fd = reopen(path_fd, access);
		if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
			fd = open_again(dir_fd, name, access | follow, &st);
	}
	close_quietly(path_fd);
	return fd;
}

int
checked_file_open_link(const char *path)
{
	return open_checked(AT_FDCWD, path, O_RDONLY, 0, ANYBODY);
}

int
checked_file_open_found(const char *path)
{
	return open_checked(AT_FDCWD, path, O_RDONLY, O_NOFOLLOW, ANYBODY);
}

int
checked_file_folder(const char *path)
{
	char folder[PATH_MAX];

	if (!paths_beside(path, ".", folder, sizeof(folder))) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/*
 * Open 'name' in the folder 'dir_fd', which belongs to 'f' from now on.  If
 * 'dir_fd' is -1, because the caller could not open the folder, return false
 * and keep errno.
 */
static bool
open_and_hold(struct checked_file *f, int dir_fd, const char *name, int access,
	      uid_t owner)
{
	const size_t n = strlen(name) + 1;

	*f = (struct checked_file){ .dir_fd = dir_fd, .fd = -1 };
	if (dir_fd < 0)
		return false;
	if (n > sizeof(f->name)) {
		errno = ENAMETOOLONG;
	} else {
		memcpy(f->name, name, n);
		f->fd = open_checked(dir_fd, name, access, O_NOFOLLOW, owner);
	}
	if (f->fd >= 0 && fstat(f->fd, &f->st) == 0)
		return true;
	checked_file_close(f);
	return false;
}

bool
checked_file_open(struct checked_file *f, const char *path, int access)
{
	return open_and_hold(f, checked_file_folder(path), paths_base(path),
			     access, ANYBODY);
}

bool
checked_file_open_in(struct checked_file *f, int dir_fd, const char *name,
		     int access)
{
	return open_and_hold(f, fcntl(dir_fd, F_DUPFD_CLOEXEC, 0), name, access,
			     ANYBODY);
}

/* ------------------------------------------------- a path from an open file */

/*
 * The state of a walk along a path: the folder reached, and the rest of the
 * path.
 */
struct walk {
	int fd;
	unsigned links;
	char rest[PATH_MAX];
};

/*
 * Remove the next component from the rest of the path and store it.  Return
 * false if there is none.
 */
static bool
take_component(struct walk *w, char component[PATH_MAX])
{
	const char *const start = w->rest + strspn(w->rest, "/");
	const size_t n = strcspn(start, "/");

	memcpy(component, start, n);
	component[n] = '\0';
	memmove(w->rest, start + n, strlen(start + n) + 1);
	return n != 0;
}

static void
move_to(struct walk *w, int fd)
{
	close_quietly(w->fd);
	w->fd = fd;
}

/*
 * Put the target of a link in front of the rest of the path.  If the target is
 * absolute, continue the walk at "/".
 */
static bool
follow_link(struct walk *w, int link)
{
	char target[PATH_MAX];
	const ssize_t n = readlinkat(link, "", target, sizeof(target));
	const size_t rest_nbytes = strlen(w->rest) + 1;

	if (n <= 0)
		return false;
	if (++w->links > LINKS_MAX || (size_t)n + rest_nbytes > PATH_MAX) {
		errno = ELOOP;
		return false;
	}
	memmove(w->rest + n, w->rest, rest_nbytes);
	memcpy(w->rest, target, (size_t)n);
	if (target[0] == '/')
		move_to(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
	return w->fd >= 0;
}

static bool
enter_component(struct walk *w, const char *component)
{
	const int next =
		openat(w->fd, component, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	bool is_ok;

	if (next < 0 || fstat(next, &st) != 0) {
		close_quietly(next);
		return false;
	}
	if (S_ISLNK(st.st_mode)) {
		is_ok = follow_link(w, next);
		close_quietly(next);
		return is_ok;
	}
	if (!S_ISDIR(st.st_mode) || is_in_pseudo_fs(next)) {
		errno = ENOTSUP;
		close_quietly(next);
		return false;
	}
	move_to(w, next);
	return true;
}

/*
 * Open the folder that contains the file at an absolute path.  Open one
 * component at a time with O_PATH, because an open() of the whole path would
 * trigger the automounts on the way.
 */
static int
walk_to_folder(const char *path)
{
	const size_t n = (size_t)(paths_base(path) - path);
	struct walk w = { .fd = -1 };
	char component[PATH_MAX];

	errno = ENOTSUP;
	if (path[0] != '/' || n >= sizeof(w.rest))
		return -1;
	memcpy(w.rest, path, n);
	w.fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	while (w.fd >= 0 && take_component(&w, component))
		if (!enter_component(&w, component))
			move_to(&w, -1);
	return w.fd;
}

bool
checked_file_open_untrusted(struct checked_file *f, const char *path,
			    int access, uid_t owner)
{
	return open_and_hold(f, walk_to_folder(path), paths_base(path), access,
			     owner);
}

/* -------------------------------------------------------- removing, closing */

bool
checked_file_remove(const struct checked_file *f)
{
	struct stat st;

	if (fstatat(f->dir_fd, f->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	if (!checked_file_is_same(&st, &f->st)) {
		errno = ESTALE;
		return false;
	}
	return unlinkat(f->dir_fd, f->name, 0) == 0;
}

void
checked_file_close(struct checked_file *f)
{
	close_quietly(f->fd);
	close_quietly(f->dir_fd);
	f->fd = f->dir_fd = -1;
}
