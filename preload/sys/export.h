/* SPDX-License-Identifier: MIT */
/*
 * export.h - mark the functions that intercept calls of the program
 *
 * All functions without the mark are hidden.  exports.map lists the exported
 * names for the linker.
 */
#ifndef EXPORT_H
#define EXPORT_H

#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

/*
 * <stdlib.h> declares these since C23, but this system's <stdlib.h> may be
 * older.
 */
void free_sized(void *p, size_t size);
void free_aligned_sized(void *p, size_t alignment, size_t size);

/* Also declared by <malloc.h>, with attributes that are not needed here. */
void *memalign(size_t alignment, size_t size);
void *valloc(size_t size);
void *pvalloc(size_t size);

/*
 * For a function that the program calls for each event.  The function's code
 * begins at the start of a cache line, so it is in as few cache lines as
 * possible.
 */
#define EXPORT_HOT EXPORT __attribute__((aligned(64)))

#endif /* EXPORT_H */
