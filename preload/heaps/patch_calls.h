/* SPDX-License-Identifier: MIT */
/*
 * patch_calls.h - intercept functions that a program may lack
 *
 * A program may test by a weak reference whether its allocator has a function.
 * If we exported that function, the test would always succeed.  So we do not
 * export these functions.  Instead, if an object with the real function is
 * loaded, we change the slots through which other objects call the real
 * function (in their global offset tables).  The slots then point to our
 * function.  A weak reference that the loader left null stays null.
 */
#ifndef PATCH_CALLS_H
#define PATCH_CALLS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/heaps/known_objects.h"
#include "preload/sys/elf_dynamic.h"

/* A slot that holds the address of the function 'name'. */
struct patch_slot {
	const struct dl_phdr_info *info; /* the object that has the slot */
	const struct dynamic *dynamic;	 /* tables of that object */
	const char *name;
	void **at;
	/*
	 * Is the slot one of the PLT?  The loader may bind such a slot only at
	 * the first call.
	 */
	bool is_call;
};

typedef void patch_slot_fn(const struct patch_slot *slot, void *context);

/*
 * Call 'fn' for each slot of the object 'info', whose tables are in 'dynamic'.
 */
void patch_each_slot(const struct dl_phdr_info *info,
		     const struct dynamic *dynamic, patch_slot_fn *fn,
		     void *context);

/*
 * Is this a slot of the PLT that points into its own object?  If it is, the
 * loader will bind the slot at the first call (lazy binding), or the object
 * calls a function of its own.
 */
bool patch_is_unbound(const struct patch_slot *slot);

/*
 * Store 'value' in a slot.  The object must have been relocated.  The loader
 * makes pages read-only after relocation, and we restore this protection.
 * Return false if the system refuses to make the slot writable.
 */
bool patch_write(const struct patch_slot *slot, void *value);

/*
 * The loader makes a range of 'nbytes' bytes from 'start' on read-only
 * (PT_GNU_RELRO).  Does the range include the page of 'address'?  The loader
 * rounds both ends of the range down to the system's page size, 'page_nbytes'.
 * If that size is larger than the linker expected, the page at the end of the
 * range stays writable.
 */
bool patch_is_sealed(uintptr_t start, size_t nbytes, uintptr_t address,
		     size_t page_nbytes);

struct patch {
	const char *name;
	void *ours;
	/* the real function; patch_calls() or its caller sets this */
	void *real;
	bool is_optional;
};

/*
 * Find the real functions, and make all loaded objects call ours instead.  Skip
 * the recorder and the object that defines the real functions.  'markers' are
 * names of functions, ended by NULL.
 *
 * Another library may have a function of the same name.  Therefore all real
 * functions and all markers must be in one object, and no object that was
 * loaded earlier may define a function with the name of a real function.  If an
 * optional function fails this test, set its 'real' to NULL; our replacement of
 * this function is then never called.  If another function or a marker fails
 * the test, patch nothing and return false.  The first function must not be
 * optional.
 *
 * Call this only where it is safe to take the loader's lock.
 */
bool patch_calls(struct patch *patches, size_t n, const char *const *markers);

/*
 * Make the loaded objects call our functions, as patch_calls() does, but skip
 * the objects in 'known'.  If 'known' is NULL, skip no object.  The caller has
 * set 'real' in each patch.  Skip a patch whose 'real' is NULL.
 */
void patch_new_objects(const struct patch *patches, size_t n,
		       const struct known_objects *known);

/* Return the patch with this name, or NULL. */
struct patch *patch_find(struct patch *patches, size_t n, const char *name);

#endif /* PATCH_CALLS_H */
