/* SPDX-License-Identifier: MIT */
/*
 * deflate_library.h - a shared library, mapped without the loader
 *
 * The recorder wants isa-l when a trace turns out to be long, in a thread that may not
 * call the loader, and a process that ends before is to have no cost of it.  So the
 * library is mapped here: its segments as its file says, its relocations against its
 * own symbols and a few of libc's.  Neither the program nor the loader sees it.
 *
 * That does for a library that computes: one with thread-local variables, with
 * functions chosen by the loader (IFUNC), or with a need for more of libc is refused.
 * Nothing here allocates, locks or calls the loader.
 */
#ifndef HATF_DEFLATE_LIBRARY_H
#define HATF_DEFLATE_LIBRARY_H

#include <stdbool.h>

struct deflate_function {
	const char *name;
	void *address; /* where it is, once the library is mapped */
};

/*
 * Map the library with this file name, from where libraries are, and find the 'n'
 * functions.  It stays for ever.  False: there is none, or none that this can do.
 * Changes errno.
 */
bool deflate_library_map(const char *name, struct deflate_function *functions,
			 unsigned n);

#endif /* HATF_DEFLATE_LIBRARY_H */
