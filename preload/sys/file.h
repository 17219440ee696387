/* SPDX-License-Identifier: MIT */
/*
 * file.h - open, find and remove files by their identity; move descriptors
 *
 * These functions run on the writer thread or, while there is no writer thread,
 * on a thread of the program.  They may change errno.
 */
#ifndef FILE_H
#define FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Identity of a file, independent of its name. */
struct file_id {
	uint64_t device, inode;
};

/*
 * If 'fd' is 0, 1 or 2, duplicate it to a higher number and close the original,
 * because other code, such as say(), assumes that these numbers are standard
 * input, output and error.  Return the descriptor to use.  If the duplication
 * fails, close 'fd' and return -1 with errno.
 */
int file_above_standard(int fd);

/* Open the folder of 'path' with O_PATH.  Return -1 with errno on failure. */
int file_open_folder(const char *path);

/*
 * Remove the file at 'path' if it is the file 'id'.  'folder' is a descriptor
 * of the file's folder, or -1 to open the folder by 'path'.  If 'folder' is a
 * descriptor, use only the last component of 'path', since the other components
 * may lead to a different folder by now.
 */
void file_unlink(int folder, const char *path, const struct file_id *id);

/*
 * Return the identity of the file that is open as 'fd', or zeros if fstat(2)
 * fails.
 */
struct file_id file_id_of(int fd);

/*
 * Open the file at 'path' again.  'flags' are those of open(2).  The file must
 * be the regular file 'id', and not a symbolic link.  Return -1 with errno on
 * failure; errno is ESTALE if 'path' names another file.
 */
int file_reopen(const char *path, const struct file_id *id, int flags);

/*
 * Is 'name' in 'folder' the file 'id'?  A filter of system calls may kill the
 * process for a system call that the writer does not need.  Therefore this
 * function makes only system calls that the writer needs anyway (sandbox.c).
 */
bool file_is_at(int folder, const char *name, const struct file_id *id);

#endif /* FILE_H */
