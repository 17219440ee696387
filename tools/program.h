/* SPDX-License-Identifier: MIT */
/*
 * program.h - can this command be traced by LD_PRELOAD at all?
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <limits.h>

/*
 * Look 'command' up as execvp(3) will, and return why the dynamic loader will
 * not load libhatftrace.so into it ("statically linked"), or NULL if nothing
 * stands against it or nothing can be said.
 */
const char *program_untraceable(const char *command);

/*
 * Likewise return the name of the allocator that it has inside, whose calls come
 * by no preloaded library; NULL if there is none to be seen.
 */
const char *program_allocator(const char *command);

/*
 * Its base name after symbolic links, that of the interpreter for a script: what
 * libhatftrace.so goes by.
 */
void program_name(const char *command, char name[PATH_MAX]);

#endif /* PROGRAM_H */
