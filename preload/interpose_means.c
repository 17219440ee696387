/* SPDX-License-Identifier: MIT */
/*
 * interpose_means.c - the calls by which a program lowers limits and mounts
 *
 * setrlimit(2) and mount(2) and their kin, as libc has them.  The trace, if it has not
 * begun yet, does so before (means.h).
 */

#include <stdint.h>
#include <sys/resource.h>

#include "export.h"
#include "jump.h"
#include "means.h"
#include "real.h"
#include "sys.h"

static void
prepare(uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
	real_resolve_rest();
	means_watch(number, a, b, c);
}

EXPORT int
setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	prepare(SYS_setrlimit, (uint64_t)resource, (uintptr_t)limit, 0);
	return real.setrlimit((int)resource, limit);
}

/* The same where an offset has 64 bits. */
EXPORT int
setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
	prepare(SYS_setrlimit, (uint64_t)resource, (uintptr_t)limit, 0);
	return real.setrlimit((int)resource, limit);
}

EXPORT int
prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *new,
	struct rlimit *old)
{
	prepare(SYS_prlimit64, (uint64_t)pid, (uint64_t)resource,
		(uintptr_t) new);
	return real.prlimit(pid, (int)resource, new, old);
}

EXPORT int
prlimit64(pid_t pid, enum __rlimit_resource resource,
	  const struct rlimit64 *new, struct rlimit64 *old)
{
	prepare(SYS_prlimit64, (uint64_t)pid, (uint64_t)resource,
		(uintptr_t) new);
	return real.prlimit(pid, (int)resource, new, old);
}

/* Called below; they return where to go on.  A program's library may have functions
 * of these names that mean something else. */
uintptr_t means_watch_mount(void);
uintptr_t means_watch_umount(void);
uintptr_t means_watch_umount2(void);
uintptr_t means_watch_pivot_root(void);

uintptr_t
means_watch_mount(void)
{
	prepare(SYS_mount, 0, 0, 0);
	return (uintptr_t)real.mount;
}

uintptr_t
means_watch_umount(void)
{
	prepare(SYS_umount2, 0, 0, 0);
	return (uintptr_t)real.umount;
}

uintptr_t
means_watch_umount2(void)
{
	prepare(SYS_umount2, 0, 0, 0);
	return (uintptr_t)real.umount2;
}

uintptr_t
means_watch_pivot_root(void)
{
	prepare(SYS_pivot_root, 0, 0, 0);
	return (uintptr_t)real.pivot_root;
}

JUMP_AFTER("mount", "means_watch_mount");
JUMP_AFTER("umount", "means_watch_umount");
JUMP_AFTER("umount2", "means_watch_umount2");
JUMP_AFTER("pivot_root", "means_watch_pivot_root");
