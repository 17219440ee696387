/* SPDX-License-Identifier: MIT */
/* stack_memory.c - see stack_memory.h */

#include "preload/stacks/stack_memory.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "preload/sys/sys.h"

#define PAGE_NBYTES 4096u

/* The loader's: where the stack of the initial thread begins. */
extern void *__libc_stack_end __attribute__((weak));

/*
 * The kernel maps nothing so close below the stack of the initial thread but
 * this stack, whatever its limit is (mmap_base() keeps a gap).
 */
#define INITIAL_REACH ((uintptr_t)128 << 20)

__thread uintptr_t stack_memory_thread_low
	__attribute__((tls_model("initial-exec")));

/* Where the stack that 'sp' lies in ends, if that is known, or 0. */
static uintptr_t
known_end(uintptr_t sp)
{
	const uintptr_t initial_end =
		&__libc_stack_end != NULL ? (uintptr_t)__libc_stack_end : 0;
	uintptr_t block;

	if (sp < initial_end && initial_end - sp < INITIAL_REACH)
		return initial_end;
	/* ELF TLS, x86-64: the word at %fs:0 is the block's address. */
	__asm__("movq %%fs:0, %0" : "=r"(block));
	if (stack_memory_thread_low != 0 && sp >= stack_memory_thread_low &&
	    sp < block)
		return block;
	return 0;
}

void
stack_memory_begin_thread(size_t nbytes)
{
	uintptr_t block;

	__asm__("movq %%fs:0, %0" : "=r"(block));
	if (nbytes < block)
		stack_memory_thread_low = block - nbytes;
}

void
stack_memory_init(struct stack_memory *memory, uintptr_t sp)
{
	const uintptr_t end = known_end(sp);

	memory->low = sp & ~(uintptr_t)7;
	memory->is_known = end != 0;
	memory->is_fixed = false;
	/* What lies on the page of the stack pointer is mapped. */
	memory->high =
		end != 0 ? end & ~(uintptr_t)7 : (sp | (PAGE_NBYTES - 1)) + 1;
}

/*
 * Is the page at 'address' readable?  rt_sigprocmask(2) reads its second
 * argument before it judges the first, and fails with EFAULT or EINVAL without
 * an effect.  No filter of system calls refuses it that a program with signals
 * or threads could live with.
 */
static bool
is_readable(uintptr_t address)
{
	const int saved_errno = errno;
	bool is_mapped;

	is_mapped = syscall(SYS_rt_sigprocmask, -1, (const void *)address, NULL,
			    sizeof(uint64_t)) == -1 &&
		    errno != EFAULT;
	errno = saved_errno;
	return is_mapped;
}

bool
stack_memory_change(struct stack_memory *memory, uintptr_t sp)
{
	if ((sp & 7) != 0 || !is_readable(sp))
		return false;
	stack_memory_init(memory, sp);
	return true;
}

bool
stack_memory_extend(struct stack_memory *memory, uintptr_t address)
{
	if (memory->is_known || memory->is_fixed ||
	    address - memory->low > STACK_MEMORY_REACH)
		return false;
	while (address >= memory->high) {
		if (!is_readable(memory->high))
			return false;
		memory->high += PAGE_NBYTES;
	}
	return true;
}
