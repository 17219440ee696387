/* SPDX-License-Identifier: MIT */
/*
 * code_object.h - which program or library holds an instruction
 *
 * From glibc 2.35 on, _dl_find_object(3) answers without a lock and without
 * memory, also in a signal handler.  Elsewhere dl_iterate_phdr(3) does, which
 * takes the loader's lock; the caller holds no lock of the recorder.
 */
#ifndef CODE_OBJECT_H
#define CODE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/stacks/cfi.h"

struct code_object {
	uintptr_t begin, end; /* its memory: [begin, end) */
	uintptr_t base;	      /* its addresses less those in the file */
	const char *path;     /* the loader's; "" for the program itself */
	struct cfi_section section; /* 'index' is NULL without unwind tables */
};

/* Once, before the first call of code_object_find(). */
void code_object_init(void);

/* Find the object with the instruction at 'pc'; false: there is none. */
bool code_object_find(uintptr_t pc, struct code_object *object_ret);

/*
 * Find the build id of an object, as its program headers say: return its bytes,
 * which live as long as the object is loaded, or NULL.
 */
const uint8_t *code_object_build_id(const struct code_object *object,
				    size_t *nbytes_ret);

#endif /* CODE_OBJECT_H */
