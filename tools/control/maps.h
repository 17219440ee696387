/* SPDX-License-Identifier: MIT */
/* maps.h - the files that a process maps, from /proc */
#ifndef MAPS_H
#define MAPS_H

#include <stdbool.h>
#include <sys/types.h>

typedef bool maps_test(const char *line, const void *context);

/*
 * Does a line of the maps of 'pid' pass 'test'?  False with errno EACCES: we
 * may not read them.
 */
bool maps_find(pid_t pid, maps_test *test, const void *context);

/* Is the line of a file with this inode number, whose path has this end? */
bool maps_is_file(const char *line, const char *end, unsigned long long inode);

#endif /* MAPS_H */
