/* SPDX-License-Identifier: MIT */
/* object_file.c - see object_file.h */
#ifdef HAVE_LIBDW

#include "tools/symbols/object_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of paths to try in each folder (object_file.h). */
#define PLACES 4u

/* Is this a build id from which the path of a file can be made? */
static bool
is_usable(const char *build_id)
{
	const size_t length = strlen(build_id);

	/*
	 * Allow only hexadecimal digits, because a '/' or ".." in an untrusted
	 * build id would lead out of the folder.
	 */
	return length > 2 && strspn(build_id, "0123456789abcdef") == length;
}

/*
 * Return path number 'place' of the PLACES paths in a folder.  The first
 * 'nbytes' bytes of 'folder' are the name of the folder.
 */
static char *
place_in(const char *folder, int nbytes, const char *path, const char *build_id,
	 unsigned place)
{
	const char *const slash = strrchr(path, '/');
	char *found = NULL;
	int ret;

	switch (place) {
	case 0:
	case 1:
		ret = asprintf(&found, "%.*s/.build-id/%.2s/%s%s", nbytes,
			       folder, build_id, build_id + 2,
			       place == 0 ? ".debug" : "");
		break;
	case 2:
		ret = asprintf(&found, "%.*s/%s", nbytes, folder, path);
		break;
	default:
		ret = asprintf(&found, "%.*s/%s", nbytes, folder,
			       slash != NULL ? slash + 1 : path);
	}
	return ret < 0 ? NULL : found;
}

char *
object_file_candidate(const char *path, const char *build_id,
		      const char *folders, unsigned n)
{
	const char *folder = folders;

	if (n == 0)
		return strdup(path);
	if (!is_usable(build_id))
		return NULL;
	for (unsigned i = (n - 1) / PLACES; i > 0; i--) {
		folder += strcspn(folder, ":");
		if (*folder == '\0')
			return NULL;
		folder++;
	}
	return place_in(folder, (int)strcspn(folder, ":"), path, build_id,
			(n - 1) % PLACES);
}

bool
object_file_is_of_build(Dwfl_Module *module, const char *build_id)
{
	const unsigned char *bits;
	GElf_Addr address;
	const int nbytes = dwfl_module_build_id(module, &bits, &address);
	char hex[2 * 64 + 1] = "";

	if (build_id[0] == '\0')
		return true;
	if (nbytes <= 0 || nbytes > 64)
		return false;
	for (int i = 0; i < nbytes; i++)
		snprintf(hex + 2 * i, 3, "%02x", bits[i]);
	return strcmp(hex, build_id) == 0;
}

#else
/* Declare something, because ISO C forbids an empty file. */
extern int object_file_without_libdw;
#endif
