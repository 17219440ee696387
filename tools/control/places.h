/* SPDX-License-Identifier: MIT */
/*
 * places.h - the directories that may hold the files of a recorder
 *
 * A recorder's socket, its status file and its file of bells are in one of a
 * few directories, which the recorder chooses (preload/control/control.c).
 * Do not trust these directories: use one only if it belongs to the expected
 * user and nobody else may write to it.  Not thread-safe.
 */
#ifndef PLACES_H
#define PLACES_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#define PLACES_MAX 256

/* A directory that may hold sockets if it belongs to 'owner'. */
struct place {
	char path[PATH_MAX];
	uid_t owner;
};

struct places {
	struct place place[PLACES_MAX];
	unsigned count;
};

/*
 * Find the directories in which a process may have its socket:
 *
 * - the one in 'runtime', the value of XDG_RUNTIME_DIR in the environment of
 *   the process (NULL: unknown),
 * - our own directories and those of the user 'uid', and
 * - if we are root, the directories of all users, because the process may have
 *   had another user id when it created its socket.
 */
void places_find(struct places *p, uid_t uid, const char *runtime);

/* Like places_find(), with the user and the environment of 'pid'. */
void places_find_of(struct places *p, pid_t pid);

/*
 * List the directories in which 'pid' may have a socket, separated by commas
 * and truncated to 'cap' bytes.
 */
void places_list(pid_t pid, char *list, size_t cap);

/*
 * Open the directory if it belongs to place->owner and nobody else may write to
 * it; else return -1.
 */
int places_open(const struct place *place);

#endif /* PLACES_H */
