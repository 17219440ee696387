/* SPDX-License-Identifier: MIT */
/* paths.h - names of files that belong together */
#ifndef HATF_PATHS_H
#define HATF_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* Return the part of 'path' after its last '/'. */
const char *paths_base(const char *path);

/*
 * Store the path of 'name' in the folder of 'path' in 'buf'.  Return false if
 * it is longer than 'nbytes' - 1.
 */
bool paths_beside(const char *path, const char *name, char *buf, size_t nbytes);

#endif /* HATF_PATHS_H */
