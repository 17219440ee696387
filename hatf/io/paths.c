/* SPDX-License-Identifier: MIT */
/* paths.c - see paths.h */
#include "hatf/io/paths.h"

#include <stdio.h>
#include <string.h>

const char *
paths_base(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

bool
paths_beside(const char *path, const char *name, char *buf, size_t nbytes)
{
	const char *const slash = strrchr(path, '/');
	const int n = snprintf(buf, nbytes, "%.*s%s",
			       slash != NULL ? (int)(slash - path + 1) : 0,
			       path, name);

	return n > 0 && (size_t)n < nbytes;
}
