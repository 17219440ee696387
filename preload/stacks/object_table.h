/* SPDX-License-Identifier: MIT */
/*
 * object_table.h - a number for each program and library in call stacks
 *
 * An object keeps its number as long as it is loaded.  An object that is loaded
 * later at the same address gets another number, and a search no longer finds
 * stacks of the old object (stack_table_retire()).
 *
 * Any thread and any signal handler may call these functions.  Adding an object
 * takes a spin lock of this file, with all signals blocked.  Adding the program
 * itself also reads /proc/self/exe, and adding a library with a relative path
 * asks the kernel for the working directory.
 */
#ifndef OBJECT_TABLE_H
#define OBJECT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hatf/rings/stack_image.h"

/*
 * object_table_nbytes() returns the size of the table.  object_table_init()
 * maps it and returns false if there is no memory.
 */
size_t object_table_nbytes(void);
bool object_table_init(void);

/*
 * Return the number of the object that contains 'address'; 0 if there is none,
 * or if all numbers are used.
 */
uint32_t object_table_find(uintptr_t address);

/*
 * Return the object with the number 'id'.  'id' must be a number that
 * object_table_find() has returned, and not 0.
 */
const struct stack_image_object *object_table_get(uint32_t id);

/*
 * Retire the objects that are no longer loaded.  Call this when objects may
 * have been unloaded.
 */
void object_table_check(void);

#endif /* OBJECT_TABLE_H */
