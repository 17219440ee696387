/* SPDX-License-Identifier: MIT */
/*
 * patch_calls.h - stand in front of functions that may not be there
 *
 * A function that we export is there for every program, also for one that asks
 * by a weak reference whether it has an allocator with such a function.  So
 * these are not exported: where the real one is loaded, the places from which
 * the other objects call it (their global offset tables) are changed to call
 * ours.  A reference that found nothing stays null.
 */
#ifndef PATCH_CALLS_H
#define PATCH_CALLS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/sys/elf_dynamic.h"

/* A place in an object that holds the address of a function which it names. */
struct patch_slot {
	const struct dl_phdr_info *info; /* of the object */
	const struct dynamic *dynamic;	 /* likewise */
	const char *name;
	void **at;
	bool is_call; /* the loader may fill it in at the first call */
};

typedef void patch_slot_fn(const struct patch_slot *slot, void *context);

/* Call 'fn' for each slot of an object, which has these tables. */
void patch_each_slot(const struct dl_phdr_info *info,
		     const struct dynamic *dynamic, patch_slot_fn *fn,
		     void *context);

/* Has the loader left this call to be looked up when it is first made? */
bool patch_is_unbound(const struct patch_slot *slot);

/*
 * Let a slot hold 'value'.  The object must have been relocated: the loader
 * makes its pages read-only after that, and we make the slot's page so again.
 * False: the system does not let us write there.
 */
bool patch_write(const struct patch_slot *slot, void *value);

/*
 * Does the loader make the page that holds 'address' read-only, when it has to
 * protect 'nbytes' bytes from 'start' on?  It rounds both ends down to pages of
 * the size that the system has, which may be larger than the linker expected:
 * the page in which the range ends then stays writable.
 */
bool patch_is_sealed(uintptr_t start, size_t nbytes, uintptr_t address,
		     size_t page_nbytes);

struct patch {
	const char *name;
	void *ours;
	void *real; /* filled in */
	bool is_optional;
};

/*
 * Find the real functions and have all objects that are loaded call ours
 * instead, but for the one that defines them.  Does nothing, and returns false,
 * if one of them is not there, or not in the same object as the others and as
 * the 'markers', which are names of functions, up to a NULL: another library's
 * function of the same name is to stay as it is.  An optional one that is not
 * there has a NULL and is never called; the first may not be one.  To be called
 * where the loader's lock may be taken.
 */
bool patch_calls(struct patch *patches, size_t n, const char *const *markers);

/* The same with real functions that are known, and ours. */
void patch_known(struct patch *patches, size_t n);

/* The one with this name, or NULL. */
struct patch *patch_find(struct patch *patches, size_t n, const char *name);

#endif /* PATCH_CALLS_H */
