/* SPDX-License-Identifier: MIT */
/*
 * code_object.h - find the program or library that contains an instruction
 *
 * If the recorder was built with glibc 2.35 or later, and the process has such
 * a glibc, too, we call _dl_find_object(3), which takes no lock and allocates
 * nothing, and may run in a signal handler.  Otherwise we call
 * dl_iterate_phdr(3).  That function takes a lock of the loader, so the caller
 * must not hold a lock of the recorder.
 */
#ifndef CODE_OBJECT_H
#define CODE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/stacks/cfi.h"

struct code_object {
	uintptr_t begin,
		end; /* the object's memory, from 'begin' to before 'end' */
	/*
	 * The start of the segment that contains the instruction; 0 if the
	 * segment is not both executable and readable.  Read no code below this
	 * address, because an object can have unreadable memory between its
	 * segments.
	 */
	uintptr_t code_begin;
	/* Address in memory minus address in the file. */
	uintptr_t base;
	/* A string that the loader owns; "" for the program itself. */
	const char *path;
	/* section.index is NULL if no unwind tables were found. */
	struct cfi_section section;
};

/* Call this before the first call of code_object_find(). */
void code_object_init(void);

/*
 * Find the object with the instruction at 'pc'; return false if there is none.
 */
bool code_object_find(uintptr_t pc, struct code_object *object_ret);

/*
 * Find the build id of an object by its program headers.  Return its bytes,
 * which are valid while the object is loaded, or NULL.
 */
const uint8_t *code_object_build_id(const struct code_object *object,
				    size_t *nbytes_ret);

#endif /* CODE_OBJECT_H */
