/* SPDX-License-Identifier: MIT */
/*
 * mapped_library.h - a shared library, mapped without the loader
 *
 * The recorder loads isa-l only when a trace turns out to be long, so that a
 * short process does not pay for it, and in a thread that may not call the
 * loader.  So the library is mapped here: its segments as its file says, its
 * relocations against its own symbols and a few of libc's.  Neither the program
 * nor the loader sees it.
 *
 * That is enough for a library that only computes.  One with thread-local
 * variables, with functions chosen by the loader (IFUNC), or with a need for
 * more of libc is refused.  Nothing here allocates, locks or calls the loader.
 */
#ifndef MAPPED_LIBRARY_H
#define MAPPED_LIBRARY_H

#include <stdbool.h>

struct mapped_library_function {
	const char *name;
	void *address; /* where it is, once the library is mapped */
};

/*
 * Map the library with this file name from one of the system's folders for
 * libraries, and find the 'n' functions.  The library is never unmapped.
 * False:  there is no such library, or it is refused.  Changes errno.
 */
bool mapped_library_open(const char *name,
			 struct mapped_library_function *functions, unsigned n);

#endif /* MAPPED_LIBRARY_H */
