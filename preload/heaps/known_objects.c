/* SPDX-License-Identifier: MIT */
/*
 * known_objects.c - see known_objects.h
 *
 * The place of an object is the address of its program headers.  An object at
 * the place of a known object may be a new object, if the known object has been
 * unloaded.  To find out, count the unloads.  Suppose that n objects were
 * known, and that k objects have been unloaded since then.  The loader appends
 * new objects to its list.  So if the object at index i is new, only the i
 * objects before it can be known ones, and at least n - i known objects have
 * been unloaded.  If k is smaller than n - i, the object at index i is
 * therefore a known one.  If the object that had the index i before was at the
 * same place, the two are the same object, and no object with a lower index was
 * unloaded.
 */
#include "preload/heaps/known_objects.h"

/*
 * The number of objects whose places are kept.  After an unload, objects with a
 * higher index count as new.
 */
#define PLACES_MAX 1024u

/*
 * The objects that were loaded at the previous call of known_objects_begin() or
 * known_objects_renew(), and their places.  'place_count' is 0 until the first
 * known_objects_renew(), which follows a dlopen(): most programs never call
 * dlopen(), and should not touch the memory of 'places'.
 */
static struct known_objects last;
static const void *places[PLACES_MAX];
static size_t place_count;

struct pass {
	struct known_objects known; /* known objects visited so far */
	uint64_t unloads;	    /* the loader's count of unloads, now */
	size_t count;		    /* number of objects visited */
};

static int
count_object(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	struct known_objects *const now = context;

	(void)nbytes;
	now->unloads = info->dlpi_subs;
	now->count++;
	return 0;
}

void
known_objects_begin(void)
{
	last = (struct known_objects){ 0, 0 };
	dl_iterate_phdr(count_object, &last);
	place_count = 0;
}

/*
 * Is the object at 'index' the one that was there at the previous call of
 * known_objects_begin() or known_objects_renew()?
 */
static bool
is_same(const struct dl_phdr_info *info, size_t index)
{
	const uint64_t unloaded = info->dlpi_subs - last.unloads;

	if (unloaded == 0)
		return index < last.count;
	return index < place_count && unloaded < last.count - index &&
	       places[index] == info->dlpi_phdr;
}

static int
visit(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	struct pass *const pass = context;
	const size_t index = pass->count++;

	(void)nbytes;
	pass->unloads = info->dlpi_subs;
	if (pass->known.count == index && is_same(info, index))
		pass->known.count++;
	if (index < PLACES_MAX)
		places[index] = info->dlpi_phdr;
	return 0;
}

struct known_objects
known_objects_renew(void)
{
	struct pass pass = { .count = 0 };

	dl_iterate_phdr(visit, &pass);
	pass.known.unloads = pass.unloads;
	last = (struct known_objects){ pass.count, pass.unloads };
	place_count = pass.count < PLACES_MAX ? pass.count : PLACES_MAX;
	return pass.known;
}
