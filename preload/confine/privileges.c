/* SPDX-License-Identifier: MIT */
/* privileges.c - see privileges.h */

#include "preload/confine/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "hatf/codec/comment_text.h"
#include "preload/confine/sandbox.h"
#include "preload/sys/filter.h"
#include "preload/sys/sys.h"

#define CAPABILITY(n) ((uint64_t)1 << (n))

/*
 * The capabilities that the writer needs to change its user, groups and root
 * directory when the program changes its own.
 */
#define KEPT                                               \
	(CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_SETGID) | \
	 CAPABILITY(CAP_SYS_CHROOT))

static uint64_t
get_permitted(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	memset(data, 0, sizeof(data));
	if (syscall(SYS_capget, &header, data) != 0)
		return 0;
	return (uint64_t)data[1].permitted << 32 | data[0].permitted;
}

/*
 * Make 'set' the permitted capabilities, and clear the inheritable set.  If
 * 'effective' is true, make 'set' the effective capabilities, too; otherwise
 * make no capability effective.
 */
static void
set_capabilities(uint64_t set, bool effective)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	const uint32_t low = (uint32_t)set, high = (uint32_t)(set >> 32);
	const struct __user_cap_data_struct data[2] = {
		{ .effective = effective ? low : 0, .permitted = low },
		{ .effective = effective ? high : 0, .permitted = high },
	};

	syscall(SYS_capset, &header, data);
}

