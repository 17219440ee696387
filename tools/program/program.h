/* SPDX-License-Identifier: MIT */
/* program.h - can LD_PRELOAD trace this command? */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <limits.h>
#include <stdbool.h>

/*
 * Look up 'command' as execvp(3) does.  Return why libhatftrace.so cannot
 * record this program, such as "statically linked"; for a script, judge its
 * interpreter.  The string is static.  Return NULL if there is no obstacle or
 * if the answer is unknown.
 */
const char *program_untraceable(const char *command);

/* Is the command valgrind?  Programs under valgrind cannot be traced. */
bool program_is_valgrind(const char *command);

/*
 * Can the dynamic loader map 'path'?  Return false, for example, if the file is
 * for another machine, or if its file system is mounted "noexec".  This
 * function checks only the ELF header, and that the file can be mapped as code.
 */
bool program_is_library(const char *path);

/*
 * Write the name that libhatftrace.so gives the program: the base name after
 * resolving symbolic links.  For a script, this is the name of its interpreter.
 */
void program_name(const char *command, char name[PATH_MAX]);

#endif /* PROGRAM_H */
