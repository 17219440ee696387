/* SPDX-License-Identifier: MIT */
/*
 * size_class.h - size classes, for traces whose calls have no stacks
 *
 * The classes are, in bytes: 0; 1; 2; 3 and 4; 5 to 8; and so on.  Any thread
 * may call these functions.
 */
#ifndef HATF_SIZE_CLASS_H
#define HATF_SIZE_CLASS_H

#include <stddef.h>
#include <stdint.h>

#define SIZE_CLASS_COUNT 66

/* Return the class of a size; all classes are below SIZE_CLASS_COUNT. */
static inline unsigned
size_class_of(uint64_t size)
{
	if (size <= 1)
		return (unsigned)size;
	return 65 - (unsigned)__builtin_clzll(size - 1);
}

/*
 * Write the name of a class, such as "17 to 32 bytes", to 'buf' of 'cap' bytes.
 */
void size_class_name(unsigned size_class, char *buf, size_t cap);

#endif /* HATF_SIZE_CLASS_H */
