/* SPDX-License-Identifier: MIT */
/*
 * exe.h - the path of the executable of a process, from /proc
 */
#ifndef EXE_H
#define EXE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Read the path of the executable, "" if it is unknown.  False if the path has
 * a newline.
 */
bool exe_read(pid_t pid, char *exe, size_t cap);

#endif /* EXE_H */
