/* SPDX-License-Identifier: MIT */
/*
 * privileges.c - give up privileges during work, and look at the writer thread
 *
 * usage: privileges HOW [DIRECTORY]
 *
 * Allocates, gives privileges up, and allocates more.  HOW is setuid, setgid,
 * setgroups, setresuid, seteuid, initgroups, setfsuid, setfsgid, capset,
 * no_new_privs, landlock, or
 *
 *   raw, rawfsuid   setresuid or setfsuid by syscall(3)
 *   chain           groups, group, user
 *   threads         setresuid while three other threads allocate
 *   filter, sync    a filter; one for all threads
 *   bare            one for all threads, by the system call instruction itself
 *   chroot          to DIRECTORY
 *   mount, pid, user, net, ipc, netpid, uts, cgroup
 *                   these namespaces
 *   setns           the network namespace of a child, by setns(2)
 *   joined          setresuid by syscall(3) after a thread has come and gone
 *   bounding        the capabilities that executed programs may get
 *   ambient         the capabilities that executed programs do get
 *   secure          the secure bits
 *   limits          of descriptors and locked memory
 *   prctl           setresuid under a filter that kills for prctl
 *
 * Then compares each thread of this process, by /proc/self/task/TID/status,
 * with the initial one: it must have no other user, group or root, no more
 * capabilities of any set, no fewer filters, no_new_privs if the initial one
 * has it, and the same limits and namespaces of network, IPC, UTS and cgroup.
 * Prints "within" or the difference, and a sum.  /proc is opened before.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

static int tasks; /* /proc/self/task */
static _Atomic int stop;

static unsigned long
work(unsigned n)
{
	void *blocks[64] = { NULL };
	unsigned long sum = 0;

	for (unsigned i = 0; i < n; i++) {
		void **const block = &blocks[i * 7 % 64];

		free(*block);
		*block = malloc(i % 500 + 1);
		sum += i % 500 + (*block != NULL);
	}
	for (unsigned i = 0; i < 64; i++)
		free(blocks[i]);
	return sum;
}

static void *
work_on(void *unused)
{
	while (!stop)
		work(1000);
	return unused;
}

static void *
work_once(void *unused)
{
	work(1000);
	return unused;
}

/* Become nobody, under a filter that kills for prctl(2). */
static int
without_prctl(void)
{
	struct sock_filter some[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = 4, .filter = some };

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return -1;
	return setresuid(NOBODY, NOBODY, NOBODY);
}

static int
filter(unsigned flags)
{
	struct sock_filter all[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = 1, .filter = all };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags,
			    &program);
}

static int
landlock(void)
{
	const struct landlock_ruleset_attr rules = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE,
	};
	const int fd = (int)syscall(SYS_landlock_create_ruleset, &rules,
				    sizeof(rules), 0);

	if (fd < 0)
		_exit(77);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return (int)syscall(SYS_landlock_restrict_self, fd, 0);
}

int capset(void *header, const void *data);

static int
give_up_capabilities(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	const struct __user_cap_data_struct none[2] = { { 0, 0, 0 },
							{ 0, 0, 0 } };

	return capset(&header, none);
}

static int
drop_bounding(void)
{
	for (unsigned long n = 0; prctl(PR_CAPBSET_READ, n, 0, 0, 0) >= 0; n++)
		if (prctl(PR_CAPBSET_DROP, n, 0, 0, 0) != 0)
			return -1;
	return 0;
}

/* Before the work, raise an ambient capability; later, lower it. */
static int
set_ambient(int on)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (!on)
		return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capget, &header, data) != 0)
		return -1;
	data[0].inheritable = data[0].permitted;
	if (syscall(SYS_capset, &header, data) != 0)
		return -1;
	return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0);
}

static int
set_limits(void)
{
	const struct rlimit few = { 20, 20 }, none = { 0, 0 };

	return setrlimit(RLIMIT_NOFILE, &few) != 0
		       ? -1
		       : setrlimit(RLIMIT_MEMLOCK, &none);
}

/* Install a filter as a run-time system without a libc would. */
static int
filter_barely(void)
{
	struct sock_filter all[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = 1, .filter = all };
	long result = -1;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
#if defined(__x86_64__)
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_seccomp), "D"(SECCOMP_SET_MODE_FILTER),
			   "S"(SECCOMP_FILTER_FLAG_TSYNC), "d"(&program)
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = SYS_seccomp;
	register long x0 __asm__("x0") = SECCOMP_SET_MODE_FILTER;
	register long x1 __asm__("x1") = SECCOMP_FILTER_FLAG_TSYNC;
	register const void *x2 __asm__("x2") = &program;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2)
			 : "memory");
	result = x0;
#endif
	return (int)result;
}

static int
chain(void)
{
	const gid_t group = NOBODY;

	return setgroups(1, &group) != 0 || setgid(NOBODY) != 0
		       ? -1
		       : setuid(NOBODY);
}

