/* SPDX-License-Identifier: MIT */
/*
 * checked_file.h - open a file whose name came from another file or a folder
 *
 * A trace names its ring file and the trace of the parent process, a ring file
 * names its trace, and a folder may contain anything.  An attacker may have
 * written any of these, and the user who opens the file may be root.  So these
 * functions check a file before they open it.  The file must be regular.  It
 * must not be in a pseudo file system of the kernel, where merely reading can
 * block or change something.  Only checked_file_open_link() follows a symbolic
 * link in the last component.  No open() here waits for another process or
 * reaches a device.  checked_file_open_untrusted() also triggers no automount
 * on the way.
 *
 * Somebody may at any time let a name refer to another file.  So a checked file
 * is identified by its descriptor and the descriptor of its folder.
 * checked_file_remove() removes the file only from that folder, and only if its
 * name there still refers to the same file.
 *
 * Functions that fail set errno: ELOOP for a symbolic link, EISDIR for a
 * directory, EPERM for a file of another owner, ENOTSUP for any other file that
 * is refused, or the error of the system call.  Any thread may call these
 * functions.
 */
#ifndef HATF_CHECKED_FILE_H
#define HATF_CHECKED_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct checked_file {
	int dir_fd;	/* the file's folder, an O_PATH descriptor; -1: none */
	int fd;		/* descriptor of the file; -1: none */
	struct stat st; /* the file's status after it was opened */
	char name[NAME_MAX + 1];
};

#define CHECKED_FILE_NONE              \
	{                              \
		.dir_fd = -1, .fd = -1 \
	}

/*
 * Open the file at 'path'; 'access' is O_RDONLY or O_RDWR.  The user must have
 * named the folder, because the function follows symbolic links on the path to
 * the folder.  It refuses a file that is itself a symbolic link.  Close the
 * file with checked_file_close().
 */
bool checked_file_open(struct checked_file *f, const char *path, int access);

/*
 * Like checked_file_open(), but for the file 'name', which has no '/', in the
 * folder 'dir_fd'.  The caller keeps 'dir_fd'.
 */
bool checked_file_open_in(struct checked_file *f, int dir_fd, const char *name,
			  int access);

/*
 * Like checked_file_open(), but for a path that another file names.  The path
 * must be absolute, each folder on the way is checked too, and the file must
 * belong to 'owner' (else EPERM).
 */
bool checked_file_open_untrusted(struct checked_file *f, const char *path,
				 int access, uid_t owner);

/*
 * Open for reading the file at a path that the user gave.  If the path is a
 * symbolic link, follow the link and check the file to which it refers.  Return
 * a descriptor, which the caller owns, or -1.
 */
int checked_file_open_link(const char *path);

/*
 * The user gave 'path'.  Open the folder that contains the file at 'path'.
 * Return an O_PATH descriptor, which the caller owns, or -1.
 */
int checked_file_folder(const char *path);

/*
 * Like checked_file_open_link(), but fail if the path itself is a symbolic
 * link.
 */
int checked_file_open_found(const char *path);

/* Do 'a' and 'b' describe the same file? */
bool checked_file_is_same(const struct stat *a, const struct stat *b);

/*
 * Remove the file from its folder.  If that fails, return false and set errno:
 * ESTALE if the name now refers to another file.
 */
bool checked_file_remove(const struct checked_file *f);

/* Close both descriptors.  The file may be closed already. */
void checked_file_close(struct checked_file *f);

#endif /* HATF_CHECKED_FILE_H */
