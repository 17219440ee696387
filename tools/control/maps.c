/* SPDX-License-Identifier: MIT */
/* maps.c - see maps.h */
#include "tools/control/maps.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
maps_find(pid_t pid, maps_test *test, const void *context)
{
	char path[64], line[PATH_MAX + 128];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/maps", (long)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), f) != NULL)
		found = test(line, context);
	fclose(f);
	errno = 0;
	return found;
}

/*
 * Parse the inode number in a line of /proc/PID/maps, after the addresses,
 * permissions, offset and device.
 */
static unsigned long long
inode_of(const char *line)
{
	for (unsigned field = 0; field < 4 && line != NULL; field++) {
		line = strchr(line, ' ');
		if (line != NULL)
			line++;
	}
	return line != NULL ? strtoull(line, NULL, 10) : 0;
}

bool
maps_is_file(const char *line, const char *end, unsigned long long inode)
{
	const size_t length = strcspn(line, "\n"), n = strlen(end);

	return length >= n && memcmp(line + length - n, end, n) == 0 &&
	       inode_of(line) == inode;
}
