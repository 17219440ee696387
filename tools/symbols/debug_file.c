/* SPDX-License-Identifier: MIT */
/* debug_file.c - see debug_file.h */
#ifdef HAVE_LIBDW

#include "tools/symbols/debug_file.h"

#include "hatf/hatf.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define SUM_NBYTES (1 << 16)

/*
 * Open a regular file, following symbolic links.  Return -1 with errno on
 * failure.
 */
static int
open_regular(const char *path)
{
	char resolved[PATH_MAX];
	int fd;

	if (realpath(path, resolved) == NULL)
		return -1;
	if (hatf_file_open_found(resolved, &fd, NULL) != HATF_OK) {
		errno = EINVAL;
		return -1;
	}
	return fd;
}

/*
 * Return the path of 'name' beside 'file' or, if 'folder' is not "", in this
 * subfolder: "/bin/.debug/x" for "/bin/ls", ".debug/" and "x".  Return NULL if
 * there is no memory.
 */
static char *
beside(const char *file, const char *folder, const char *name)
{
	const char *const slash = strrchr(file, '/');
	char *path;

	if (asprintf(&path, "%.*s%s%s",
		     slash != NULL ? (int)(slash + 1 - file) : 0, file, folder,
		     name) < 0)
		return NULL;
	return path;
}

/* Is the checksum of the file the one that the debug link states? */
static bool
has_sum(int fd, GElf_Word crc)
{
	static unsigned char bytes[SUM_NBYTES];
	uLong sum = crc32(0, NULL, 0);
	off_t offset = 0;
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), offset)) > 0) {
		sum = crc32(sum, bytes, (uInt)n);
		offset += n;
	}
	return n == 0 && sum == crc;
}

/*
 * Does this debug file belong to the module?  Compare build ids or, if the
 * module has none, the checksum.
 */
static bool
belongs(int fd, Dwfl_Module *module, GElf_Word crc)
{
	const unsigned char *wanted;
	const void *found;
	GElf_Addr address;
	const int nbytes = dwfl_module_build_id(module, &wanted, &address);
	Elf *elf;
	bool is_same;

	if (nbytes <= 0)
		return has_sum(fd, crc);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	is_same = elf != NULL &&
		  dwelf_elf_gnu_build_id(elf, &found) == nbytes &&
		  memcmp(found, wanted, (size_t)nbytes) == 0;
	elf_end(elf);
	return is_same;
}

/*
 * Search the program's folder, and its subfolder .debug, for the file that the
 * program's debug link names.  Return a descriptor of that file, or -1.
 */
static int
find_beside(Dwfl_Module *module, const char *file, const char *link,
	    GElf_Word crc, char **path_ret)
{
	static const char *const folders[] = { "", ".debug/" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char *const path = beside(file, folders[i], link);
		const int fd = path != NULL ? open_regular(path) : -1;

		if (fd >= 0 && belongs(fd, module, crc)) {
			*path_ret = path;
			return fd;
		}
		if (fd >= 0)
			close(fd);
		free(path);
	}
	return -1;
}

int
debug_file_find(Dwfl_Module *module, void **userdata, const char *name,
		Dwarf_Addr base, const char *file, const char *link,
		GElf_Word crc, char **path_ret)
{
	/*
	 * Remove directories from the link, because a ".." would lead out of
	 * the folders for debug files.
	 */
	const char *const slash = link != NULL ? strrchr(link, '/') : NULL;
	const char *const plain = slash != NULL ? slash + 1 : link;
	int fd = -1;

	if (link != NULL && slash == NULL && file != NULL)
		fd = find_beside(module, file, link, crc, path_ret);
	if (fd >= 0)
		return fd;
	return dwfl_standard_find_debuginfo(module, userdata, name, base, file,
					    plain, crc, path_ret);
}

bool
debug_file_is_alt_safe(Dwfl_Module *module, Dwarf *dwarf)
{
	const char *main_file = NULL, *debug_file = NULL, *link;
	const void *build_id;
	char *path;
	int fd;
	bool is_safe;

	if (dwelf_dwarf_gnu_debugaltlink(dwarf, &link, &build_id) <= 0)
		return true;
	dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &main_file,
			 &debug_file);
	if (debug_file == NULL)
		debug_file = main_file;
	path = link[0] == '/'	    ? strdup(link)
	       : debug_file != NULL ? beside(debug_file, "", link)
				    : NULL;
	if (path == NULL)
		return false;
	fd = open_regular(path);
	is_safe = fd >= 0 || errno == ENOENT || errno == ENOTDIR;
	if (fd >= 0)
		close(fd);
	free(path);
	return is_safe;
}

#else
/* Declare something, because ISO C forbids an empty file. */
extern int debug_file_without_libdw;
#endif
