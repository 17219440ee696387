/* SPDX-License-Identifier: MIT */
/*
 * export.h - mark the functions that intercept calls of the program
 *
 * All others are hidden.  exports.map lists the exported names for the linker.
 */
#ifndef EXPORT_H
#define EXPORT_H

#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

/* From <stdlib.h> of C23, which this system may not have. */
void free_sized(void *p, size_t size);
void free_aligned_sized(void *p, size_t alignment, size_t size);

/* Declared by <malloc.h>, whose attributes do not matter here. */
void *memalign(size_t alignment, size_t size);
void *valloc(size_t size);
void *pvalloc(size_t size);

#endif /* EXPORT_H */
