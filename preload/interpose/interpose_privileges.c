/* SPDX-License-Identifier: MIT */
/*
 * interpose_privileges.c - libc's functions that give up privileges
 *
 * These are setuid(2) and the like, capset(2) and chroot(2). libc's functions
 * change the whole process, except for setfsuid, setfsgid and capset, which
 * change only the calling thread.  Before the call we make the writer thread if
 * there is none, unless the process is dormant.  After the call the writer
 * makes the same change (privileges.h).
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

/*
 * If the call has succeeded, make the writer change its privileges in the same
 * way.  Return 'result'.
 */
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

/*
 * setfsuid(2) and setfsgid(2) change only the calling thread, so the writer
 * makes the same change only if the program has no other threads.  The result
 * does not show whether the call has succeeded, since it is always the previous
 * id.  The writer therefore adopts the caller's present ids in any case.
 */
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

/* Only libcap's header declares capset(). */
EXPORT int capset(void *header, const void *data);

/*
 * capset(2) changes only the calling thread.  If the program has other threads,
 * those may keep more capabilities, so the writer does not make the change.
 */
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
