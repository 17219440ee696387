/* SPDX-License-Identifier: MIT */
/* places.c - see places.h */
#include "tools/control/places.h"

#include "hatf/recorder/socket_path.h"
#include "tools/control/process_info.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
add_place(struct places *p, const char *directory, const char *below,
	  uid_t owner)
{
	if (p->count == PLACES_MAX)
		return;

	struct place *const new = &p->place[p->count];

	if (snprintf(new->path, PATH_MAX, "%s%s", directory, below) >= PATH_MAX)
		return;
	for (unsigned i = 0; i < p->count; i++)
		if (p->place[i].owner == owner &&
		    strcmp(p->place[i].path, new->path) == 0)
			return;
	new->owner = owner;
	p->count++;
}

static void
add_places_of(struct places *p, uid_t uid)
{
	char path[64];

	snprintf(path, sizeof(path), SOCKET_PATH_RUN "/%lu" SOCKET_PATH_FOLDER,
		 (unsigned long)uid);
	add_place(p, path, "", uid);
	snprintf(path, sizeof(path),
		 SOCKET_PATH_TMP "/" SOCKET_PATH_PREFIX "%lu",
		 (unsigned long)uid);
	add_place(p, path, "", uid);
}

/*
 * For each directory in 'directory' whose name consists of 'prefix' and a user
 * id, add this user's directories of sockets.  Ignore a name whose directory
 * the user does not own, because anybody can create names in /tmp.
 */
static void
add_users(struct places *p, const char *directory, const char *prefix)
{
	DIR *const d = opendir(directory);
	const size_t n = strlen(prefix);
	const struct dirent *entry;
	struct stat st;

	while (d != NULL && (entry = readdir(d)) != NULL) {
		const char *const digits = entry->d_name + n;
		char *end;

		if (strncmp(entry->d_name, prefix, n) != 0 || digits[0] < '0' ||
		    digits[0] > '9')
			continue;

		const unsigned long uid = strtoul(digits, &end, 10);

		if (*end == '\0' &&
		    fstatat(dirfd(d), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISDIR(st.st_mode) && st.st_uid == uid)
			add_places_of(p, (uid_t)uid);
	}
	if (d != NULL)
		closedir(d);
}

/*
 * Add the directory of sockets in 'runtime', a value of XDG_RUNTIME_DIR or
 * NULL, twice: for our own user and for 'uid'.  places_open() opens only the
 * entry whose user owns the directory.
 */
static void
add_runtime(struct places *p, const char *runtime, uid_t uid)
{
	if (runtime == NULL || runtime[0] != '/')
		return;
	add_place(p, runtime, SOCKET_PATH_FOLDER, geteuid());
	add_place(p, runtime, SOCKET_PATH_FOLDER, uid);
}

void
places_find(struct places *p, uid_t uid, const char *runtime)
{
	p->count = 0;
	add_runtime(p, runtime, uid);
	add_runtime(p, getenv("XDG_RUNTIME_DIR"), uid);
	add_places_of(p, geteuid());
	add_places_of(p, uid);
	if (geteuid() == 0) {
		add_users(p, SOCKET_PATH_RUN, "");
		add_users(p, SOCKET_PATH_TMP, SOCKET_PATH_PREFIX);
	}
}

void
places_find_of(struct places *p, pid_t pid)
{
	places_find(p, process_info_owner(pid),
		    process_info_variable(pid, SOCKET_PATH_VARIABLE));
}

void
places_list(pid_t pid, char *list, size_t cap)
{
	static struct places places;
	size_t used = 0;

	places_find_of(&places, pid);
	list[0] = '\0';
	for (unsigned i = 0; i < places.count && used < cap; i++)
		if (i == 0 ||
		    strcmp(places.place[i].path, places.place[i - 1].path) != 0)
			used += (size_t)snprintf(list + used, cap - used,
						 "%s%s", i == 0 ? "" : ", ",
						 places.place[i].path);
}

int
places_open(const struct place *place)
{
	struct stat st;
	const int fd = open(place->path,
			    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && (st.st_mode & 022) == 0 &&
	    st.st_uid == place->owner)
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}
