/* SPDX-License-Identifier: MIT */
/*
 * interpose_look.c - a program looks how many threads it has
 *
 * A program that must be the only thread looks into /proc/self/task before it
 * goes on:  Chromium's zygote by fstatat64(3), most others by opendir(3).  The
 * writer thread leaves before such a look, and comes back with later events.
 *
 * Not interposed: open(2), stat(2) and the like, since libc never reads their
 * paths, so reading a bad one here could crash the program; and reads of
 * /proc/self/stat and status, which are frequent and seldom look for threads.
 */

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "preload/record/process_state.h"
#include "preload/record/real.h"
#include "preload/record/wake.h"
#include "preload/sys/export.h"
#include "preload/sys/sys.h"
#include "preload/writer/remaining_threads.h"
#include "preload/writer/writer.h"

#define PROC "/proc/"
#define SELF "self/"

/*
 * Skip the number of this process at 'p' and its slash; 'p' if there is
 * none.
 */
static const char *
skip_pid(const char *p)
{
	const char *next = p;
	int n = 0;

	for (; *next >= '0' && *next <= '9' && n < 100000000; next++)
		n = n * 10 + (*next - '0');
	return *next == '/' && n != 0 && n == sys_pid() ? next + 1 : p;
}

/*
 * Is it the folder of the process's threads?  The path begins at "/" or
 * /proc.
 */
static bool
is_folder_of_threads(const char *path, bool from_root)
{
	const char *process = path;

	if (from_root && strncmp(path, PROC, sizeof(PROC) - 1) != 0)
		return false;
	if (from_root)
		process += sizeof(PROC) - 1;
	path = strncmp(process, SELF, sizeof(SELF) - 1) == 0
		       ? process + sizeof(SELF) - 1
		       : skip_pid(process);
	return path != process &&
	       (strcmp(path, "task") == 0 || strcmp(path, "task/") == 0);
}

static void
leave_alone(void)
{
	int saved_errno;
	uint64_t mask;

	/* First, and without errno: see real_resolve_others(). */
	if (!process_is_tracing() || !process_is_own() || !wake_has_writer() ||
	    !remaining_threads_single())
		return;
	saved_errno = errno;
	mask = sys_block_signals();
	writer_depart(false);
	sys_restore_signals(mask);
	errno = saved_errno;
}

EXPORT DIR *
opendir(const char *path)
{
	real_resolve_others();
	if (is_folder_of_threads(path, true))
		leave_alone();
	return real.opendir(path);
}

/* Only paths below an open folder, which may be /proc. */
static void
look_below(int fd, const char *path)
{
	real_resolve_others();
	if (fd >= 0 && path != NULL &&
	    (path[0] == 's' || (path[0] >= '1' && path[0] <= '9')) &&
	    is_folder_of_threads(path, false))
		leave_alone();
}

EXPORT int
fstatat64(int fd, const char *path, struct stat64 *st, int flags)
{
	look_below(fd, path);
	if (real.fstatat64 == NULL)
		return (int)syscall(SYS_newfstatat, fd, path, st, flags);
	return real.fstatat64(fd, path, st, flags);
}
