/* SPDX-License-Identifier: MIT */
/* regular.h - open a file that somebody else has named */
#ifndef REGULAR_H
#define REGULAR_H

#include <sys/types.h>

/*
 * Open 'path' for reading if it is a regular file with something in it, and
 * none of the kernel's in /proc or /sys, for to read such a one can have
 * effects.  It is looked at before it is opened: a pipe would make us
 * wait, a device do something.  Returns a descriptor and '*owner_ret', or -1
 * with errno; EINVAL: it is no such file, ENODATA: there is nothing in it.
 */
int regular_open(const char *path, uid_t *owner_ret);

#endif /* REGULAR_H */
