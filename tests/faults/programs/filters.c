/* SPDX-License-Identifier: MIT */
/*
 * filters.c - filters on system calls, like those of common sandboxes
 *
 *   filters KIND exec COMMAND...   install the filter, then exec the command
 *   filters KIND self N            N rounds of work, install it, N rounds
 *   filters KIND threads N         the same, in one thread after the other
 *   filters KIND joined N          N rounds in one thread after the other,
 *                                  install it, N rounds in the first thread
 *   filters KIND again N           as 'threads', and install it twice
 *   filters KIND twice N           the same with 'no-figures' as the second
 *   filters KIND crowd N           install it, work in threads at the same time
 *
 * KIND is one of
 *   strict     SECCOMP_MODE_STRICT: read, write, exit
 *   privsep    only what a server's unprivileged half needs; other calls kill
 *   renderer   for all threads (TSYNC): files, sockets, processes trap
 *   service    clocks, debuggers, modules, mounts, swap and raw i/o kill
 *   container  the same, and namespaces are refused (EPERM)
 *   old        calls newer than Linux 5.1 do not exist (ENOSYS)
 *   no-exit    for all threads: no thread may end (EPERM)
 *   no-figures for all threads: asking for resource usage kills
 *   no-stat    for all threads: stat of a file name kills
 *   no-open    opening a file kills
 *   no-fstat   stat of an open file kills
 *   no-prctl   for all threads: prctl kills
 *   unseen     by no function of libc: calls that only the recorder's thread
 *              makes kill the calling thread
 *   unseen-all the same for all threads (TSYNC)
 *   no-pid     getpid kills
 *   pid-fails  getpid fails (EPERM)
 *   misdeed    getppid kills the thread, and the program calls it
 *   misdeed-open the same, and so does opening a file
 *   pretend    some calls do nothing and claim success
 *   nothing    everything but write and exit kills
 *   no-actions asking for or changing the action of a signal kills
 *   no-signals sending a signal to a thread kills
 *   unknown    as no-figures, with an action that no kernel knows, which kills
 *   ask        no filter, but calls by which libraries look for filters
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KILL  SECCOMP_RET_KILL_PROCESS
#define TRAP  SECCOMP_RET_TRAP
#define ALLOW SECCOMP_RET_ALLOW
/* The kernel treats an unknown action as KILL_PROCESS. */
#define UNKNOWN 0x12340000u
#define END	-1

struct kind {
	const char *name;
	uint32_t otherwise; /* action for unlisted calls */
	uint32_t listed;
	unsigned flags;
	int calls[64];
};

