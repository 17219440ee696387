/* SPDX-License-Identifier: MIT */
/*
 * driver_calls.h - the allocator under test
 *
 * This is either the allocator of the process, or a null allocator, which does
 * nothing and returns the same address for every block of a thread.
 */
#ifndef DRIVER_CALLS_H
#define DRIVER_CALLS_H

#include <stdbool.h>
#include <stddef.h>

struct driver_calls {
	void *(*malloc)(size_t nbytes);
	void *(*calloc)(size_t count, size_t nbytes);
	void *(*realloc)(void *p, size_t nbytes);
	void *(*memalign)(size_t alignment, size_t nbytes);
	void (*free)(void *p);
	/* NULL: the allocator has no such function. */
	size_t (*usable_size)(void *p);
};

/*
 * Find the allocation functions of this process.  All of them, except
 * 'usable_size', must belong to one library, because an allocator cannot free
 * blocks of another allocator.  Write that library's path to 'library', of
 * 'cap' bytes.  Return NULL, or a static text that says what is wrong.
 */
const char *driver_calls_find(struct driver_calls *calls, char *library,
			      size_t cap);

/*
 * Store the address of the process's function 'name' in the function pointer at
 * 'to'.  Return whether this function is in the library that defines malloc.
 */
bool driver_calls_own(const char *name, void *to);

/* Use the null allocator. */
void driver_calls_null(struct driver_calls *calls);

#endif /* DRIVER_CALLS_H */