static bool
read_groups(struct privileges *p)
{
	void *memory;

	p->group_count = (int)syscall(SYS_getgroups, 0, NULL);
	if (p->group_count <= 0)
		return p->group_count == 0;
	p->groups_nbytes = (size_t)p->group_count * sizeof(*p->groups);
	memory = mmap(NULL, p->groups_nbytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	p->groups = memory;
	return syscall(SYS_getgroups, p->group_count, p->groups) ==
	       p->group_count;
}

bool
privileges_read(struct privileges *p)
{
	*p = (struct privileges){ .capabilities = get_permitted(),
				  .ruleset = -1 };
	/*
	 * An id of -1 changes nothing, so these calls only return the current
	 * id.
	 */
	p->fs_uid = (uid_t)syscall(SYS_setfsuid, -1);
	p->fs_gid = (gid_t)syscall(SYS_setfsgid, -1);
	return syscall(SYS_getresuid, &p->uid[0], &p->uid[1], &p->uid[2]) ==
		       0 &&
	       syscall(SYS_getresgid, &p->gid[0], &p->gid[1], &p->gid[2]) ==
		       0 &&
	       read_groups(p);
}

void
privileges_fini(struct privileges *p)
{
	if (p->groups != NULL)
		munmap(p->groups, p->groups_nbytes);
}

/*
 * Does the calling thread have the user and groups of '*p', and no capability
 * that '*p' lacks?
 */
static bool
is_within(const struct privileges *p)
{
	struct privileges own;
	const bool known = privileges_read(&own);
	const bool within =
		known && memcmp(own.uid, p->uid, sizeof(own.uid)) == 0 &&
		memcmp(own.gid, p->gid, sizeof(own.gid)) == 0 &&
		own.fs_uid == p->fs_uid && own.fs_gid == p->fs_gid &&
		(own.capabilities & ~p->capabilities) == 0 &&
		own.group_count == p->group_count &&
		(own.group_count == 0 ||
		 memcmp(own.groups, p->groups, own.groups_nbytes) == 0);

	privileges_fini(&own);
	return within;
}

/*
 * Adopt the root directory of thread 'tid', which may differ from the root
 * directory of the calling thread.
 */
static bool
change_root(pid_t tid)
{
	char path[64];
	struct text t;

	text_init(&t, path, sizeof(path) - 1);
	text_str(&t, "/proc/self/task/");
	text_u64(&t, (uint64_t)tid);
	text_str(&t, "/root");
	path[t.used] = '\0';
	/*
	 * The old working directory may be outside the new root, so change to
	 * "/".
	 */
	return syscall(SYS_chroot, path) == 0 && syscall(SYS_chdir, "/") == 0;
}

/*
 * The system calls that PRIVILEGES_MINIMAL_FILTER allows.  All other calls
 * fail, except for rt_sigaction(2), which ends the thread (END).
 */
static const struct allowed_call {
	uint32_t number;
	/*
	 * Deny the call if its argument with index 'argument' has a bit of
	 * 'forbidden'.
	 */
	uint32_t argument, forbidden;
} allowed_calls[] = {
	{ SYS_write, 0, 0 },
	{ SYS_read, 0, 0 },
	{ SYS_pread64, 0, 0 },
	{ SYS_close, 0, 0 },
	{ SYS_fstat, 0, 0 },
	{ SYS_fallocate, 0, 0 },
	{ SYS_ftruncate, 0, 0 },
	{ SYS_futex, 0, 0 },
	{ SYS_nanosleep, 0, 0 },
	{ SYS_sched_yield, 0, 0 },
	{ SYS_clock_gettime, 0, 0 },
	{ SYS_getrusage, 0, 0 },
	{ SYS_getpid, 0, 0 },
	{ SYS_gettid, 0, 0 },
	{ SYS_mmap, 2, PROT_EXEC },
	{ SYS_munmap, 0, 0 },
	{ SYS_madvise, 0, 0 },
	{ SYS_rt_sigprocmask, 0, 0 },
	{ SYS_rt_sigtimedwait, 0, 0 },
	/* allow only signal 0, which tests whether a thread exists */
	{ SYS_tgkill, 2, UINT32_MAX },
	/* allow only the reading of a limit */
	{ SYS_prlimit64, 2, UINT32_MAX },
	{ SYS_exit, 0, 0 },
};

#define ALLOWED_CALLS (sizeof(allowed_calls) / sizeof(*allowed_calls))

/* Only the address of this variable matters. */
static const char minimal_filter;
const void *const PRIVILEGES_MINIMAL_FILTER = &minimal_filter;

#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define DENY  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
/*
 * Kill the thread.  If it is the last thread, the process dies by SIGSYS (see
 * end_by_signal() in hidden_thread.c).
 */
#define END BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD)

/*
 * Write the minimal filter: five instructions for each allowed call, and seven
 * others.  Return the number of instructions.
 */
static unsigned
build_minimal_filter(struct sock_filter *f)
{
	const struct sock_filter start[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SANDBOX_ARCH, 1, 0),
		DENY,
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigaction, 0, 1),
		END,
	};
	unsigned n = sizeof(start) / sizeof(*start);

	memcpy(f, start, sizeof(start));
	for (size_t i = 0; i < ALLOWED_CALLS; i++) {
		const struct allowed_call *const c = &allowed_calls[i];
		const struct sock_filter check[] = {
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, c->number, 0, 4),
			BPF_STMT(
				BPF_LD | BPF_W | BPF_ABS,
				(uint32_t)(offsetof(struct seccomp_data, args) +
					   c->argument * sizeof(uint64_t))),
			BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, c->forbidden, 1,
				 0),
			ALLOW,
			DENY,
		};

		memcpy(&f[n], check, sizeof(check));
		n += sizeof(check) / sizeof(*check);
	}
	f[n++] = (struct sock_filter)DENY;
	return n;
}

static bool
add_minimal_filter(void)
{
	struct sock_filter filter[5 * ALLOWED_CALLS + 7];
	const struct sock_fprog program = {
		.len = (unsigned short)build_minimal_filter(filter),
		.filter = filter,
	};

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

/*
 * Install a filter on this thread.  'program' is PRIVILEGES_MINIMAL_FILTER, or
 * the address that the traced program passes to the kernel.  The address is
 * valid in this thread, too, since all threads share the memory.  If the kernel
 * refuses the program's filter for a reason that concerns only this thread,
 * install the minimal filter.  Return false if the minimal filter is needed but
 * cannot be installed.
 */
static bool
add_filter(const void *program)
{
	if (program == PRIVILEGES_MINIMAL_FILTER)
		return add_minimal_filter();
	/*
	 * After EINVAL or EFAULT, return true, since the kernel will refuse the
	 * traced program's call, too.
	 */
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program) == 0 ||
	       errno == EINVAL || errno == EFAULT || add_minimal_filter();
}

/*
 * Restrict this thread by the Landlock ruleset that the program has open as
 * 'fd'.  The writer thread has its own table of descriptors, so 'fd' must be
 * fetched from the program's table.
 */
