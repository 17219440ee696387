/* SPDX-License-Identifier: MIT */
/* paths.h - names of files that belong to one another */
#ifndef HATF_PATHS_H
#define HATF_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* What comes after the last '/' of 'path'. */
const char *paths_base(const char *path);

/*
 * The name of the file 'name' in the folder of 'path', into 'buf'.  False: it is too
 * long.
 */
bool paths_beside(const char *path, const char *name, char *buf, size_t nbytes);

#endif /* HATF_PATHS_H */
