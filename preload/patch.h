/* SPDX-License-Identifier: MIT */
/*
 * patch.h - stand in front of functions that may not be there
 *
 * A function that we export is there for every program, also for one that asks by a
 * weak reference whether it has an allocator with such a function.  So these are not
 * exported: where the real one is loaded, the places from which the other objects
 * call it (their global offset tables) are changed to call ours.  A reference that
 * found nothing stays null.
 */
#ifndef PATCH_H
#define PATCH_H

#include <stdbool.h>
#include <stddef.h>

struct patch {
	const char *name;
	void *ours;
	void *real; /* filled in */
	bool is_optional;
};

/*
 * Find the real functions and have all objects that are loaded call ours instead,
 * but for the one that defines them.  Does nothing, and returns false, if one of
 * them is not there, or not in the same object as the others and as the 'markers',
 * which are names of functions, up to a NULL: another library's function of the
 * same name is to stay as it is.  An optional one that is not there has a NULL and
 * is never called; the first may not be one.  To be called where the loader's lock
 * may be taken.
 */
bool patch_calls(struct patch *patches, size_t n, const char *const *markers);

/* The same with real functions that are known, and ours. */
void patch_known(struct patch *patches, size_t n);

/* The one with this name, or NULL. */
struct patch *patch_find(struct patch *patches, size_t n, const char *name);

#endif /* PATCH_H */
