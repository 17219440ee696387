/* SPDX-License-Identifier: MIT */
/*
 * export.h - the mark of a function that the program's calls are to reach
 *
 * All others are hidden; exports.map lists the names once more for the linker.
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
