/* SPDX-License-Identifier: MIT */
/*
 * stack_memory.h - read the stack of the calling thread, and nothing else
 *
 * An unwinder follows addresses that it finds on the stack.  A frame without
 * unwind rules, a register that is not a frame pointer, or damaged tables can
 * give any address, so each address is checked before it is read:
 *
 *   - The stack of the initial thread ends at __libc_stack_end.  The stack of
 *     another thread of libc ends at or below its thread control block.  From
 *     the stack pointer to __libc_stack_end or to this block everything is
 *     mapped, as long as the thread runs on this stack.  The check takes two
 *     comparisons.
 *   - The end of any other stack is unknown (sigaltstack(2), coroutines, split
 *     stacks).  The kernel is asked about each page that a walk reaches.
 *
 * All functions concern the calling thread only, and may run in a signal
 * handler.
 */
#ifndef STACK_MEMORY_H
#define STACK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_memory {
	/* the bytes from 'low' to before 'high' may be read */
	uintptr_t low, high;
	/*
	 * Is the end of the stack known?  If not, only the pages up to 'high'
	 * are known to be mapped so far.
	 */
	bool is_known;
	bool is_fixed; /* do not ask the kernel about more pages */
};

/*
 * Call this at the start of a thread that runs on a stack of 'nbytes', which
 * includes the thread control block.  Without this call the end of the thread's
 * stack is unknown.
 */
void stack_memory_begin_thread(size_t nbytes);

/*
 * On a stack whose end is unknown, a walk goes at most this many bytes from the
 * stack pointer.
 */
#define STACK_MEMORY_REACH ((uintptr_t)1 << 30)

/*
 * An address at most this far below the end of the initial thread's stack lies
 * in that stack, because the kernel maps nothing else in this range, whatever
 * the stack's limit is (mmap_base() keeps a gap).
 */
#define STACK_MEMORY_INITIAL_REACH ((uintptr_t)128 << 20)

#define STACK_MEMORY_PAGE 4096u

extern uintptr_t stack_memory_initial_end
	__attribute__((visibility("hidden"))); /* 0: the end is unknown */
extern __thread uintptr_t stack_memory_thread_low
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Call this once, before the first walk. */
void stack_memory_begin(void);

/* Return the end of the stack that contains 'sp', or 0 if it is not known. */
static inline __attribute__((always_inline)) uintptr_t
stack_memory_end(uintptr_t sp)
{
	uintptr_t block;

	/*
	 * One comparison checks both bounds, because the difference wraps
	 * around if 'sp' is above the end.
	 */
	if (stack_memory_initial_end - sp - 1 < STACK_MEMORY_INITIAL_REACH - 1)
		return stack_memory_initial_end;
	/*
	 * ELF TLS, x86-64: the word at %fs:0 is the address of the thread
	 * control block.
	 */
	__asm__("movq %%fs:0, %0" : "=r"(block));
	if (stack_memory_thread_low != 0 && sp >= stack_memory_thread_low &&
	    sp < block)
		return block;
	return 0;
}

/* Begin a walk at 'sp', which points into the current stack. */
static inline __attribute__((always_inline)) void
stack_memory_init(struct stack_memory *memory, uintptr_t sp)
{
	const uintptr_t end = stack_memory_end(sp);

	memory->low = sp & ~(uintptr_t)7;
	memory->is_known = end != 0;
	memory->is_fixed = false;
	/*
	 * Without a known end, only the page of the stack pointer is sure to be
	 * mapped.
	 */
	memory->high = end != 0 ? end & ~(uintptr_t)7
				: (sp | (STACK_MEMORY_PAGE - 1)) + 1;
}

/*
 * Continue at 'sp' on another stack, to which the unwind rules of a function
 * lead.  Return false if 'sp' is not aligned, or if nothing can be read there.
 */
bool stack_memory_change(struct stack_memory *memory, uintptr_t sp);

/*
 * Try to extend 'memory' to the eight bytes at 'address', which are outside
 * 'memory'.  Return true if the bytes may be read.
 */
bool stack_memory_extend(struct stack_memory *memory, uintptr_t address);

/*
 * Read eight bytes.  Return false if 'address' is not on the stack or not
 * aligned.
 */
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
