/* SPDX-License-Identifier: MIT */
/*
 * known_objects.h - which loaded objects are known from an earlier call
 *
 * A program may load and unload a library again and again, as ar(1) does for
 * each file.  Examining all objects each time would take long.  This module
 * says which objects need no second examination.
 *
 * dl_iterate_phdr() visits the objects in the order in which they were loaded.
 * So known objects come first, and new ones last.  All functions must be called
 * by one thread at a time.
 */
#ifndef KNOWN_OBJECTS_H
#define KNOWN_OBJECTS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct known_objects {
	/* the first 'count' objects in the loader's list are known */
	size_t count;
	/*
	 * 'count' is valid as long as the loader has counted this many unloads
	 */
	uint64_t unloads;
};

/*
 * From now on, only the objects that are loaded at this moment are known.  Call
 * this before known_objects_renew().
 */
void known_objects_begin(void);

/*
 * Return which objects were known before this call.  From now on, all objects
 * that are loaded at this moment are known.
 */
struct known_objects known_objects_renew(void);

/*
 * Is the object 'info', which dl_iterate_phdr() visits after 'index' others,
 * known?  If 'known' is NULL, no object is known.  If an object was unloaded
 * after known_objects_renew(), return false, since the objects after it have
 * moved up.
 */
static inline bool
known_objects_have(const struct known_objects *known,
		   const struct dl_phdr_info *info, size_t index)
{
	return known != NULL && index < known->count &&
	       info->dlpi_subs == known->unloads;
}

#endif /* KNOWN_OBJECTS_H */
