/* SPDX-License-Identifier: MIT */
/*
 * sandbox.c - see sandbox.h
 *
 * A filter is a program in classic BPF, often of a few dozen instructions.  The
 * filter computes an action from the number and the arguments of a system call.
 * This file interprets a filter as the kernel would.
 */

#include "preload/confine/sandbox.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "preload/sys/sys.h"

/* State of the interpreter: accumulator, index register, memory, input. */
struct machine {
	const struct seccomp_data *data;
	uint32_t a, x, memory[BPF_MEMWORDS];
};

static uint32_t
load_data(const struct machine *m, uint32_t off)
{
	uint32_t word = 0;

	if (off <= sizeof(*m->data) - sizeof(word))
		memcpy(&word, (const uint8_t *)m->data + off, sizeof(word));
	return word;
}

static uint32_t
load(const struct machine *m, const struct sock_filter *f)
{
	switch (BPF_MODE(f->code)) {
	case BPF_ABS:
		return load_data(m, f->k);
	case BPF_MEM:
		return m->memory[f->k % BPF_MEMWORDS];
	case BPF_LEN:
		return sizeof(*m->data);
	default: /* BPF_IMM */
		return f->k;
	}
}

static uint32_t
compute(const struct machine *m, const struct sock_filter *f)
{
	const uint32_t b = BPF_SRC(f->code) == BPF_X ? m->x : f->k;

	switch (BPF_OP(f->code)) {
	case BPF_ADD:
		return m->a + b;
	case BPF_SUB:
		return m->a - b;
	case BPF_MUL:
		return m->a * b;
	case BPF_DIV:
		return b == 0 ? 0 : m->a / b;
	case BPF_MOD:
		return b == 0 ? m->a : m->a % b;
	case BPF_AND:
		return m->a & b;
	case BPF_OR:
		return m->a | b;
	case BPF_XOR:
		return m->a ^ b;
	case BPF_LSH:
		return b < 32 ? m->a << b : 0;
	case BPF_RSH:
		return b < 32 ? m->a >> b : 0;
	default: /* BPF_NEG */
		return -m->a;
	}
}

/* Return how many instructions the jump skips. */
static uint32_t
jump(const struct machine *m, const struct sock_filter *f)
{
	const uint32_t b = BPF_SRC(f->code) == BPF_X ? m->x : f->k;
	bool is_true;

	switch (BPF_OP(f->code)) {
	case BPF_JA:
		return f->k;
	case BPF_JEQ:
		is_true = m->a == b;
		break;
	case BPF_JGT:
		is_true = m->a > b;
		break;
	case BPF_JGE:
		is_true = m->a >= b;
		break;
	default: /* BPF_JSET */
		is_true = (m->a & b) != 0;
	}
	return is_true ? f->jt : f->jf;
}

/*
 * Run the filter on a call and return its action.  Jumps only go forward, so
 * the loop ends.  The kernel refuses a filter that can run past its end, so the
 * result for such a filter does not matter.
 */
static uint32_t
run(const struct sock_filter *filter, uint32_t n,
    const struct seccomp_data *data)
{
	struct machine m = { .data = data };

	for (uint64_t pc = 0; pc < n; pc++) {
		const struct sock_filter *const f = &filter[pc];

		switch (BPF_CLASS(f->code)) {
		case BPF_LD:
			m.a = load(&m, f);
			break;
		case BPF_LDX:
			m.x = load(&m, f);
			break;
		case BPF_ST:
			m.memory[f->k % BPF_MEMWORDS] = m.a;
			break;
		case BPF_STX:
			m.memory[f->k % BPF_MEMWORDS] = m.x;
			break;
		case BPF_ALU:
			m.a = compute(&m, f);
			break;
		case BPF_JMP:
			pc += jump(&m, f);
			break;
		case BPF_RET:
			return BPF_RVAL(f->code) == BPF_A ? m.a : f->k;
		default: /* BPF_MISC */
			if (BPF_MISCOP(f->code) == BPF_TAX)
				m.x = m.a;
			else
				m.a = m.x;
		}
	}
	return SECCOMP_RET_ALLOW;
}

