/* SPDX-License-Identifier: MIT */
/* hidden_thread.c - see hidden_thread.h */

#include "preload/confine/hidden_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "preload/confine/landlock.h"
#include "preload/confine/privileges.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"

/* Time between two checks for the end of the thread. */
#define POLL_NS 20000u

#define STACK_NBYTES (512u << 10)
/*
 * Size of the guard, the inaccessible memory below the stack.  The guard has at
 * least one page, whatever the system's page size.
 */
#define GUARD_NBYTES (64u << 10)

/* The usual limit of descriptors of a process (RLIMIT_NOFILE). */
#define FD_COMMON_MAX 1024

/*
 * libc's thread descriptor and the thread-local variables of all libraries lie
 * around the thread pointer.  The hidden thread uses none of these except
 * errno.  The distance of errno from the thread pointer depends on the size of
 * the program's own thread-local variables.  The area that make_tls() makes
 * therefore reaches this many bytes beyond errno.
 */
#define TLS_SPARE_NBYTES (64u << 10)

struct task {
	int (*body)(void *);
	void *argument;
	int keep[HIDDEN_THREAD_KEEP_MAX];
	unsigned n;
};

static struct task task;

/* Kernel id of the thread; the kernel clears it when the thread has ended. */
struct tid_word {
	_Alignas(64) _Atomic int tid;
};

/*
 * The id of the running hidden thread.  It lies in memory that fork(2) zeroes
 * in the child, since the child has no such thread.
 */
static struct tid_word *alive;
/* kernel id of the newest hidden thread; 0 or -1: no thread was made */
static int last_tid;

static uint8_t *
thread_pointer(void)
{
	return __builtin_thread_pointer();
}

/*
 * Make a thread-local area.  Return its thread pointer, or NULL if there is no
 * memory.
 */
static void *
make_tls(void)
{
	const ptrdiff_t errno_off = (uint8_t *)&errno - thread_pointer();
	const size_t reach = (size_t)(errno_off < 0 ? -errno_off : errno_off) +
			     TLS_SPARE_NBYTES;
	/* Mapped once; the child of a fork reuses the area of its parent. */
	static uint8_t *area;
	static size_t area_nbytes;

	if (area == NULL || area_nbytes < 2 * reach) {
		uint8_t *const mapped = memory_map_wiped(2 * reach);

		if (mapped == NULL)
			return NULL;
		area = mapped;
		area_nbytes = 2 * reach;
	}
	/*
	 * 'alive' is at the start of the area, the thread pointer in the
	 * middle.
	 */
	alive = (struct tid_word *)(void *)area;
	uint8_t *const tp =
		(uint8_t *)((uintptr_t)(area + reach) & ~(uintptr_t)63);
#if defined(__x86_64__)
	/*
	 * The first words of a thread descriptor: its own address at offsets 0
	 * and 0x10, the dtv at 8, the stack guard at 0x28, the pointer guard at
	 * 0x30.
	 */
	const uintptr_t self = (uintptr_t)tp;

	memcpy(tp, thread_pointer(), 0x38);
	memcpy(tp, &self, sizeof(self));
	memcpy(tp + 0x10, &self, sizeof(self));
	memset(tp + 8, 0, 8); /* no dtv, so no dynamic TLS may be used */
#endif
	return tp;
}

/* Return the smallest kept descriptor >= 'least'; UINT_MAX: none. */
static unsigned
next_kept(unsigned least)
{
	unsigned next = UINT_MAX;

	for (unsigned i = 0; i < task.n; i++)
		if (task.keep[i] >= 0 && (unsigned)task.keep[i] >= least &&
		    (unsigned)task.keep[i] < next)
			next = (unsigned)task.keep[i];
	return next;
}

/* struct linux_dirent64 of getdents64(2). */
struct entry {
	uint64_t inode, off;
	uint16_t nbytes;
	uint8_t type;
	char name[];
};

static unsigned
parse_fd(const char *name)
{
	unsigned n = 0;

	for (; *name >= '0' && *name <= '9'; name++)
		n = n * 10 + (unsigned)(*name - '0');
	return n;
}

/*
 * Close, one by one, the descriptors that the thread's folder in /proc lists,
 * except those to keep.
 */
static void
close_listed(void)
{
	_Alignas(8) char buf[4096];
	const unsigned dir =
		(unsigned)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/fd",
				  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n;

	/* If /proc cannot be read, close all descriptors in the usual range. */
	if ((int)dir < 0)
		for (unsigned fd = 0; fd < FD_COMMON_MAX; fd++)
			if (next_kept(fd) != fd)
				syscall(SYS_close, fd);
	while ((int)dir >= 0 &&
	       (n = syscall(SYS_getdents64, dir, buf, sizeof(buf))) > 0)
		for (long at = 0; at < n;) {
			const struct entry *const e = (const void *)(buf + at);
			const unsigned fd = parse_fd(e->name);

			at += e->nbytes;
			if (e->name[0] != '.' && next_kept(fd) != fd &&
			    fd != dir)
				syscall(SYS_close, fd);
		}
	if ((int)dir >= 0)
		syscall(SYS_close, dir);
}

/*
 * The thread's table of descriptors is a copy of the program's.  Close all
 * descriptors except those in task.keep.  Otherwise a file would stay open
 * after the program closes it.
 */
