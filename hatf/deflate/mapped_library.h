/* SPDX-License-Identifier: MIT */
/*
 * mapped_library.h - a shared library, mapped without the loader
 *
 * The recorder loads isa-l when it first compresses a block, so that short
 * processes spend no time on it.  It loads isa-l earlier if it is about to give
 * up its own access to the library's folder (see
 * preload/writer/writer_reach.c).  The recorder must not call the loader.  So
 * this module maps the library by itself: it maps the segments of the ELF file
 * and applies the relocations.  The relocations may refer to the library's own
 * symbols and to a few functions of libc.  Neither the program nor the loader
 * knows of the library.
 *
 * Such a mapping is sufficient for a library that only computes.  A library is
 * refused if it has thread-local variables or functions that the loader selects
 * (IFUNC), or if it needs other functions of libc.  Nothing here allocates,
 * locks or calls the loader.  Any thread may call mapped_library_open().
 */
#ifndef HATF_MAPPED_LIBRARY_H
#define HATF_MAPPED_LIBRARY_H

#include <stdbool.h>

struct mapped_library_function {
	const char *name;
	void *address; /* the result: the address of the function */
};

/*
 * Map the library with the file name 'name' from one of the system's library
 * folders, and set the addresses of the 'n' functions.  Nothing unmaps the
 * library later.  Return false if there is no such library, if it is refused,
 * or if it lacks one of the functions.  This call may change errno.
 */
bool mapped_library_open(const char *name,
			 struct mapped_library_function *functions, unsigned n);

#endif /* HATF_MAPPED_LIBRARY_H */