/*
 * A system call of the recorder, with those arguments that filters often check.
 */
struct call {
	int number;
	uint64_t args[6];
};

#define RW   (PROT_READ | PROT_WRITE)
#define WAIT FUTEX_WAIT_PRIVATE
#define WAKE FUTEX_WAKE_PRIVATE

/* No system has smaller pages. */
#define PAGE_MIN_NBYTES 4096u

/* System calls of the program's threads while a trace is being written. */
static const struct call program_calls[] = {
	{ SYS_futex, { 0, WAIT } },
	{ SYS_futex, { 0, WAKE } },
	{ SYS_getpid, { 0 } },
	{ SYS_gettid, { 0 } },
	{ SYS_rt_sigprocmask, { SIG_SETMASK } },
	{ SYS_rt_sigprocmask, { ~0ull } },
	{ SYS_mmap, { 0, 4096, RW, MAP_SHARED | MAP_ANONYMOUS, ~0ull } },
	{ SYS_mmap, { 0, 4096, RW, MAP_PRIVATE | MAP_ANONYMOUS, ~0ull } },
	{ SYS_munmap, { 0, 4096 } },
	{ SYS_madvise, { 0, 4096, MADV_NOHUGEPAGE } },
	{ SYS_madvise, { 0, 4096, MADV_DONTFORK } },
	{ SYS_madvise, { 0, 4096, MADV_WIPEONFORK } },
};

/* System calls of the writer thread. */
static const struct call writer_calls[] = {
	{ SYS_write, { 1000 } },
	{ SYS_futex, { 0, WAIT } },
	{ SYS_futex, { 0, WAKE } },
	{ SYS_nanosleep, { 0 } },
	{ SYS_tgkill, { 0 } },
	{ SYS_openat, { (uint64_t)-100, 0, 0 } },
	{ SYS_openat, { (uint64_t)-100, 0, 0101 } },
	{ SYS_read, { 1000 } },
	{ SYS_close, { 1000 } },
	{ SYS_fstat, { 1000 } },
	{ SYS_newfstatat, { (uint64_t)-100 } },
	{ SYS_fcntl, { 1000, 1030, 3 } },
	{ SYS_mmap, { 0, 4096, RW, MAP_SHARED, 1000 } },
	{ SYS_mmap, { 0, 4096, PROT_NONE, MAP_SHARED, 1000 } },
	{ SYS_mmap, { 0, 4096, PROT_NONE, MAP_SHARED | MAP_FIXED, 1000 } },
	{ SYS_munmap, { 0, 4096 } },
	{ SYS_madvise, { 0, 4096, MADV_REMOVE } },
	{ SYS_fallocate, { 1000 } },
	{ SYS_ftruncate, { 1000 } },
	{ SYS_unlinkat, { (uint64_t)-100 } },
	{ SYS_prlimit64, { 0, 1 } },
	{ SYS_clock_gettime, { CLOCK_THREAD_CPUTIME_ID } },
	{ SYS_getrusage, { RUSAGE_SELF } },
	{ SYS_exit, { 0 } },
};

/*
 * System calls of the program's threads: to wake a writer that sleeps until
 * orders come (writer_sleep.c); and to check, before a new thread takes over a
 * ring, whether the old owner has ended (thread.c).
 */
static const struct call wake_calls[] = {
	{ SYS_tgkill, { 0, 0, 32 } },
	{ SYS_tgkill, { 0, 0, 0 } },
};

/* System calls of a thread of the program when the program ends (signals.c). */
static const struct call sigaction_calls[] = {
	{ SYS_rt_sigaction, { SIGTERM } },
};

/* System calls of a thread of the program that prints a message (say.c). */
static const struct call say_calls[] = {
	{ SYS_fstat, { 2 } },
	{ SYS_rt_sigprocmask, { SIG_SETMASK } },
	{ SYS_write, { 2 } },
	{ SYS_rt_sigtimedwait, { 0 } },
};

