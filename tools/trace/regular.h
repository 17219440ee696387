/* SPDX-License-Identifier: MIT */
/* regular.h - open a file that somebody else has named */
#ifndef REGULAR_H
#define REGULAR_H

#include <sys/types.h>

/*
 * Open 'path' for reading as hatf_file_open_found() does, if there is something in
 * the file.  Returns a descriptor and '*owner_ret', or -1 with errno.  EINVAL:
 * the file is a link, no regular file or the kernel's own; ENODATA: the file is
 * empty.
 */
int regular_open(const char *path, uid_t *owner_ret);

#endif /* REGULAR_H */
