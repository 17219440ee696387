/* SPDX-License-Identifier: MIT */
/* exe.c - see exe.h */
#include "tools/control/exe.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool
exe_read(pid_t pid, char *exe, size_t cap)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%ld/exe", (long)pid);
	n = readlink(path, exe, cap - 1);
	exe[n < 0 ? 0 : n] = '\0';
	/* A value must fit on one line. */
	return strchr(exe, '\n') == NULL;
}
