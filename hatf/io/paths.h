/* SPDX-License-Identifier: MIT */
/* paths.h - take paths apart, and make paths of files in the same folder */
#ifndef HATF_PATHS_H
#define HATF_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* Return the part of 'path' after its last '/', or 'path' if it has no '/'. */
const char *paths_base(const char *path);

/*
 * Store in 'buf' the path of the file 'name' in the folder of 'path'.  Return
 * false if the result is longer than 'nbytes' - 1.
 */
bool paths_beside(const char *path, const char *name, char *buf, size_t nbytes);

#endif /* HATF_PATHS_H */