static const struct kind kinds[] = {
	{ "privsep",
	  KILL,
	  ALLOW,
	  0,
	  { SYS_brk,
	    SYS_clock_gettime,
	    SYS_close,
	    SYS_exit,
	    SYS_exit_group,
	    SYS_futex,
	    SYS_getpid,
	    SYS_gettid,
	    SYS_getrandom,
	    SYS_madvise,
	    SYS_mmap,
	    SYS_mprotect,
	    SYS_mremap,
	    SYS_munmap,
	    SYS_nanosleep,
	    SYS_clock_nanosleep,
	    SYS_poll,
	    SYS_ppoll,
	    SYS_read,
	    SYS_rt_sigprocmask,
	    SYS_rt_sigreturn,
	    SYS_shutdown,
	    SYS_write,
	    SYS_writev,
	    SYS_newfstatat,
	    SYS_fstat,
	    END } },
	{ "renderer",
	  ALLOW,
	  TRAP,
	  SECCOMP_FILTER_FLAG_TSYNC,
	  { SYS_open, SYS_openat, SYS_socket, SYS_connect, SYS_fork, SYS_vfork,
	    SYS_execve, SYS_execveat, SYS_unlink, SYS_unlinkat, SYS_ptrace,
	    SYS_mount, SYS_chroot, SYS_kill, END } },
	{ "service", ALLOW, KILL, 0, { SYS_settimeofday,
				       SYS_clock_settime,
				       SYS_adjtimex,
				       SYS_clock_adjtime,
				       SYS_ptrace,
				       SYS_perf_event_open,
				       SYS_pidfd_getfd,
				       SYS_lookup_dcookie,
				       SYS_init_module,
				       SYS_finit_module,
				       SYS_delete_module,
				       SYS_mount,
				       SYS_umount2,
				       SYS_pivot_root,
				       SYS_swapon,
				       SYS_swapoff,
				       SYS_iopl,
				       SYS_ioperm,
				       SYS_reboot,
				       SYS_kexec_load,
				       SYS_bpf,
				       SYS_userfaultfd,
				       SYS_keyctl,
				       SYS_add_key,
				       SYS_acct,
				       SYS_modify_ldt,
				       SYS_process_vm_readv,
				       END } },
	{ "container",
	  ALLOW,
	  SECCOMP_RET_ERRNO | EPERM,
	  0,
	  { SYS_settimeofday,
	    SYS_clock_settime,
	    SYS_ptrace,
	    SYS_perf_event_open,
	    SYS_pidfd_getfd,
	    SYS_pidfd_open,
	    SYS_init_module,
	    SYS_mount,
	    SYS_umount2,
	    SYS_pivot_root,
	    SYS_unshare,
	    SYS_setns,
	    SYS_bpf,
	    SYS_userfaultfd,
	    SYS_keyctl,
	    SYS_process_vm_readv,
	    SYS_process_vm_writev,
	    SYS_personality,
	    SYS_capset,
	    END } },
	{ "old",
	  ALLOW,
	  SECCOMP_RET_ERRNO | ENOSYS,
	  0,
	  { SYS_close_range, SYS_pidfd_open, SYS_pidfd_getfd, SYS_clone3,
	    SYS_openat2, SYS_faccessat2, SYS_statx, SYS_rseq, SYS_membarrier,
	    END } },
	{ "no-exit",
	  ALLOW,
	  SECCOMP_RET_ERRNO | EPERM,
	  SECCOMP_FILTER_FLAG_TSYNC,
	  { SYS_exit, END } },
	{ "no-figures",
	  ALLOW,
	  KILL,
	  SECCOMP_FILTER_FLAG_TSYNC,
	  { SYS_clock_gettime, SYS_getrusage, END } },
	{ "no-stat",
	  ALLOW,
	  KILL,
	  SECCOMP_FILTER_FLAG_TSYNC,
	  { SYS_newfstatat, END } },
	{ "no-open", ALLOW, KILL, 0, { SYS_openat, END } },
	{ "no-fstat", ALLOW, KILL, 0, { SYS_fstat, END } },
	{ "no-prctl",
	  ALLOW,
	  KILL,
	  SECCOMP_FILTER_FLAG_TSYNC,
	  { SYS_prctl, END } },
	{ "unseen",
	  ALLOW,
	  SECCOMP_RET_KILL_THREAD,
	  0,
	  { SYS_close_range, SYS_openat, SYS_fallocate, SYS_ppoll, SYS_read,
	    END } },
	{ "unseen-all",
	  ALLOW,
	  SECCOMP_RET_KILL_THREAD,
	  SECCOMP_FILTER_FLAG_TSYNC,
	  { SYS_close_range, SYS_openat, SYS_fallocate, SYS_ppoll, SYS_read,
	    END } },
	{ "no-pid", ALLOW, KILL, 0, { SYS_getpid, END } },
	{ "pid-fails",
	  ALLOW,
	  SECCOMP_RET_ERRNO | EPERM,
	  0,
	  { SYS_getpid, END } },
	{ "misdeed", ALLOW, SECCOMP_RET_KILL_THREAD, 0, { SYS_getppid, END } },
	{ "misdeed-open",
	  ALLOW,
	  SECCOMP_RET_KILL_THREAD,
	  0,
	  { SYS_getppid, SYS_openat, END } },
	{ "pretend",
	  ALLOW,
	  SECCOMP_RET_ERRNO,
	  0,
	  { SYS_prctl, SYS_fallocate, END } },
	{ "nothing", KILL, ALLOW, 0, { SYS_write, SYS_exit_group, END } },
	{ "no-actions", ALLOW, KILL, 0, { SYS_rt_sigaction, END } },
	{ "no-signals", ALLOW, KILL, 0, { SYS_tgkill, END } },
	{ "unknown",
	  ALLOW,
	  UNKNOWN,
	  SECCOMP_FILTER_FLAG_TSYNC,
	  { SYS_clock_gettime, SYS_getrusage, END } },
};

