/* SPDX-License-Identifier: MIT */
/* maps.h - the files that a process maps, from /proc */
#ifndef MAPS_H
#define MAPS_H

#include <stdbool.h>
#include <sys/types.h>

typedef bool maps_test(const char *line, const void *context);

/*
 * Does 'test' accept any line of /proc/PID/maps?  If the file cannot be opened,
 * return false, and leave errno as fopen() has set it: EACCES if hatf may not
 * read the file.  Otherwise set errno to 0.
 */
bool maps_find(pid_t pid, maps_test *test, const void *context);

/*
 * Does 'line' describe a mapping of a file that has this inode number and whose
 * path ends in 'end'?
 */
bool maps_is_file(const char *line, const char *end, unsigned long long inode);

#endif /* MAPS_H */
