/* SPDX-License-Identifier: MIT */
/* allocators.c - see allocators.h */
#include "tools/replay/allocators.h"

#include "tools/ui/message.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBC_NAME "glibc"

/*
 * Known allocators, with the names of their libraries in order of preference.
 */
static const struct {
	const char *name;
	const char *libraries[4];
} known[] = {
	{ "jemalloc", { "libjemalloc.so.2", "libjemalloc.so.1" } },
	{ "tcmalloc",
	  { "libtcmalloc_minimal.so.4", "libtcmalloc.so.4",
	    "libtcmalloc_minimal.so" } },
	{ "mimalloc",
	  { "libmimalloc.so.3", "libmimalloc.so.2", "libmimalloc.so" } },
	{ "tbbmalloc", { "libtbbmalloc_proxy.so.2" } },
	{ "snmalloc", { "libsnmallocshim.so" } },
	{ "rpmalloc", { "librpmallocwrap.so" } },
	{ "hoard", { "libhoard.so" } },
};
#define KNOWN_COUNT (sizeof(known) / sizeof(known[0]))

/*
 * Look for 'library' in a directory, whose name is the first 'length' bytes of
 * 'dir'.
 */
static bool
find_in(const char *dir, size_t length, const char *library,
	char path[PATH_MAX])
{
	char wanted[PATH_MAX];
	const int n = snprintf(wanted, sizeof(wanted), "%.*s/%s", (int)length,
			       dir, library);

	return length > 0 && (size_t)n < sizeof(wanted) &&
	       realpath(wanted, path) != NULL && access(path, R_OK) == 0;
}

/* Look in each directory of a list separated by colons. */
static bool
find_in_list(const char *dirs, const char *library, char path[PATH_MAX])
{
	while (dirs != NULL && *dirs != '\0') {
		const size_t length = strcspn(dirs, ":");

		if (find_in(dirs, length, library, path))
			return true;
		dirs += length + (dirs[length] == ':');
	}
	return false;
}

/*
 * Look in the directories of LD_LIBRARY_PATH, in the directory of libc, and in
 * some directories where libraries usually are.
 */
static bool
find_library(const char *library, char path[PATH_MAX])
{
	Dl_info info;
	void *const in_libc = dlsym(RTLD_DEFAULT, "getppid");

	if (find_in_list(getenv("LD_LIBRARY_PATH"), library, path))
		return true;
	if (in_libc != NULL && dladdr(in_libc, &info) != 0) {
		const char *const slash = strrchr(info.dli_fname, '/');

		if (slash != NULL &&
		    find_in(info.dli_fname, (size_t)(slash - info.dli_fname),
			    library, path))
			return true;
	}
	return find_in_list("/usr/local/lib:/usr/lib64:/usr/lib:/lib64:/lib",
			    library, path);
}

static bool
find_known(size_t idx, char path[PATH_MAX])
{
	for (size_t i = 0; i < 4 && known[idx].libraries[i] != NULL; i++)
		if (find_library(known[idx].libraries[i], path))
			return true;
	return false;
}

/* Report that an allocator cannot be found.  Return false. */
static bool
refuse(const char *name, int length)
{
	char list[256] = LIBC_NAME;
	size_t used = strlen(list);

	for (size_t i = 0; i < KNOWN_COUNT && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used,
					 ", %s", known[i].name);
	message_print("--allocator: unknown allocator '%.*s' (known: %s, or "
		      "the path of a library that can be read)",
		      length, name, list);
	return false;
}

/*
 * Is 'path' a regular file in ELF format?  Check this before the loader opens
 * the file, because another kind of file might block the loader, and the
 * loader's own messages do not name the allocator.
 */
static bool
is_library(const char *path)
{
	char head[SELFMAG] = "";
	struct stat status;
	/*
	 * O_NONBLOCK, because otherwise open() of a FIFO would wait until
	 * another process opens the FIFO to write.
	 */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const bool ok = fd >= 0 && fstat(fd, &status) == 0 &&
			S_ISREG(status.st_mode) &&
			read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
			memcmp(head, ELFMAG, SELFMAG) == 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* Check the library at the path that the user gave. */
static bool
check_path(const struct allocator *a)
{
	if (!is_library(a->library)) {
		message_print("--allocator: not a shared library: '%s'",
			      a->library);
		return false;
	}
	if (a->library[strcspn(a->library, ": ")] == '\0')
		return true;
	message_print(
		"--allocator: LD_PRELOAD cannot load a path with ':' or a "
		"blank: '%s'",
		a->library);
	return false;
}

/*
 * The first 'length' bytes of a->label are the name of an allocator or the path
 * of a library.  Find the library, and store its path in a->library.  On
 * failure print a message and return false.
 */
static bool
find_allocator(struct allocator *a, size_t length)
{
	char name[PATH_MAX];

	if (length == strlen(LIBC_NAME) &&
	    strncmp(a->label, LIBC_NAME, length) == 0)
		return true;
	if (length < sizeof(name) && memchr(a->label, '/', length) != NULL) {
		snprintf(name, sizeof(name), "%.*s", (int)length, a->label);
		a->is_path = true;
		if (realpath(name, a->library) == NULL ||
		    access(a->library, R_OK) != 0)
			return refuse(a->label, (int)length);
		return check_path(a);
	}
	for (size_t i = 0; i < KNOWN_COUNT; i++) {
		if (strlen(known[i].name) != length ||
		    strncmp(a->label, known[i].name, length) != 0)
			continue;
		if (find_known(i, a->library))
			return true;
		message_print("--allocator: %s is not installed",
			      known[i].name);
		return false;
	}
	return refuse(a->label, (int)length);
}

/* Check a list of variables such as "VAR=VALUE VAR=VALUE". */
static bool
check_environment(const char *text)
{
	static const char preload[] = "LD_PRELOAD=";

	for (const char *item = text + strspn(text, " "); *item != '\0';) {
		const size_t length = strcspn(item, " ");
		const size_t name_length = strcspn(item, "=");

		if (name_length == 0 || name_length >= length) {
			message_print("--allocator: not VAR=VALUE: '%.*s'",
				      (int)length, item);
			return false;
		}
		if (strncmp(item, preload, strlen(preload)) == 0) {
			message_print("--allocator: to preload a library, give "
				      "its path instead of LD_PRELOAD");
			return false;
		}
		item += length;
		item += strspn(item, " ");
	}
	return true;
}

bool
allocators_add(struct allocators *all, const char *text)
{
	struct allocator *const a = &all->list[all->count];
	const size_t length = strcspn(text, ":");

	if (all->count == ALLOCATORS_MAX) {
		message_print("--allocator: more than %d allocators",
			      ALLOCATORS_MAX);
		return false;
	}
	*a = (struct allocator){ .label = text,
				 .environment =
					 text + length + (text[length] != 0) };
	if (!find_allocator(a, length))
		return false;
	if (text[length] != '\0' && a->environment[0] == '\0') {
		message_print("--allocator: no VAR=VALUE after the colon: '%s'",
			      text);
		return false;
	}
	if (!check_environment(a->environment))
		return false;
	all->count++;
	return true;
}

void
allocators_add_installed(struct allocators *all)
{
	allocators_add(all, LIBC_NAME);
	for (size_t i = 0; i < KNOWN_COUNT; i++) {
		char path[PATH_MAX];

		if (find_known(i, path))
			allocators_add(all, known[i].name);
	}
}