static const struct kind *
find(const char *name)
{
	const struct kind *kind = kinds;

	while (strcmp(kind->name, name) != 0)
		kind++;
	return kind;
}

/* seccomp(2) that no library can interpose. */
static long
seccomp_unseen(unsigned long flags, const struct sock_fprog *program)
{
	long result = SYS_seccomp;

#if defined(__x86_64__)
	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(SECCOMP_SET_MODE_FILTER), "S"(flags),
			   "d"(program)
			 : "rcx", "r11", "memory");
#else
	result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, program);
#endif
	return result;
}

static int
put_on(const struct kind *kind)
{
	static bool is_bound;
	struct sock_filter filter[160];
	unsigned short n = 0;

	filter[n++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (const int *call = kind->calls; *call != END; call++) {
		filter[n++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)*call, 0, 1);
		filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							   kind->listed);
	}
	filter[n++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, kind->otherwise);
	const struct sock_fprog program = { n, filter };

	/* Only once: a filter may forbid it later. */
	if (!is_bound && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	is_bound = true;
	if (strncmp(kind->name, "unseen", 6) == 0)
		return (int)seccomp_unseen(kind->flags, &program);
	if (kind->flags != 0)
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				    kind->flags, &program);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Make calls that must fail; the last one lacks the privileges. */
static int
ask(void)
{
	struct sock_filter kill = BPF_STMT(BPF_RET | BPF_K, KILL);
	const struct sock_fprog program = { 1, &kill }, empty = { 0, &kill };
	const unsigned unknown = 1u << 30;
	int bad = 0;

	bad |= syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) == 0;
	bad |= syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, &program) == 0;
	bad |= syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == 0;
	bad |= syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &empty) == 0;
	bad |= syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, unknown,
		       &program) == 0;
	bad |= prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == 0;
	/* The second half of this struct would be at the address 0. */
	bad |= prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, -8l) == 0;
	bad |= prctl(PR_SET_SECCOMP, 77, &program) == 0;
	if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
		return -1;
	bad |= prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
	return bad ? -1 : 0;
}

static unsigned
work(long rounds)
{
	static unsigned char *slots[64];
	unsigned sum = 0;

	for (long i = 0; i < rounds; i++) {
		unsigned char **const slot = &slots[i * 7 % 64];

		if (*slot != NULL)
			sum += **slot;
		free(*slot);
		*slot = malloc(16 + (size_t)i % 200);
		**slot = (unsigned char)i;
	}
	return sum;
}

static void *
work_in_thread(void *rounds)
{
	return (void *)(uintptr_t)work((long)rounds);
}

/* Work in a thread with blocks of its own. */
static void *
work_apart(void *rounds)
{
	uintptr_t sum = 0;

	for (long i = 0; i < (long)rounds; i++) {
		unsigned char *const p = malloc(16 + (size_t)i % 200);

		*p = (unsigned char)i;
		sum += *p;
		free(p);
	}
	return (void *)sum;
}