static bool
add_ruleset(int fd)
{
	const int pid_fd = (int)syscall(SYS_pidfd_open, sys_pid(), 0);
	const int own = (int)syscall(SYS_pidfd_getfd, pid_fd, fd, 0);
	const bool done =
		own >= 0 && syscall(SYS_landlock_restrict_self, own, 0) == 0;

	syscall(SYS_close, own);
	syscall(SYS_close, pid_fd);
	return done;
}

static bool
take_on(const struct privileges *p)
{
	if ((p->root_tid != 0 && !change_root(p->root_tid)) ||
	    (p->ruleset >= 0 && !add_ruleset(p->ruleset)))
		return false;
	if (is_within(p))
		return true;
	/*
	 * Keep the permitted capabilities, which a change from root to another
	 * user would drop.
	 */
	prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	syscall(SYS_setgroups, p->group_count, p->groups);
	syscall(SYS_setresgid, p->gid[0], p->gid[1], p->gid[2]);
	syscall(SYS_setfsgid, p->fs_gid);
	syscall(SYS_setresuid, p->uid[0], p->uid[1], p->uid[2]);
	/*
	 * The change of the user may have cleared the effective capabilities.
	 */
	set_capabilities(get_permitted() & KEPT, true);
	syscall(SYS_setfsuid, p->fs_uid);
	prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
	set_capabilities(get_permitted() & p->capabilities & KEPT, false);
	return is_within(p);
}

bool
privileges_take_on(const struct privileges *p)
{
	bool done;

	if (p->filter != NULL)
		return add_filter(p->filter);
	set_capabilities(get_permitted() & KEPT, true);
	done = take_on(p);
	set_capabilities(get_permitted() & KEPT, false);
	return done;
}

bool
privileges_may_change_user(void)
{
	return (get_permitted() & CAPABILITY(CAP_SETUID)) != 0;
}

/*
 * Drop the bounding set and the special rights of root.  Both matter only to
 * programs that a thread executes, and the writer executes no program.  The
 * writer drops both here, so the writer has nothing to do when the program
 * drops them later.  The calls below fail if the thread lacks the capability
 * for them.  Under a filter, make no such call, since the filter might kill the
 * process for the call.
 */
static void
limit_inheritance(void)
{
	if (filter_is_installed())
		return;
	/* Stop at 64, since the kernel has at most 64 capabilities. */
	for (unsigned long n = 0;
	     n < 64 && prctl(PR_CAPBSET_DROP, n, 0, 0, 0) == 0; n++)
		;
	prctl(PR_SET_SECUREBITS,
	      SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |
		      SECBIT_NO_CAP_AMBIENT_RAISE |
		      SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
	      0, 0, 0);
}

void
privileges_limit(void)
{
	limit_inheritance();
	/* Clear the inheritable set, which also clears the ambient set. */
	set_capabilities(get_permitted() & KEPT, false);
	/*
	 * From now on, even a setuid program that this thread executed would
	 * gain no rights.
	 */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static void
set_effective(const struct privileges_saved *saved, uint64_t effective)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	for (unsigned i = 0; i < 2; i++)
		data[i] = (struct __user_cap_data_struct){
			.effective = (uint32_t)(effective >> 32 * i),
			.permitted = (uint32_t)(saved->permitted >> 32 * i),
			.inheritable = (uint32_t)(saved->inheritable >> 32 * i),
		};
	syscall(SYS_capset, &header, data);
}

void
privileges_lower(struct privileges_saved *before_ret)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	memset(data, 0, sizeof(data));
	syscall(SYS_capget, &header, data);
	*before_ret = (struct privileges_saved){
		(uint64_t)data[1].effective << 32 | data[0].effective,
		(uint64_t)data[1].permitted << 32 | data[0].permitted,
		(uint64_t)data[1].inheritable << 32 | data[0].inheritable,
	};
	if ((before_ret->effective & ~KEPT) != 0)
		set_effective(before_ret, before_ret->effective & KEPT);
}

void
privileges_restore(const struct privileges_saved *before)
{
	if ((before->effective & ~KEPT) != 0)
		set_effective(before, before->effective);
}
