/* SPDX-License-Identifier: MIT */
/*
 * object_table.h - a number for each program and library that frames lie in
 *
 * An object keeps its number as long as it is loaded.  One that comes after it
 * to the same place gets another number, and the stacks of the old one are not
 * found again (stack_table_retire()).
 *
 * Any thread and any handler may call these functions.  A new object takes a
 * lock of ours, with all signals blocked, and reads /proc/self/exe.
 */
#ifndef OBJECT_TABLE_H
#define OBJECT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hatf/rings/stack_image.h"

/* Map the table, of object_table_nbytes(); false: no memory. */
size_t object_table_nbytes(void);
bool object_table_init(void);

/* The number of the object that holds 'address'; 0: none, or too many. */
uint32_t object_table_find(uintptr_t address);

/* The object with this number, which object_table_find() has returned. */
const struct stack_image_object *object_table_get(uint32_t id);

/* An object may have been unloaded: retire those that are not there. */
void object_table_check(void);

#endif /* OBJECT_TABLE_H */
