/* SPDX-License-Identifier: MIT */
/* allocators.h - find the allocators that a trace is replayed with */
#ifndef ALLOCATORS_H
#define ALLOCATORS_H

#include <limits.h>
#include <stdbool.h>

#define ALLOCATORS_MAX 16

struct allocator {
	const char *label; /* as the user wrote it; borrowed */
	/* "VAR=VALUE ..." at the end of 'label', or "" */
	const char *environment;
	char library[PATH_MAX]; /* library to preload; "": libc's allocator */
	bool is_path;		/* the user gave the path of the library */
};

struct allocators {
	struct allocator list[ALLOCATORS_MAX];
	unsigned count;
};

/*
 * Append an allocator by its NAME, or by the PATH of its library, which
 * contains a slash.  The syntax of 'text':
 *
 *	(NAME | PATH) [":" VAR "=" VALUE {" " VAR "=" VALUE}]
 *
 * If 'text' is wrong, if there is no such allocator, or if there are too many
 * allocators, print a message and return false.
 */
bool allocators_add(struct allocators *all, const char *text);

/* Append libc's allocator and each known one that is installed. */
void allocators_add_installed(struct allocators *all);

#endif /* ALLOCATORS_H */