/* Enter the network namespace of a child that has made one. */
static int
join_network(void)
{
	int up[2], down[2], fd = -1, result;
	char path[64], byte;
	pid_t child;

	if (pipe2(up, O_CLOEXEC) != 0 || pipe2(down, O_CLOEXEC) != 0)
		return -1;
	child = fork();
	if (child == 0) {
		close(down[1]);
		if (unshare(CLONE_NEWNET) == 0 && write(up[1], "", 1) == 1 &&
		    read(down[0], &byte, 1) == 0)
			_exit(0);
		_exit(1);
	}
	close(up[1]);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)child);
	if (read(up[0], &byte, 1) == 1)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	result = setns(fd, CLONE_NEWNET);
	close(fd);
	close(up[0]);
	close(down[0]);
	close(down[1]);
	return waitpid(child, NULL, 0) == child ? result : -1;
}

static int
give_up(const char *how, const char *directory)
{
	static const gid_t groups[] = { 3, 5, NOBODY };

	if (strcmp(how, "setuid") == 0)
		return setuid(NOBODY);
	if (strcmp(how, "setgid") == 0)
		return setgid(NOBODY);
	if (strcmp(how, "setgroups") == 0)
		return setgroups(3, groups);
	if (strcmp(how, "setresuid") == 0 || strcmp(how, "threads") == 0)
		return setresuid(NOBODY, NOBODY, NOBODY);
	if (strcmp(how, "seteuid") == 0)
		return seteuid(NOBODY);
	if (strcmp(how, "initgroups") == 0)
		return initgroups("nobody", NOBODY);
	if (strcmp(how, "raw") == 0)
		return (int)syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY);
	if (strcmp(how, "chain") == 0)
		return chain();
	if (strcmp(how, "capset") == 0)
		return give_up_capabilities();
	if (strcmp(how, "no_new_privs") == 0)
		return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (strcmp(how, "filter") == 0)
		return filter(0);
	if (strcmp(how, "prctl") == 0)
		return without_prctl();
	if (strcmp(how, "sync") == 0)
		return filter(SECCOMP_FILTER_FLAG_TSYNC);
	if (strcmp(how, "landlock") == 0)
		return landlock();
	if (strcmp(how, "mount") == 0)
		return unshare(CLONE_NEWNS);
	if (strcmp(how, "pid") == 0)
		return unshare(CLONE_NEWPID);
	if (strcmp(how, "net") == 0)
		return unshare(CLONE_NEWNET);
	if (strcmp(how, "ipc") == 0)
		return unshare(CLONE_NEWIPC | CLONE_NEWNS);
	if (strcmp(how, "netpid") == 0)
		return unshare(CLONE_NEWNET | CLONE_NEWPID);
	if (strcmp(how, "uts") == 0)
		return unshare(CLONE_NEWUTS);
	if (strcmp(how, "cgroup") == 0)
		return unshare(CLONE_NEWCGROUP);
	if (strcmp(how, "setns") == 0)
		return join_network();
	if (strcmp(how, "user") == 0) {
		errno = 0;
		return unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0 || errno != 0
			       ? -1
			       : 0;
	}
	if (strcmp(how, "joined") == 0)
		return (int)syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY);
	if (strcmp(how, "setfsuid") == 0)
		return setfsuid(NOBODY) != 0;
	if (strcmp(how, "setfsgid") == 0)
		return setfsgid(NOBODY) != 0;
	if (strcmp(how, "rawfsuid") == 0)
		return syscall(SYS_setfsuid, NOBODY) != 0;
	if (strcmp(how, "bounding") == 0)
		return drop_bounding();
	if (strcmp(how, "ambient") == 0)
		return set_ambient(0);
	if (strcmp(how, "secure") == 0)
		return prctl(PR_SET_SECUREBITS, SECBIT_NOROOT, 0, 0, 0);
	if (strcmp(how, "limits") == 0)
		return set_limits();
	if (strcmp(how, "bare") == 0)
		return filter_barely();
	if (strcmp(how, "chroot") == 0)
		return chroot(directory);
	errno = EINVAL;
	return -1;
}