static void
close_others(void)
{
	for (unsigned from = 0;;) {
		const unsigned kept = next_kept(from);

		/*
		 * If close_range() fails, close the descriptors one by one.
		 * close_range() fails on Linux before 5.9, and under a filter
		 * of system calls that does not allow close_range().
		 */
		if (kept > from &&
		    syscall(SYS_close_range, from,
			    kept == UINT_MAX ? kept : kept - 1, 0) != 0) {
			close_listed();
			return;
		}
		if (kept == UINT_MAX)
			return;
		from = kept + 1;
	}
}

/*
 * End the process by the signal 'signal'.  The calling thread must be the last
 * thread of the process.  A filter of system calls may end the process at the
 * first call below.  If a filter refuses the calls, this function returns.
 */
static void
end_by_signal(int signal)
{
	const struct {
		uintptr_t handler;
		unsigned long flags, restorer;
		uint64_t mask;
	} standard = { .handler = (uintptr_t)SIG_DFL };

	syscall(SYS_rt_sigaction, signal, &standard, NULL,
		sizeof(standard.mask));
	syscall(SYS_tgkill, sys_pid(), sys_tid(), signal);
	sys_restore_signals(~((uint64_t)1 << (signal - 1)));
}

static __attribute__((noreturn)) int
thread_main(void *unused)
{
	(void)unused;
	close_others();
	prctl(PR_SET_NAME, "hatftrace");
	privileges_limit();
	landlock_drop_rights();
	const int status = task.body(task.argument);

	if (WIFSIGNALED(status))
		end_by_signal(WTERMSIG(status));
	/*
	 * A filter may refuse exit(2).  Do not return to libc's clone(),
	 * because that function calls exit(2), too, and crashes the program if
	 * the call fails.
	 */
	for (;;) {
		syscall(SYS_exit, WIFSIGNALED(status) ? 128 + WTERMSIG(status)
						      : WEXITSTATUS(status));
		sys_sleep(NS_PER_SEC / 10);
	}
}

bool
hidden_thread_is_alive(void)
{
	/*
	 * acquire: pairs with the kernel's store that clears the id when the
	 * thread ends.
	 */
	return alive != NULL &&
	       atomic_load_explicit(&alive->tid, memory_order_acquire) != 0;
}

/*
 * Wait until the thread no longer uses its memory.  The kernel may still count
 * the thread as one of the process for a short time after that.
 */
static void
await_end(void)
{
	while (hidden_thread_is_alive())
		sys_sleep(POLL_NS);
}

/*
 * Return the start of the guard, above which the stack lies; NULL if there is
 * no memory.
 */
static uint8_t *
make_stack(void)
{
	static uint8_t *stack; /* mapped once, like 'area' in make_tls() */

	if (stack == NULL) {
		stack = memory_map_wiped(GUARD_NBYTES + STACK_NBYTES);
		if (stack != NULL)
			mprotect(stack, GUARD_NBYTES, PROT_NONE);
	}
	return stack;
}

bool
hidden_thread_start(int (*body)(void *), void *argument, const int *keep,
		    unsigned n)
{
	uint8_t *const stack = make_stack();
	void *tls;

	/*
	 * Until the previous hidden thread has ended, it uses the stack and the
	 * thread-local area that the new thread will use.
	 */
	await_end();
	tls = make_tls();
	if (stack == NULL || tls == NULL) {
		errno = ENOMEM;
		return false;
	}
	task = (struct task){ .body = body, .argument = argument };
	for (; task.n < n && task.n < HIDDEN_THREAD_KEEP_MAX; task.n++)
		task.keep[task.n] = keep[task.n];

	const uint64_t mask = sys_block_signals();
	const int tid =
		clone(thread_main, stack + GUARD_NBYTES + STACK_NBYTES,
		      CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
			      CLONE_SETTLS | CLONE_PARENT_SETTID |
			      CLONE_CHILD_CLEARTID,
		      NULL, (pid_t *)(uintptr_t)&alive->tid, tls,
		      (pid_t *)(uintptr_t)&alive->tid);

	sys_restore_signals(mask);
	last_tid = tid;
	return tid >= 0;
}

#if defined(__x86_64__)
/* Call body(argument) on the stack that ends at 'top'; return its result. */
int hidden_thread_call_on(void *top, int (*body)(void *), void *argument)
	__attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
	".p2align 4\n"
	".globl hidden_thread_call_on\n"
	".hidden hidden_thread_call_on\n"
	".type hidden_thread_call_on, @function\n"
	"hidden_thread_call_on:\n"
	".cfi_startproc\n"
	"	endbr64\n"
	"	pushq %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbp, 0\n"
	"	movq %rsp, %rbp\n"
	"	.cfi_def_cfa_register %rbp\n"
	"	movq %rdi, %rsp\n"
	"	movq %rdx, %rdi\n"
	"	call *%rsi\n"
	"	leave\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size hidden_thread_call_on, . - hidden_thread_call_on\n"
	".popsection\n");

bool
hidden_thread_run_here(int (*body)(void *), void *argument)
{
	uint8_t *const stack = make_stack();

	if (stack == NULL)
		return false;
	/* Until the hidden thread has ended, it uses the same stack. */
	await_end();
	hidden_thread_call_on(stack + GUARD_NBYTES + STACK_NBYTES, body,
			      argument);
	return true;
}
#else
bool
hidden_thread_run_here(int (*body)(void *), void *argument)
{
	(void)body;
	(void)argument;
	return false;
}
#endif

void
hidden_thread_join(void)
{
	await_end();
	/*
	 * The kernel counts the thread as one of the process as long as
	 * tgkill(2) finds the thread.
	 */
	while (last_tid > 0 && syscall(SYS_tgkill, sys_pid(), last_tid, 0) == 0)
		sys_sleep(POLL_NS);
}
