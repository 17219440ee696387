/* SPDX-License-Identifier: MIT */
/*
 * elf_lookup.h - find a function by name without the help of the loader
 *
 * dlsym() takes the loader's lock, which another thread may hold for as long as
 * a constructor runs.  dlsym() may also allocate, and change what dlerror()
 * returns.  These functions find the loaded objects by dl_iterate_phdr(3), and
 * search the symbol tables themselves.  They find no name in an object that has
 * neither DT_GNU_HASH nor DT_HASH.  The lock of dl_iterate_phdr(3) is held only
 * while the list of objects changes or is read.
 */
#ifndef ELF_LOOKUP_H
#define ELF_LOOKUP_H

#include <stdbool.h>

#include "preload/sys/elf_dynamic.h"

/*
 * Return the first definition of the function 'name' in the objects loaded
 * after us, in load order, or NULL.  Objects loaded with RTLD_LOCAL count, too,
 * because a plug-in may have its own C++ library.  Set '*together_ret' to
 * whether the object that has the definition also contains the address
 * 'companion'.
 */
void *elf_lookup_function(const char *name, const void *companion,
			  bool *together_ret);

/* A function to look up: its name, and its address (NULL: not found). */
struct elf_lookup_next {
	const char *name;
	void *found;
	uint32_t hash; /* private to elf_lookup_next(), like the next member */
	bool is_settled;
};

/*
 * Look up 'n' functions in one pass, each as dlsym(RTLD_NEXT) would.  If
 * 'found' stays NULL, either no object defines the function, or only the loader
 * can choose the definition; the caller must then call dlsym().  'iterate' must
 * be libc's dl_iterate_phdr(3), because our library exports a function of this
 * name.  This function may run before any other code of the recorder.
 */
void elf_lookup_next(
	struct elf_lookup_next *wanted, size_t n,
	int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *));

/*
 * Is 'address' the first definition of 'name' in all objects except ours,
 * including those loaded before us?  If so, and if our object does not define
 * the name, the loader binds calls in other objects to 'address'.
 */
bool elf_lookup_is_first(const char *name, const void *address);

/* The definitions of a name in all loaded objects but ours, in load order. */
struct elf_lookup_all {
	/* The first definition, even in an object before us; or NULL. */
	void *first;
	/* the first definition in an object after us; or NULL */
	void *next;
	unsigned count; /* number of definitions */
};
struct elf_lookup_all elf_lookup_all(const char *name);

/* Return the function that we export by this name, or NULL. */
void *elf_lookup_own(const char *name);

/* Does the object with these tables define the name? */
bool elf_lookup_defines(const struct dynamic *dynamic, const char *name);

/*
 * Return the loader's name of the object that contains 'address', or NULL if no
 * object does.  The program's own name is "".
 */
const char *elf_lookup_object(const void *address);

/* Does the object that contains 'address' define the function 'name'? */
bool elf_lookup_beside(const void *address, const char *name);

#endif /* ELF_LOOKUP_H */
