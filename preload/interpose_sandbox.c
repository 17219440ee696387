/* SPDX-License-Identifier: MIT */
/*
 * interpose_sandbox.c - the calls by which a program gets a filter, or ends
 *
 * prctl(3) and syscall(3), which has no name of its own for seccomp(2), as
 * libseccomp and all who do it by hand call them.  Everything else that comes by
 * goes on to libc's without a trace: the entry points below are jumps, so that
 * arguments, stack and return are as if they were not there.
 */

#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "control.h"
#include "export.h"
#include "lifecycle.h"
#include "real.h"
#include "record.h"
#include "sandbox.h"
#include "sys.h"

/* The kernel refuses a filter to those who could fool a setuid program with it. */
static bool
may_have_filters(void)
{
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
	       syscall(SYS_geteuid) == 0;
}

static void
expect(const void *program, bool is_strict, bool all_threads)
{
	const enum lifecycle_scope scope = lifecycle_scope();
	unsigned harm = SANDBOX_PROGRAM | SANDBOX_START;

	if (scope == LIFECYCLE_UNTRACED || !may_have_filters())
		return;
	if (!is_strict)
		harm = sandbox_harm(program);
	if ((harm & SANDBOX_PROGRAM) != 0 ||
	    (all_threads && (harm & SANDBOX_WRITER) != 0) ||
	    (scope == LIFECYCLE_NEW && (harm & SANDBOX_START) != 0))
		lifecycle_end_for_sandbox();
	else if ((harm & SANDBOX_START) != 0)
		lifecycle_end_with_children();
	if ((harm & SANDBOX_WAKE) != 0)
		control_end_signals();
	if ((harm & SANDBOX_CONTROL) != 0)
		lifecycle_end_control(all_threads);
}

/* They are called below, and return where to go on. */
uintptr_t sandbox_watch_syscall(uint64_t number, uint64_t a, uint64_t b,
				uint64_t c);
uintptr_t sandbox_watch_prctl(uint64_t option, uint64_t mode, uint64_t program);

/*
 * The ends of a process have numbers too.  An exec that fails does not come back
 * here, so the writer waits for a second before it goes on.
 */
static void
watch_end(uint64_t number)
{
	if (number == SYS_exit_group)
		lifecycle_end(WRITER_END_UNDERSCORE_EXIT);
	else if (number == SYS_execve || number == SYS_execveat)
		lifecycle_end(WRITER_END_EXEC);
}

/* seccomp(2), or prctl(2) by its number, or an end, or none of these. */
uintptr_t
sandbox_watch_syscall(uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
	const int saved_errno = errno;

	real_resolve_rest();
	if (number == SYS_seccomp && a == SECCOMP_SET_MODE_STRICT)
		expect(NULL, true, false);
	else if (number == SYS_seccomp && a == SECCOMP_SET_MODE_FILTER)
		expect((const void *)c, false,
		       (b & SECCOMP_FILTER_FLAG_TSYNC) != 0);
	else if (number == SYS_prctl && a == PR_SET_SECCOMP)
		expect((const void *)c, b == SECCOMP_MODE_STRICT, false);
	else
		watch_end(number);
	errno = saved_errno;
	return (uintptr_t)real.syscall;
}

uintptr_t
sandbox_watch_prctl(uint64_t option, uint64_t mode, uint64_t program)
{
	const int saved_errno = errno;

	real_resolve_rest();
	if ((uint32_t)option == PR_SET_SECCOMP)
		expect((const void *)program, mode == SECCOMP_MODE_STRICT,
		       false);
	errno = saved_errno;
	return (uintptr_t)real.prctl;
}

/*
 * Keep the registers that hold arguments, ask, and jump.  An odd number of words
 * is pushed: at the entry of a function the stack is 8 off.
 */
#define JUMP_AFTER(name, watch)                                           \
	__asm__(".pushsection .text\n"                                    \
		".globl " name "\n.type " name ", @function\n" name ":\n" \
		"	.cfi_startproc\n"                                       \
		"	push %rdi\n	.cfi_adjust_cfa_offset 8\n"                 \
		"	push %rsi\n	.cfi_adjust_cfa_offset 8\n"                 \
		"	push %rdx\n	.cfi_adjust_cfa_offset 8\n"                 \
		"	push %rcx\n	.cfi_adjust_cfa_offset 8\n"                 \
		"	push %r8\n	.cfi_adjust_cfa_offset 8\n"                  \
		"	push %r9\n	.cfi_adjust_cfa_offset 8\n"                  \
		"	push %rax\n	.cfi_adjust_cfa_offset 8\n"                 \
		"	call " watch "\n"                                 \
		"	mov %rax, %r11\n"                                       \
		"	pop %rax\n	.cfi_adjust_cfa_offset -8\n"                 \
		"	pop %r9\n	.cfi_adjust_cfa_offset -8\n"                  \
		"	pop %r8\n	.cfi_adjust_cfa_offset -8\n"                  \
		"	pop %rcx\n	.cfi_adjust_cfa_offset -8\n"                 \
		"	pop %rdx\n	.cfi_adjust_cfa_offset -8\n"                 \
		"	pop %rsi\n	.cfi_adjust_cfa_offset -8\n"                 \
		"	pop %rdi\n	.cfi_adjust_cfa_offset -8\n"                 \
		"	jmp *%r11\n"                                            \
		"	.cfi_endproc\n"                                         \
		".size " name ", . - " name "\n.popsection\n")

JUMP_AFTER("syscall", "sandbox_watch_syscall");
JUMP_AFTER("prctl", "sandbox_watch_prctl");
