/* SPDX-License-Identifier: MIT */
/* available.c - see available.h */
#include "tools/replay/available.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The files of a control group with its limits and its use of memory. */
struct group_files {
	const char *mount_type;
	const char *limits[2];
	const char *usage;
	/*
	 * The beginnings of the lines of memory.stat that count reclaimable
	 * memory.  The system takes this memory away from the group before it
	 * enforces the limit.
	 */
	const char *reclaimable[3];
};

static const struct group_files version_1 = {
	"cgroup",
	{ "memory.limit_in_bytes" },
	"memory.usage_in_bytes",
	{ "total_inactive_file ", "total_active_file " },
};

static const struct group_files version_2 = {
	"cgroup2",
	{ "memory.max", "memory.high" },
	"memory.current",
	{ "inactive_file ", "active_file ", "slab_reclaimable " },
};

/* Where the files of the control groups are. */
struct group_place {
	char folder[PATH_MAX]; /* folder of the group, or the mount point */
	size_t mount_length;   /* length of the mount point in 'folder' */
};

/* -------------------------------------------------------------------- files */

/* Open the file 'name' in a folder below 'root'.  Return NULL if this fails. */
static FILE *
open_file(const char *root, const char *folder, const char *name)
{
	char path[PATH_MAX];
	const int n =
		snprintf(path, sizeof(path), "%s%s/%s", root, folder, name);

	return n > 0 && (size_t)n < sizeof(path) ? fopen(path, "re") : NULL;
}

/*
 * Return the number after 'key' in the first line of the file 'name' that
 * begins with 'key'.  Return UINT64_MAX if there is no such file or line, or if
 * another word, such as "max", is in place of the number.
 */
static uint64_t
read_number(const char *root, const char *folder, const char *name,
	    const char *key)
{
	FILE *const f = open_file(root, folder, name);
	uint64_t number = UINT64_MAX;
	char line[256];

	if (f == NULL)
		return UINT64_MAX;
	while (fgets(line, sizeof(line), f) != NULL) {
		const char *text = line + strlen(key);

		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		text += strspn(text, " \t");
		if (*text >= '0' && *text <= '9')
			number = strtoull(text, NULL, 10);
		break;
	}
	fclose(f);
	return number;
}

/* ----------------------------------------------------------- control groups */

static uint64_t
less(uint64_t n, uint64_t subtracted)
{
	return n > subtracted ? n - subtracted : 0;
}

/*
 * Return the memory that the limits of a group leave; UINT64_MAX: no limit.  If
 * the group's use of memory is unknown, return the lowest limit itself.
 */
static uint64_t
group_nbytes(const struct group_files *files, const char *root,
	     const char *folder)
{
	uint64_t limit = UINT64_MAX, usage;

	for (size_t i = 0; i < 2 && files->limits[i] != NULL; i++) {
		const uint64_t other =
			read_number(root, folder, files->limits[i], "");

		if (other < limit)
			limit = other;
	}
	usage = read_number(root, folder, files->usage, "");
	if (limit == UINT64_MAX || usage == UINT64_MAX)
		return limit;
	for (size_t i = 0; i < 3 && files->reclaimable[i] != NULL; i++) {
		const uint64_t nbytes = read_number(root, folder, "memory.stat",
						    files->reclaimable[i]);

		if (nbytes != UINT64_MAX)
			usage = less(usage, nbytes);
	}
	return less(limit, usage);
}

/* Is 'word' in a list of words between commas? */
static bool
has_word(const char *list, const char *word)
{
	const size_t length = strlen(word);

	for (;;) {
		const size_t n = strcspn(list, ",\n");

		if (n == length && memcmp(list, word, n) == 0)
			return true;
		if (list[n] != ',')
			return false;
		list += n + 1;
	}
}

/*
 * Replace each escape such as "\040" by the character that it stands for, here
 * a blank.
 */
