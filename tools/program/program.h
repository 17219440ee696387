/* SPDX-License-Identifier: MIT */
/* program.h - can LD_PRELOAD trace this command? */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <limits.h>
#include <stdbool.h>

/*
 * Look up 'command' as execvp(3) does.  Return why libhatftrace.so cannot
 * record it (for a script: its interpreter): "statically linked" or "built with
 * ThreadSanitizer".  NULL if there is no obstacle or if the answer is unknown.
 * Static.
 */
const char *program_untraceable(const char *command);

/* Is it valgrind, which cannot run a traced program? */
bool program_is_valgrind(const char *command);

/*
 * Can the dynamic loader map 'path'?  False for a file of another machine or on
 * a file system mounted "noexec", for example.  Checks only what is visible
 * without loading.
 */
bool program_is_library(const char *path);

/*
 * Write the base name after resolving symbolic links, which libhatftrace.so
 * uses as the name of the program.  For a script, that is the name of its
 * interpreter.
 */
void program_name(const char *command, char name[PATH_MAX]);

#endif /* PROGRAM_H */
