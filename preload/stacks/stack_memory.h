/* SPDX-License-Identifier: MIT */
/*
 * stack_memory.h - read the stack of the calling thread, and nothing else
 *
 * An unwinder follows addresses that it finds on the stack.  A frame without
 * rules, a register that is no frame pointer or damaged tables can lead it
 * anywhere, so each address is checked before it is read:
 *
 *   - The stack of the initial thread ends at __libc_stack_end, that of a
 *     thread of libc's below its thread control block.  From the stack pointer
 *     to there everything is mapped, and stays so as long as the thread runs on
 *     this stack: two comparisons.
 *   - Of any other stack (sigaltstack(2), coroutines, split stacks) nobody
 *     knows the end.  The kernel is asked for each page that a walk comes to.
 *
 * All functions are for the calling thread only, and may run in a handler.
 */
#ifndef STACK_MEMORY_H
#define STACK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_memory {
	uintptr_t low, high; /* may be read: [low, high) */
	bool is_known;	     /* else 'high' is as far as the kernel was asked */
	bool is_fixed;	     /* do not ask it for more */
};

/*
 * The calling thread begins on a stack of 'nbytes', the control block included.
 * Without this call its stack is one whose end nobody knows.
 */
void stack_memory_begin_thread(size_t nbytes);

/* No walk goes farther from the stack pointer than this. */
#define STACK_MEMORY_REACH ((uintptr_t)1 << 30)

/* Begin a walk at 'sp', which points into the current stack. */
void stack_memory_init(struct stack_memory *memory, uintptr_t sp);

/*
 * Go on at 'sp' on another stack, which the rules of a function name.  False:
 * nothing can be read there.
 */
bool stack_memory_change(struct stack_memory *memory, uintptr_t sp);

/* May the eight bytes at 'address', which are out of bounds, be read? */
bool stack_memory_extend(struct stack_memory *memory, uintptr_t address);

/* Read eight bytes; false: 'address' is not on the stack, or not aligned. */
static inline __attribute__((always_inline)) bool
stack_memory_read(struct stack_memory *memory, uintptr_t address,
		  uintptr_t *value_ret)
{
	/* 'high' is a multiple of 8, so the whole word is below it. */
	if (__builtin_expect(address < memory->low || (address & 7) != 0, 0))
		return false;
	if (__builtin_expect(address >= memory->high, 0) &&
	    !stack_memory_extend(memory, address))
		return false;
	*value_ret = *(const uintptr_t *)address;
	return true;
}

#endif /* STACK_MEMORY_H */
