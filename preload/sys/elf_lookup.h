/* SPDX-License-Identifier: MIT */
/*
 * elf_lookup.h - find a function by name without the help of the loader
 *
 * dlsym() takes the loader's lock, which another thread may hold for as long as
 * a constructor runs, allocates, and changes what dlerror() says.  This walks
 * the loaded objects by dl_iterate_phdr(3), whose lock is held only while the
 * list of objects changes, and reads their symbol tables itself.
 */
#ifndef ELF_LOOKUP_H
#define ELF_LOOKUP_H

#include <stdbool.h>

#include "preload/sys/elf_dynamic.h"

/*
 * The first definition of the function 'name' in the objects that were loaded
 * after us, in their order, private ones too (a plug-in may bring its C++
 * library for itself).  NULL: there is none.  '*together_ret': is it in the
 * object that holds 'companion'?
 */
void *elf_lookup_function(const char *name, const void *companion,
			  bool *together_ret);

/* A function by name, and where it is, or NULL. */
struct elf_lookup_next {
	const char *name;
	void *found;
	uint32_t hash; /* of the name; elf_lookup_next()'s own, like the next */
	bool is_settled;
};

/*
 * Look 'n' of them up at once, as dlsym(RTLD_NEXT) would each.  One stays NULL
 * that is nowhere, or of which only the loader knows which one it is; ask it
 * then.  This calls 'iterate', which is dl_iterate_phdr(3), and may be the
 * first thing that we do.
 */
void elf_lookup_next(
	struct elf_lookup_next *wanted, size_t n,
	int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *));

/*
 * Is 'address' the first definition of 'name' in all objects but ours, those
 * before us too: what the others call by that name?
 */
bool elf_lookup_is_first(const char *name, const void *address);

/* What the loaded objects but ours have of a name, in their order. */
struct elf_lookup_all {
	void *first;	/* the first definition, also before us; or NULL */
	void *next;	/* the first one after us; or NULL */
	unsigned count; /* of definitions */
};
struct elf_lookup_all elf_lookup_all(const char *name);

/* The function that we export by this name, or NULL. */
void *elf_lookup_own(const char *name);

/* Does the object with these tables define the name? */
bool elf_lookup_defines(const struct dynamic *dynamic, const char *name);

/*
 * The name of the object that 'address' is in, as the loader has it, or NULL.
 */
const char *elf_lookup_object(const void *address);

#endif /* ELF_LOOKUP_H */