/*
 * System calls of a thread that counts the other threads (remaining_threads.c).
 */
static const struct call look_calls[] = {
	{ SYS_openat, { (uint64_t)-100, 0, 0 } },
	{ SYS_read, { 1000 } },
	{ SYS_close, { 1000 } },
};

/*
 * System calls of threads of the program that have changed their privileges,
 * and of the writer thread, which then changes its own (privileges.c).
 */
static const struct call credentials_calls[] = {
	{ SYS_capget, { 0 } },	     { SYS_getresuid, { 0 } },
	{ SYS_getresgid, { 0 } },    { SYS_getgroups, { 0 } },
	{ SYS_setfsuid, { ~0ull } }, { SYS_setfsgid, { ~0ull } },
	{ SYS_capset, { 0 } },	     { SYS_prctl, { PR_SET_KEEPCAPS, 1 } },
	{ SYS_setgroups, { 0 } },    { SYS_setresgid, { 0 } },
	{ SYS_setresuid, { 0 } },
};

/* System calls of the writer thread, which cannot work if one of them fails. */
static const struct call essential_calls[] = {
	{ SYS_write, { 1000 } },
	{ SYS_futex, { 0, WAIT } },
	{ SYS_futex, { 0, WAKE } },
};

/* System calls of the writer thread when it takes orders (control.c). */
static const struct call control_calls[] = {
	{ SYS_ppoll, { 0 } },
	{ SYS_signalfd4, { (uint64_t)-1 } },
	{ SYS_read, { 1000 } },
	{ SYS_mkdirat, { (uint64_t)-100 } },
	{ SYS_umask, { 077 } },
	{ SYS_geteuid, { 0 } },
	{ SYS_socket, { AF_UNIX, SOCK_STREAM } },
	{ SYS_connect, { 1000 } },
	{ SYS_bind, { 1000 } },
	{ SYS_listen, { 1000 } },
	{ SYS_renameat2, { (uint64_t)-100, 0, (uint64_t)-100 } },
	{ SYS_accept4, { 1000 } },
	{ SYS_getsockopt, { 1000, SOL_SOCKET, SO_PEERCRED } },
	{ SYS_recvfrom, { 1000 } },
	{ SYS_sendto, { 1000 } },
	{ SYS_fcntl, { 1000, 1030, 3 } },
};

/*
 * System calls at the start of a trace, in addition to the calls of the writer.
 */
static const struct call start_calls[] = {
	{ SYS_clone,
	  { CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
	    CLONE_SETTLS } },
	{ SYS_readlinkat, { (uint64_t)-100 } },
	{ SYS_newfstatat, { (uint64_t)-100 } },
	{ SYS_pwrite64, { 1000 } },
	{ SYS_getcwd, { 0 } },
	{ SYS_getppid, { 0 } },
	{ SYS_uname, { 0 } },
	{ SYS_fcntl, { 1000, 1030, 1000 } },
	{ SYS_close_range, { 0, 999 } },
	{ SYS_capget, { 0 } },
	{ SYS_capset, { 0 } },
	{ SYS_fstatfs, { 1000 } },
	{ SYS_prctl, { PR_SET_NAME } },
	{ SYS_prctl, { PR_GET_SECCOMP } },
	{ SYS_prctl, { PR_SET_NO_NEW_PRIVS } },
};

/*
 * Does the action end the thread or the process, or send SIGSYS?  The answer is
 * yes for an action that this function does not know, since the kernel kills
 * the process for an action that the kernel does not know.
 */
static bool
is_deadly(uint32_t action)
{
	switch (action & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
	case SECCOMP_RET_ERRNO:
	case SECCOMP_RET_TRACE:
	case SECCOMP_RET_USER_NOTIF:
		return false;
	default:
		return true;
	}
}

/* Return the filter's result for a call: an action, or-ed with its data. */
static uint32_t
try_call(const struct sock_filter *filter, uint32_t n, const struct call *call)
{
	struct seccomp_data data = {
		.nr = call->number,
		.arch = SANDBOX_ARCH,
	};

	memcpy(data.args, call->args, sizeof(data.args));
	return run(filter, n, &data);
}

