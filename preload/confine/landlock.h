/* SPDX-License-Identifier: MIT */
/*
 * landlock.h - the writer thread can open only the files that it works with
 *
 * A thread puts Landlock's rules on itself and cannot remove them.  The rules
 * apply to all code that the thread executes.  Suppose that the program gives
 * up privileges by a call that the recorder cannot see, so that the writer
 * keeps them, and that an intruder then injects code into the process.  If the
 * writer executes this code, the rules limit the harm.  The rules do not affect
 * other threads.  (A filter on the writer's system calls would affect the other
 * threads: such a filter could prevent them from adding filters, see
 * privileges.h.)  Only the writer thread calls these functions.
 *
 * A kernel with an old version of Landlock enforces fewer rules, and a kernel
 * without Landlock enforces none.  Under a filter on system calls, these
 * functions make no rules either, because the filter might kill the process for
 * the attempt.
 */
#ifndef LANDLOCK_H
#define LANDLOCK_H

/*
 * Give up the rights that the writer never needs.  Call this first.  From then
 * on the thread cannot execute programs, make devices, named pipes and symbolic
 * links, use ioctl(2) on devices, remove folders, use TCP, send signals to
 * other processes, or connect to the abstract sockets of other processes, as
 * far as the kernel's version of Landlock can forbid this.
 */
void landlock_drop_rights(void);

/* What the writer thread may do with a file, or with the files in a folder. */
enum landlock_use {
	LANDLOCK_USE_READ,  /* read existing files */
	LANDLOCK_USE_WRITE, /* write to an existing file */
	/* create, read, write, truncate, remove */
	LANDLOCK_USE_FILES,
	/* as LANDLOCK_USE_FILES, and create sockets */
	LANDLOCK_USE_FILES_SOCKETS,
	/* create folders and sockets, and remove sockets and files */
	LANDLOCK_USE_SOCKET_FOLDERS,
};

/*
 * Return the descriptor of a new set of rules, which allows nothing yet.  Pass
 * the descriptor to landlock_allow() and then to landlock_enforce(), which
 * closes it.  Return -1 if the kernel has no Landlock or a filter is installed;
 * the other functions ignore -1.
 */
int landlock_create_rules(void);

/*
 * Allow 'use' of the file or folder 'fd'.  The descriptor may have been opened
 * with O_PATH.  This function does not close 'fd'.  If 'rules' or 'fd' is -1,
 * do nothing.
 */
void landlock_allow(int rules, int fd, enum landlock_use use);

/* Like landlock_allow(), but by name.  A missing file is ignored. */
void landlock_allow_path(int rules, const char *path, enum landlock_use use);

/*
 * From here on, the calling thread can open, create and remove only what
 * 'rules' allow.  Close 'rules'.
 */
void landlock_enforce(int rules);

#endif /* LANDLOCK_H */
