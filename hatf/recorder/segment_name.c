/* SPDX-License-Identifier: MIT */
/* segment_name.c - see segment_name.h */
#include "hatf/recorder/segment_name.h"

#include <string.h>

const char *
segment_name_place(const char *path)
{
	const char *const slash = strrchr(path, '/');
	const char *const base = slash != NULL ? slash + 1 : path;
	const char *place = NULL;

	for (const char *p = strstr(base, ".hatf"); p != NULL;
	     p = strstr(p + 1, ".hatf"))
		place = p;
	if (place != NULL)
		return place;
	place = base + strlen(base);
	if (place - base > 3 && strcmp(place - 3, ".gz") == 0)
		return place - 3;
	return place;
}
