/* SPDX-License-Identifier: MIT */
/* program.c - see program.h */
#include "program.h"

#include "allocator.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As many interpreters of interpreters does the kernel go through. */
#define SCRIPT_DEPTH_MAX 5

/* Program headers of real programs are about a dozen; this bounds a bad file. */
#define PHDR_MAX 256

/* What execvp() will run, opened; -1 if there is none. */
static int
open_command(const char *command)
{
	const char *dir = getenv("PATH");

	if (strchr(command, '/') != NULL)
		return open(command, O_RDONLY | O_CLOEXEC);
	if (dir == NULL)
		dir = "/bin:/usr/bin";
	for (;;) {
		const size_t len = strcspn(dir, ":");
		char *path;
		int fd = -1;

		/* An empty part is the working directory. */
		if (asprintf(&path, "%.*s%s%s", (int)len, dir,
			     len != 0 ? "/" : "./", command) < 0)
			return -1;
		if (access(path, X_OK) == 0)
			fd = open(path, O_RDONLY | O_CLOEXEC);
		free(path);
		if (fd >= 0)
			return fd;
		if (dir[len] == '\0')
			return -1;
		dir += len + 1;
	}
}

/* Does one of the program headers name a dynamic loader? */
static bool
has_interpreter(int fd, const ElfW(Ehdr) * header)
{
	if (header->e_phentsize != sizeof(ElfW(Phdr)) ||
	    header->e_phnum > PHDR_MAX)
		return true; /* odd: leave the judgement to the kernel */
	for (unsigned i = 0; i < header->e_phnum; i++) {
		ElfW(Phdr) phdr;
		const off_t at = (off_t)(header->e_phoff + i * sizeof(phdr));

		if (pread(fd, &phdr, sizeof(phdr), at) != sizeof(phdr))
			return true;
		if (phdr.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static const char *
judge(int fd)
{
	const unsigned char own_class =
		sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
	ElfW(Ehdr) header;
	struct stat st;

	if (fstat(fd, &st) != 0 ||
	    pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	if (header.e_ident[EI_CLASS] != own_class)
		return "a program for another word size than libhatftrace.so";
	if (!has_interpreter(fd, &header))
		return "statically linked";
	if (((st.st_mode & S_ISUID) != 0 && st.st_uid != getuid()) ||
	    ((st.st_mode & S_ISGID) != 0 && st.st_gid != getgid()))
		return "set-user-ID or set-group-ID";
	return NULL;
}

const char *
program_untraceable(const char *command)
{
	const int fd = open_command(command);

	if (fd < 0)
		return NULL;

	const char *const why = judge(fd);

	close(fd);
	return why;
}

const char *
program_allocator(const char *command)
{
	const int fd = open_command(command);

	if (fd < 0)
		return NULL;

	const char *const name = allocator_inside(fd);

	close(fd);
	return name;
}

/* The path behind "#!"; what is neither that nor ELF is run by the shell. */
static bool
read_interpreter(int fd, char path[PATH_MAX])
{
	const ssize_t n = pread(fd, path, PATH_MAX - 1, 0);

	if (n >= SELFMAG && memcmp(path, ELFMAG, SELFMAG) == 0)
		return false;
	path[n > 0 ? n : 0] = '\0';
	if (strncmp(path, "#!", 2) != 0) {
		snprintf(path, PATH_MAX, "/bin/sh");
		return true;
	}

	const char *const first = path + 2 + strspn(path + 2, " \t");
	const size_t nbytes = strcspn(first, " \t\n");

	memmove(path, first, nbytes);
	path[nbytes] = '\0';
	return true;
}

void
program_name(const char *command, char name[PATH_MAX])
{
	char path[PATH_MAX], link[64];
	int fd = open_command(command);
	ssize_t n = -1;

	for (unsigned i = 0;
	     i < SCRIPT_DEPTH_MAX && fd >= 0 && read_interpreter(fd, path);
	     i++) {
		close(fd);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, path, sizeof(path) - 1);
		close(fd);
	}
	/* One that may be executed and not read. */
	if (n < 0)
		n = snprintf(path, sizeof(path) - 1, "%s", command);
	if (n >= (ssize_t)sizeof(path))
		n = sizeof(path) - 1;
	path[n] = '\0';

	const char *const slash = strrchr(path, '/');

	snprintf(name, PATH_MAX, "%s", slash != NULL ? slash + 1 : path);
}
