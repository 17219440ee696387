/* SPDX-License-Identifier: MIT */
/*
 * interpose_look.c - the program counts its threads
 *
 * A program that must be single-threaded checks /proc/self/task before it
 * continues: Chromium's zygote by fstatat64(3), most others by opendir(3).  The
 * writer thread ends before such a check; a later event makes a new writer
 * thread.
 *
 * We do not interpose open(2), stat(2) and the like.  libc itself does not read
 * the path that the program passes, so the program may pass an invalid address.
 * If our function read such a path, the program would crash.  In fstatat64(3)
 * we take this risk, but only if the call passes a descriptor instead of
 * AT_FDCWD.  We do not intercept reads of /proc/self/stat and /proc/self/status
 * either: such reads are frequent and seldom serve to count threads.
 */

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "preload/record/real.h"
#include "preload/record/wake.h"
#include "preload/state/process_state.h"
#include "preload/sys/export.h"
#include "preload/sys/sys.h"
#include "preload/writer/remaining_threads.h"
#include "preload/writer/writer.h"

#define PROC "/proc/"
#define SELF "self/"

/*
 * If 'p' begins with the id of this process and a slash, return what follows
 * the slash.  Otherwise return 'p'.
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
 * Is 'path' the folder of this process's threads?  If 'from_root' is set, the
 * path is absolute; otherwise it is relative to a folder that may be /proc.
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

/* If the program has one thread only, ask the writer thread to end. */
static void
end_writer(void)
{
	int saved_errno;
	uint64_t mask;

	/*
	 * Make these checks before the first use of errno, because errno is in
	 * thread-local memory, which may not exist yet (real_resolve_others()
	 * says why).  The checks read no thread-local memory.
	 */
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
		end_writer();
	return real.opendir(path);
}

/* Check a path that is relative to an open folder, which may be /proc. */
static void
check_relative(int fd, const char *path)
{
	real_resolve_others();
	if (fd >= 0 && path != NULL &&
	    (path[0] == 's' || (path[0] >= '1' && path[0] <= '9')) &&
	    is_folder_of_threads(path, false))
		end_writer();
}

EXPORT int
fstatat64(int fd, const char *path, struct stat64 *st, int flags)
{
	check_relative(fd, path);
	if (real.fstatat64 == NULL)
		return (int)syscall(SYS_newfstatat, fd, path, st, flags);
	return real.fstatat64(fd, path, st, flags);
}
