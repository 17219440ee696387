/* SPDX-License-Identifier: MIT */
/*
 * file.h - files that must be the ones we mean, and their descriptors
 *
 * For the writer thread, and for threads of the program that work for it.
 */
#ifndef FILE_H
#define FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Which file it is, whatever its name. */
struct file_id {
	uint64_t device, inode;
};

/*
 * 'fd', or a copy of it in its place: the lowest numbers are standard input,
 * output and error to whoever writes to them, say() among them.  -1 and errno:
 * there is no other number, and it is closed.
 */
int file_above_standard(int fd);

/* The folder of 'path', O_PATH; -1 and errno. */
int file_open_folder(const char *path);

/*
 * Remove the file at 'path' if it is that one.  'folder' is its folder, -1:
 * open that by 'path'.  Only the last part of 'path' is used after that, since
 * the parts before it may come to mean another place meanwhile.
 */
void file_unlink(int folder, const char *path, const struct file_id *id);

/* Which file is open by that descriptor? */
struct file_id file_id_of(int fd);

/*
 * Open a file again that must be that one, regular, and no link; 'flags' as
 * open(2).  Any thread.  -1 and errno: it is not there, or another.
 */
int file_reopen(const char *path, const struct file_id *id, int flags);

/*
 * Is 'name' in 'folder' that file?  Only with system calls that the writer
 * makes anyway:  a filter of the program may kill for others (sandbox.c).
 */
bool file_is_at(int folder, const char *name, const struct file_id *id);

#endif /* FILE_H */
