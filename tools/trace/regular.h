/* SPDX-License-Identifier: MIT */
/* regular.h - open a file whose name comes from an untrusted source */
#ifndef REGULAR_H
#define REGULAR_H

#include <sys/types.h>

/*
 * Open 'path' for reading as hatf_file_open_found() does.  Return a descriptor
 * and set '*owner_ret' to the owner of the file, or return -1 with errno.
 * EINVAL: 'path' is a symbolic link, is not a regular file, or is a file of the
 * kernel, as in /proc.  ENODATA: the file is empty.
 */
int regular_open(const char *path, uid_t *owner_ret);

#endif /* REGULAR_H */