static bool
is_any_deadly(const struct sock_filter *filter, uint32_t n,
	      const struct call *calls, size_t call_count)
{
	for (size_t i = 0; i < call_count; i++)
		if (is_deadly(try_call(filter, n, &calls[i])))
			return true;
	return false;
}

/*
 * Can the process read eight bytes at this address?  rt_sigprocmask(2) with the
 * invalid operation -1 reads a signal mask there, and then fails without
 * changing anything.  The recorder makes this system call in any case, so the
 * call is safe under a filter that the recorder does not know.
 */
static bool
is_readable(uintptr_t address)
{
	return syscall(SYS_rt_sigprocmask, -1, address, 0, 8) != -1 ||
	       errno != EFAULT;
}

bool
sandbox_copy(void *to, const void *from, size_t nbytes)
{
	const uintptr_t last = (uintptr_t)from + nbytes - 8;

	/* rt_sigprocmask(2) accepts the address 0, and reads nothing there. */
	if (from == NULL || last < (uintptr_t)from)
		return false;
	for (uintptr_t p = (uintptr_t)from; p < last;
	     p = (p | (PAGE_MIN_NBYTES - 1)) + 1)
		if (!is_readable(p))
			return false;
	if (!is_readable(last))
		return false;
	memcpy(to, from, nbytes);
	return true;
}

static bool
is_any_refused(const struct sock_filter *filter, uint32_t n)
{
	for (size_t i = 0;
	     i < sizeof(essential_calls) / sizeof(*essential_calls); i++)
		if (try_call(filter, n, &essential_calls[i]) !=
		    SECCOMP_RET_ALLOW)
			return true;
	return false;
}

#define ANY_DEADLY(calls) \
	is_any_deadly(filter, n, calls, sizeof(calls) / sizeof(*(calls)))

static unsigned
get_harm(const struct sock_filter *filter, uint32_t n)
{
	unsigned harm = 0;

	if (ANY_DEADLY(look_calls))
		harm |= SANDBOX_LOOK;
	if (ANY_DEADLY(program_calls))
		harm |= SANDBOX_PROGRAM;
	if (ANY_DEADLY(writer_calls))
		harm |= SANDBOX_WRITER | SANDBOX_START;
	if (ANY_DEADLY(wake_calls))
		harm |= SANDBOX_WAKE;
	if (ANY_DEADLY(say_calls))
		harm |= SANDBOX_SAY;
	if (ANY_DEADLY(sigaction_calls))
		harm |= SANDBOX_SIGACTION;
	if (is_any_refused(filter, n))
		harm |= SANDBOX_WRITER_REFUSED;
	if (ANY_DEADLY(credentials_calls))
		harm |= SANDBOX_CREDENTIALS;
	if (ANY_DEADLY(control_calls))
		harm |= SANDBOX_CONTROL;
	if (ANY_DEADLY(start_calls))
		harm |= SANDBOX_START;
	return harm;
}

unsigned
sandbox_harm(const void *program)
{
	struct sock_fprog p;
	struct sock_filter *filter;
	unsigned harm = 0;

	if (!sandbox_copy(&p, program, sizeof(p)) || p.len == 0 ||
	    p.len > BPF_MAXINSNS)
		return 0;
	/*
	 * Copy the filter to mapped memory, since a large filter does not fit
	 * on a small stack.  This mmap() is in program_calls.  If an earlier
	 * call of this function found a filter that kills the process for this
	 * mmap(), the recorder has stopped, and does not call this function
	 * again.
	 */
	filter = mmap(NULL, p.len * sizeof(*filter), RW,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (filter == MAP_FAILED)
		return SANDBOX_PROGRAM | SANDBOX_START;
	if (sandbox_copy(filter, p.filter, p.len * sizeof(*filter)))
		harm = get_harm(filter, p.len);
	munmap(filter, p.len * sizeof(*filter));
	return harm;
}