/* Work in one thread after the other. */
static unsigned
work_in_threads(long rounds)
{
	pthread_t thread;
	unsigned sum = 0;
	void *result;

	for (int i = 0; i < 8; i++) {
		if (pthread_create(&thread, NULL, work_in_thread,
				   (void *)rounds) != 0)
			_exit(8);
		pthread_join(thread, &result);
		sum += (unsigned)(uintptr_t)result;
	}
	return sum;
}

/* Work in several threads at the same time. */
static unsigned
work_in_crowd(long rounds)
{
	pthread_t threads[8];
	unsigned sum = 0;
	void *result;

	for (int i = 0; i < 8; i++)
		if (pthread_create(&threads[i], NULL, work_apart,
				   (void *)rounds) != 0)
			_exit(8);
	for (int i = 0; i < 8; i++) {
		pthread_join(threads[i], &result);
		sum += (unsigned)(uintptr_t)result;
	}
	return sum;
}

/* Work here, and in a child. */
static unsigned
work_in_children(long rounds)
{
	int status = -1;
	const pid_t child = fork();

	if (child == 0)
		_exit(work(rounds) != 0 ? 7 : 0);
	if (child < 0 || waitpid(child, &status, 0) != child)
		_exit(8);
	return work(rounds) + (unsigned)status;
}

/*
 * A child that shares our memory until its exec installs the filter, then
 * executes a program without the recorder.
 */
static int
put_on_in_vfork(const struct kind *kind)
{
	char *const none[] = { NULL };
	int status = -1;
	const pid_t child = vfork();

	if (child == 0) {
		if (put_on(kind) != 0)
			_exit(1);
		execle("/bin/true", "true", (char *)NULL, none);
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

static void
say(const char *text, unsigned number)
{
	char line[64];
	const int n = snprintf(line, sizeof(line), "%s %u\n", text, number);

	if (write(1, line, (size_t)n) != n)
		_exit(9);
}

int
main(int argc, char **argv)
{
	const int is_strict = argc > 1 && strcmp(argv[1], "strict") == 0;
	unsigned (*go)(long) = work;
	const struct kind *kind;

	if (argc < 4)
		return 2;
	if (strcmp(argv[2], "threads") == 0 || strcmp(argv[2], "again") == 0 ||
	    strcmp(argv[2], "joined") == 0)
		go = work_in_threads;
	if (strcmp(argv[2], "children") == 0)
		go = work_in_children;
	if (strcmp(argv[2], "crowd") == 0)
		go = work_in_crowd;
	if (strcmp(argv[2], "exec") != 0 && strcmp(argv[2], "crowd") != 0) {
		say("before", go(atol(argv[3])));
		/* Long enough for the recorder to fall asleep. */
		usleep(300000);
	}
	if (is_strict) {
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
			return 3;
	} else if (strcmp(argv[1], "ask") == 0) {
		if (ask() != 0)
			return 3;
	} else {
		kind = find(argv[1]);
		if ((strcmp(argv[2], "vfork") == 0 ? put_on_in_vfork(kind)
						   : put_on(kind)) != 0) {
			perror("filter");
			return 3;
		}
	}
	if (strcmp(argv[2], "joined") == 0)
		go = work;
	if (strcmp(argv[2], "exec") == 0) {
		execvp(argv[3], argv + 3);
		return 127;
	}
	if (strcmp(argv[2], "again") == 0 && put_on(kind) != 0)
		return 3;
	if (strcmp(argv[2], "twice") == 0 && put_on(find("no-figures")) != 0)
		return 3;
	say("within", go(atol(argv[3])));
	if (strcmp(argv[1], "renderer") == 0 ||
	    strcmp(argv[1], "privsep") == 0) {
		struct timespec a_while = { 1, 300000000 };

		nanosleep(&a_while, NULL);
		say("later", work(atol(argv[3])));
	}
	if (strncmp(argv[1], "misdeed", 7) == 0)
		(void)getppid();
	if (is_strict)
		syscall(SYS_exit, 5);
	_exit(5);
}
