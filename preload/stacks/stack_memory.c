/* SPDX-License-Identifier: MIT */
/* stack_memory.c - see stack_memory.h */

#include "preload/stacks/stack_memory.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "preload/sys/sys.h"

/* A variable of the loader: the outer end of the initial thread's stack. */
extern void *__libc_stack_end __attribute__((weak));

uintptr_t stack_memory_initial_end;

__thread uintptr_t stack_memory_thread_low
	__attribute__((tls_model("initial-exec")));

void
stack_memory_begin(void)
{
	if (&__libc_stack_end != NULL)
		stack_memory_initial_end = (uintptr_t)__libc_stack_end;
}

void
stack_memory_begin_thread(size_t nbytes)
{
	uintptr_t block;

	__asm__("movq %%fs:0, %0" : "=r"(block));
	if (nbytes < block)
		stack_memory_thread_low = block - nbytes;
}

/*
 * Is the page at 'address' readable?  rt_sigprocmask(2) reads the memory at its
 * second argument before it checks the first argument.  The call has no effect,
 * and fails with EFAULT if the memory cannot be read, else with EINVAL.  A
 * program with signals or threads needs this system call, so filters allow it.
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
		memory->high += STACK_MEMORY_PAGE;
	}
	return true;
}
