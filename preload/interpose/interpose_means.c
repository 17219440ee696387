/* SPDX-License-Identifier: MIT */
/*
 * interpose_means.c - libc's functions that lower limits or change mounts
 *
 * After a call of setrlimit(2), mount(2) and the like, the recorder might be
 * unable to begin a trace.  If the trace has not begun yet, the functions here
 * therefore begin it before such a call (means.h).
 */

#include <stdint.h>
#include <sys/resource.h>

#include "preload/interpose/jump.h"
#include "preload/interpose/means.h"
#include "preload/record/real.h"
#include "preload/sys/export.h"
#include "preload/sys/sys.h"

static void
prepare(uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
	real_resolve_others();
	means_watch(number, a, b, c);
}

static int
set_limit(int resource, const void *limit)
{
	prepare(SYS_setrlimit, (uint64_t)resource, (uintptr_t)limit, 0);
	return real.setrlimit(resource, limit);
}

EXPORT int
setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	return set_limit((int)resource, limit);
}

/* On 64-bit systems, struct rlimit64 has the same layout as struct rlimit. */
EXPORT int
setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
	return set_limit((int)resource, limit);
}

static int
set_limit_of(pid_t pid, int resource, const void *new, void *old)
{
	prepare(SYS_prlimit64, (uint64_t)pid, (uint64_t)resource,
		(uintptr_t) new);
	return real.prlimit(pid, resource, new, old);
}

EXPORT int
prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *new,
	struct rlimit *old)
{
	return set_limit_of(pid, (int)resource, new, old);
}

EXPORT int
prlimit64(pid_t pid, enum __rlimit_resource resource,
	  const struct rlimit64 *new, struct rlimit64 *old)
{
	return set_limit_of(pid, (int)resource, new, old);
}

/*
 * The functions that JUMP_AFTER() calls.  Each returns the address of the real
 * function.  The entry point jumps to that address with all argument registers
 * unchanged, because a library of the program may have its own functions of
 * these names, with other arguments.
 */
uintptr_t interpose_watch_mount(void);
uintptr_t interpose_watch_umount(void);
uintptr_t interpose_watch_umount2(void);
uintptr_t interpose_watch_pivot_root(void);

/* Return '*call', which is valid only after prepare(). */
static uintptr_t
watch(uint64_t number, void (*const *call)(void))
{
	prepare(number, 0, 0, 0);
	return (uintptr_t)*call;
}

uintptr_t
interpose_watch_mount(void)
{
	return watch(SYS_mount, &real.mount);
}

uintptr_t
interpose_watch_umount(void)
{
	return watch(SYS_umount2, &real.umount);
}

uintptr_t
interpose_watch_umount2(void)
{
	return watch(SYS_umount2, &real.umount2);
}

uintptr_t
interpose_watch_pivot_root(void)
{
	return watch(SYS_pivot_root, &real.pivot_root);
}

JUMP_AFTER("mount", "interpose_watch_mount");
JUMP_AFTER("umount", "interpose_watch_umount");
JUMP_AFTER("umount2", "interpose_watch_umount2");
JUMP_AFTER("pivot_root", "interpose_watch_pivot_root");
