/* SPDX-License-Identifier: MIT */
/*
 * program.h - can this command be traced by LD_PRELOAD at all?
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <limits.h>
#include <stdbool.h>

/*
 * Look 'command' up as execvp(3) will, and return why libhatftrace.so cannot
 * record it, or the interpreter of a script: what it is, "statically linked" or
 * "built with ThreadSanitizer"; or NULL if nothing stands against it or nothing
 * can be said.  Static.
 */
const char *program_untraceable(const char *command);

/* Is it valgrind, which runs no program that has a tracer? */
bool program_is_valgrind(const char *command);

/* Can the dynamic loader of this machine map 'path', as far as it is to be
 * seen?  Not where the file system is mounted "noexec", say. */
bool program_is_library(const char *path);

/*
 * Its base name after symbolic links, that of the interpreter for a script: what
 * libhatftrace.so goes by.
 */
void program_name(const char *command, char name[PATH_MAX]);

#endif /* PROGRAM_H */