/* Read a file of the thread. */
static void
read_file(const char *tid, const char *name, char *buf, size_t cap)
{
	char path[300];
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", tid, name);
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		n = read(fd, buf, cap - 1);
	buf[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

/* Return the rest of the line after 'key'. */
static const char *
get(const char *status, const char *key, char *buf, size_t cap)
{
	const char *const at = strstr(status, key);

	snprintf(buf, cap, "%.*s",
		 at == NULL ? 0 : (int)strcspn(at + strlen(key), "\n"),
		 at == NULL ? "" : at + strlen(key));
	return buf;
}

static int
differs(const char *a, const char *b, const char *key)
{
	char one[4096], other[4096];

	return strcmp(get(a, key, one, sizeof(one)),
		      get(b, key, other, sizeof(other))) != 0;
}

static unsigned long long
number(const char *status, const char *key, int base)
{
	char buf[4096];

	return strtoull(get(status, key, buf, sizeof(buf)), NULL, base);
}

static int
has_other_root(const char *tid, const char *main_tid)
{
	struct stat own, main_own;
	char path[300], main_path[300];

	snprintf(path, sizeof(path), "%s/root", tid);
	snprintf(main_path, sizeof(main_path), "%s/root", main_tid);
	if (fstatat(tasks, path, &own, 0) != 0 ||
	    fstatat(tasks, main_path, &main_own, 0) != 0)
		return 0; /* not permitted to look */
	return own.st_ino != main_own.st_ino || own.st_dev != main_own.st_dev;
}

/* Return a set of capabilities that is not within the other's. */
static const char *
find_set(const char *status, const char *main_status)
{
	static const char *const sets[] = {
		"\nCapPrm:", "\nCapEff:", "\nCapInh:", "\nCapBnd:", "\nCapAmb:"
	};

	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		if ((number(status, sets[i], 16) &
		     ~number(main_status, sets[i], 16)) != 0)
			return sets[i] + 1;
	return NULL;
}

static int
has_other_limits(const char *tid, const char *main_tid)
{
	char limits[8192], main_limits[8192];

	read_file(tid, "limits", limits, sizeof(limits));
	read_file(main_tid, "limits", main_limits, sizeof(main_limits));
	return strcmp(limits, main_limits) != 0;
}

static int
has_other_space(const char *tid, const char *main_tid, const char *which)
{
	char path[64], own[64] = "", main_own[64] = "";

	snprintf(path, sizeof(path), "%s/ns/%s", tid, which);
	if (readlinkat(tasks, path, own, sizeof(own) - 1) < 0)
		return 0;
	snprintf(path, sizeof(path), "%s/ns/%s", main_tid, which);
	return readlinkat(tasks, path, main_own, sizeof(main_own) - 1) > 0 &&
	       strcmp(own, main_own) != 0;
}

/* Print what thread 'tid' has and the initial one has not. */
static int
compare(const char *tid, const char *main_tid)
{
	char status[8192], main_status[8192], name[64];
	const char *wrong = NULL;

	read_file(tid, "status", status, sizeof(status));
	read_file(main_tid, "status", main_status, sizeof(main_status));
	if (status[0] == '\0')
		return 0;
	if (differs(status, main_status, "\nUid:"))
		wrong = "user";
	else if (differs(status, main_status, "\nGid:"))
		wrong = "group";
	else if (differs(status, main_status, "\nGroups:"))
		wrong = "groups";
	else if (find_set(status, main_status) != NULL)
		wrong = find_set(status, main_status);
	else if (number(status, "\nNoNewPrivs:", 10) <
		 number(main_status, "\nNoNewPrivs:", 10))
		wrong = "no_new_privs";
	else if (number(status, "\nSeccomp_filters:", 10) <
		 number(main_status, "\nSeccomp_filters:", 10))
		wrong = "filters";
	else if (has_other_root(tid, main_tid))
		wrong = "root";
	else if (has_other_space(tid, main_tid, "net"))
		wrong = "network";
	else if (has_other_space(tid, main_tid, "ipc"))
		wrong = "ipc";
	else if (has_other_space(tid, main_tid, "uts"))
		wrong = "uts";
	else if (has_other_space(tid, main_tid, "cgroup"))
		wrong = "cgroup";
	else if (has_other_limits(tid, main_tid))
		wrong = "limits";
	if (wrong != NULL)
		printf("%s of thread%s\n", wrong,
		       get(status, "Name:", name, sizeof(name)));
	return wrong != NULL;
}

static int
compare_all(void)
{
	const int fd = openat(tasks, ".", O_RDONLY | O_DIRECTORY);
	DIR *const d = fdopendir(fd);
	char main_tid[32];
	const struct dirent *entry;
	int wrong = 0;

	snprintf(main_tid, sizeof(main_tid), "%ld", (long)getpid());
	while (d != NULL && (entry = readdir(d)) != NULL)
		if (entry->d_name[0] != '.')
			wrong += compare(entry->d_name, main_tid);
	if (d != NULL)
		closedir(d);
	return d == NULL || wrong;
}

int
main(int argc, char **argv)
{
	const char *const how = argc > 1 ? argv[1] : "";
	pthread_t threads[3];
	unsigned n = strcmp(how, "threads") == 0 ? 3 : 0;
	unsigned long sum;

	tasks = open("/proc/self/task", O_PATH | O_DIRECTORY);
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, work_on, NULL) != 0)
			return 2;
	if (strcmp(how, "joined") == 0 &&
	    (pthread_create(&threads[0], NULL, work_once, NULL) != 0 ||
	     pthread_join(threads[0], NULL) != 0))
		return 2;
	if (strcmp(how, "ambient") == 0 && set_ambient(1) != 0)
		return 2;
	sum = work(strcmp(how, "pid") == 0 ? 100 : 50000);
	if (give_up(how, argc > 2 ? argv[2] : "/") != 0) {
		perror(how);
		return 2;
	}
	if (compare_all() == 0)
		puts("within");
	sum += work(50000);
	stop = 1;
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("%lu\n", sum);
	return 0;
}
