/* SPDX-License-Identifier: MIT */
/*
 * landlock.h - the writer thread reaches no files but those that it works with
 *
 * A thread puts Landlock's rules on itself and cannot take them off again.
 * They hold whatever the thread is made to do, also by an intruder's code in
 * the process, after the program has given up privileges in a way that we
 * cannot see.  Other threads do not have the rules and notice nothing, as they
 * would of a filter on system calls (privileges.h).  For the writer thread
 * only.
 *
 * Where the kernel has no Landlock, or less of it, there are no rules, or
 * fewer.  Under a filter on system calls there are none either: the filter
 * might end the process for the attempt.
 */
#ifndef LANDLOCK_H
#define LANDLOCK_H

/*
 * Call this first: from here on the thread executes nothing, makes no devices,
 * pipes and symbolic links, has no TCP connections, sends signals only to its
 * own process and connects to no abstract sockets of others.
 */
void landlock_drop_rights(void);

enum landlock_use {
	LANDLOCK_USE_READ,	 /* files are read */
	LANDLOCK_USE_WRITE, /* a file that is there is written to */
	LANDLOCK_USE_FILES,	 /* files are made, written, read, cut, removed */
	LANDLOCK_USE_FILES_SOCKETS,	 /* so are files, and sockets are made */
	LANDLOCK_USE_SOCKET_FOLDERS, /* folders and sockets are made, and removed */
};

/*
 * A set of rules, for landlock_allow() and landlock_enforce(); -1: there are
 * none.
 */
int landlock_create_rules(void);

/* The file or folder 'fd', by O_PATH, may be used so.  'fd' may be -1. */
void landlock_allow(int rules, int fd, enum landlock_use use);

/* The same for a name; without a file of that name nothing happens. */
void landlock_allow_path(int rules, const char *path, enum landlock_use use);

/*
 * From here on no other file may be opened, made or removed.  Closes
 * 'rules'.
 */
void landlock_enforce(int rules);

#endif /* LANDLOCK_H */
