/* SPDX-License-Identifier: MIT */
/*
 * interpose_privileges.c - the calls by which a program gives up privileges
 *
 * Those of setuid(2) and its kin, capset(2) and chroot(2), as libc has them:
 * for the whole process, but for capset.  The writer thread follows
 * (privileges.h).
 */

#include <grp.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/types.h>
#include <unistd.h>

#include "preload/process/confinement.h"
#include "preload/record/real.h"
#include "preload/sys/export.h"
#include "preload/writer/remaining_threads.h"
#include "preload/writer/writer.h"

/* The writer follows a call that has returned 'result', which is handed on. */
static int
follow(int result)
{
	if (result == 0)
		confinement_after_privileges();
	return result;
}

static void
prepare(void)
{
	real_resolve_others();
	writer_make_early();
}

EXPORT int
setuid(uid_t uid)
{
	prepare();
	return follow(real.setuid(uid));
}

EXPORT int
setgid(gid_t gid)
{
	prepare();
	return follow(real.setgid(gid));
}

EXPORT int
seteuid(uid_t uid)
{
	prepare();
	return follow(real.seteuid(uid));
}

EXPORT int
setegid(gid_t gid)
{
	prepare();
	return follow(real.setegid(gid));
}

EXPORT int
setreuid(uid_t ruid, uid_t euid)
{
	prepare();
	return follow(real.setreuid(ruid, euid));
}

EXPORT int
setregid(gid_t rgid, gid_t egid)
{
	prepare();
	return follow(real.setregid(rgid, egid));
}

EXPORT int
setresuid(uid_t ruid, uid_t euid, uid_t suid)
{
	prepare();
	return follow(real.setresuid(ruid, euid, suid));
}

EXPORT int
setresgid(gid_t rgid, gid_t egid, gid_t sgid)
{
	prepare();
	return follow(real.setresgid(rgid, egid, sgid));
}

EXPORT int
setgroups(size_t count, const gid_t *groups)
{
	prepare();
	return follow(real.setgroups(count, groups));
}

EXPORT int
initgroups(const char *user, gid_t group)
{
	prepare();
	return follow(real.initgroups(user, group));
}

/* Of the calling thread, both, and both return what was before. */
EXPORT int
setfsuid(uid_t uid)
{
	int before;

	prepare();
	before = real.setfsuid(uid);
	if (remaining_threads_single())
		confinement_after_privileges();
	return before;
}

EXPORT int
setfsgid(gid_t gid)
{
	int before;

	prepare();
	before = real.setfsgid(gid);
	if (remaining_threads_single())
		confinement_after_privileges();
	return before;
}

/* Declared by no header but libcap's. */
EXPORT int capset(void *header, const void *data);

/* Of the calling thread; where there are others, they may have more. */
EXPORT int
capset(void *header, const void *data)
{
	int result;

	prepare();
	result = real.capset(header, data);
	return remaining_threads_single() ? follow(result) : result;
}

EXPORT int
chroot(const char *path)
{
	int result;

	prepare();
	result = real.chroot(path);
	if (result == 0)
		confinement_after_chroot();
	return result;
}