static void
unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from != '\0'; to++) {
		if (*from == '\\' && strspn(from + 1, "01234567") >= 3) {
			*to = (char)((from[1] - '0') << 6 |
				     (from[2] - '0') << 3 | (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/*
 * A mount shows the group 'shown' and the groups below it.  Return the part of
 * the path of a group that is below 'shown': "/b" for the path "/a/b" if
 * 'shown' is "/a".  Return NULL if the mount does not show the group.
 */
static const char *
path_below(const char *path, const char *shown)
{
	const size_t n = strcmp(shown, "/") == 0 ? 0 : strlen(shown);

	/*
	 * "/.." means that the group is outside this process's namespace.
	 */
	if (strstr(path, "/..") != NULL || strncmp(path, shown, n) != 0)
		return NULL;
	if (path[n] != '/' && path[n] != '\0')
		return NULL;
	return strcmp(path + n, "/") == 0 ? "" : path + n;
}

/*
 * Does a mount show control groups of the version that 'files' describes?
 * 'text' is the type, the source and the options of the mount.
 */
static bool
is_mount(const struct group_files *files, const char *text)
{
	const size_t n = strlen(files->mount_type);
	const char *const options = strrchr(text, ' ');

	if (strncmp(text, files->mount_type, n) != 0 || text[n] != ' ')
		return false;
	return files == &version_2 || has_word(options + 1, "memory");
}

/*
 * 'line' is a line of mountinfo, which describes a mount.  If the mount shows
 * the group 'path', store the folder of the group in '*place' and return true.
 * If it shows only other control groups of the version that 'files' describes,
 * store the mount point in '*place' and return false.  If it shows none, store
 * nothing and return false.
 */
static bool
try_mount(const struct group_files *files, const char *line, const char *path,
	  struct group_place *place)
{
	const char *const type = strstr(line, " - ");
	char shown[PATH_MAX], point[PATH_MAX];
	const char *below;
	int n;

	_Static_assert(PATH_MAX == 4096, "%4095s fills PATH_MAX bytes");
	if (type == NULL || !is_mount(files, type + 3) ||
	    sscanf(line, "%*s %*s %*s %4095s %4095s", shown, point) != 2)
		return false;
	unescape(shown);
	unescape(point);
	if (strcmp(point, "/") == 0)
		point[0] = '\0';
	below = path_below(path, shown);
	n = snprintf(place->folder, sizeof(place->folder), "%s%s", point,
		     below != NULL ? below : "");
	if (n < 0 || (size_t)n >= sizeof(place->folder))
		place->folder[strlen(point)] = '\0';
	place->mount_length = strlen(point);
	return below != NULL;
}

/*
 * Find the folder of a group.  If no mount shows the group, find the last mount
 * point of control groups of the version that 'files' describes.  Return false
 * if there is no such mount point.
 */
static bool
find_place(const struct group_files *files, const char *root, const char *path,
	   struct group_place *place)
{
	FILE *const f = open_file(root, "/proc/self", "mountinfo");
	char *line = NULL;
	size_t cap = 0;

	place->mount_length = SIZE_MAX;
	if (f == NULL)
		return false;
	while (getline(&line, &cap, f) > 0)
		if (try_mount(files, line, path, place))
			break;
	free(line);
	fclose(f);
	return place->mount_length != SIZE_MAX;
}

/*
 * If a group or one of its ancestors leaves less memory than '*found', lower
 * '*found'.
 */
static void
lower(struct available *found, const struct group_files *files,
      const char *root, const char *path)
{
	struct group_place place;
	char *slash;

	if (!find_place(files, root, path, &place))
		return;
	for (;;) {
		const uint64_t nbytes = group_nbytes(files, root, place.folder);

		if (nbytes < found->nbytes)
			*found = (struct available){ nbytes, true };
		slash = strrchr(place.folder, '/');
		if (slash == NULL || slash < place.folder + place.mount_length)
			break;
		*slash = '\0';
	}
}

/*
 * 'line' is a line of /proc/self/cgroup.  It names a group of this process, and
 * consists of a number, the controllers (none for version 2), and the path of
 * the group.  If this group or one of its ancestors leaves less memory than
 * '*found', lower '*found'.
 */
static void
lower_by_line(struct available *found, const char *root, char *line)
{
	const char *const controllers = strchr(line, ':');
	char *const path =
		controllers != NULL ? strchr(controllers + 1, ':') : NULL;

	if (path == NULL)
		return;
	line[strcspn(line, "\n")] = '\0';
	*path = '\0';
	if (controllers + 1 == path)
		lower(found, &version_2, root, path + 1);
	else if (has_word(controllers + 1, "memory"))
		lower(found, &version_1, root, path + 1);
}

struct available
available_memory(const char *root)
{
	const uint64_t kib =
		read_number(root, "/proc", "meminfo", "MemAvailable:");
	struct available found = { UINT64_MAX, false };
	FILE *const f = open_file(root, "/proc/self", "cgroup");
	char *line = NULL;
	size_t cap = 0;

	if (kib <= UINT64_MAX / 1024)
		found.nbytes = kib * 1024;
	while (f != NULL && getline(&line, &cap, f) > 0)
		lower_by_line(&found, root, line);
	free(line);
	if (f != NULL)
		fclose(f);
	return found;
}
