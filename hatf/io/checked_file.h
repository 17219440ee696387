/* SPDX-License-Identifier: MIT */
/*
 * checked_file.h - open a file whose name came out of another file or a folder
 *
 * A trace names the trace of its parent and its ring file, a ring file names
 * its trace, and a folder may hold anything.  Whoever wrote these may mean harm
 * to the reader, who may be root.  So a file is checked before it is opened: it
 * must be regular, and in no file system of the kernel's own, where reading
 * alone can block or change something.  A symbolic link in the last place is
 * never followed unless the user gave the name.  No open() here waits, triggers
 * an automount or reaches a device.
 *
 * A name may come to mean another file at any time.  So a checked file is held
 * by its descriptor and by that of its folder.  It is removed from that folder
 * only, and only while its name there is still that of the same file.
 *
 * Functions that fail set errno: ELOOP for a symbolic link, EISDIR for a
 * directory, ENOTSUP for everything else that is not such a file.
 */
#ifndef HATF_CHECKED_FILE_H
#define HATF_CHECKED_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct checked_file {
	int dir_fd;	/* of its folder, O_PATH; -1: none */
	int fd;		/* -1: none */
	struct stat st; /* of the file, after it was opened */
	char name[NAME_MAX + 1];
};

#define CHECKED_FILE_NONE              \
	{                              \
		.dir_fd = -1, .fd = -1 \
	}

/*
 * Open the file at 'path', with 'access' O_RDONLY or O_RDWR.  The user gave the
 * folder: links on the way there are followed.
 */
bool checked_file_open(struct checked_file *f, const char *path, int access);

/* The same for 'name', without a '/', in a folder; 'dir_fd' stays the
 * caller's. */
bool checked_file_open_in(struct checked_file *f, int dir_fd, const char *name,
			  int access);

/*
 * The same for a path that another file names: the path must be absolute, each
 * folder on the way is checked, too, and the file must belong to 'owner'
 * (EPERM).
 */
bool checked_file_open_untrusted(struct checked_file *f, const char *path,
				 int access, uid_t owner);

/*
 * For reading, a path that the user gave: a link is followed to what may be
 * read.  Returns a descriptor or -1.
 */
int checked_file_open_link(const char *path);

/* The folder of a path that the user gave: a descriptor, O_PATH, or -1. */
int checked_file_folder(const char *path);

/* For reading, 'path' itself, a link in the last place is refused; or -1. */
int checked_file_open_found(const char *path);

/* Are both the same file? */
bool checked_file_is_same(const struct stat *a, const struct stat *b);

/*
 * Remove the file from its folder.  False and errno, ESTALE if its name is that
 * of another file by now.
 */
bool checked_file_remove(const struct checked_file *f);

/* May be closed already. */
void checked_file_close(struct checked_file *f);

#endif /* HATF_CHECKED_FILE_H */
