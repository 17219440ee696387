/* SPDX-License-Identifier: MIT */
/* program.c - see program.h */
#include "tools/program/program.h"

#include "tools/program/allocator.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The kernel's limit for nested interpreters. */
#define SCRIPT_DEPTH_MAX 5

/*
 * Maximum number of program headers to read.  Real programs have about a dozen,
 * corrupt files may state more.
 */
#define PHDR_MAX 256

/*
 * Open the file that execvp() would run for 'command'.  Return -1 if there is
 * no such file, or if it cannot be read.
 */
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

		/* An empty component of PATH means the working directory. */
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

/*
 * Write the path of the interpreter that runs the file to 'path': the path
 * after "#!", or "/bin/sh" if the file is neither ELF nor begins with "#!".
 * Return false for an ELF file.
 */
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

/*
 * Open the file that the kernel runs for 'command'.  For a script, this file is
 * the interpreter, whose path goes to 'path'.  Otherwise make 'path' empty.
 * Return -1 if there is no such file, or if it cannot be read.
 */
static int
open_image(const char *command, char path[PATH_MAX])
{
	char next[PATH_MAX];
	int fd = open_command(command);

	path[0] = '\0';
	for (unsigned i = 0;
	     i < SCRIPT_DEPTH_MAX && fd >= 0 && read_interpreter(fd, next);
	     i++) {
		memcpy(path, next, sizeof(next));
		close(fd);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	return fd;
}

/*
 * Write the path of the dynamic loader, from the program headers, to 'loader';
 * "" if there is none.  Return false if the file is malformed, which the kernel
 * will report, or if it cannot be read.
 */
static bool
read_loader(int fd, const ElfW(Ehdr) * header, char loader[PATH_MAX])
{
	loader[0] = '\0';
	if (header->e_phentsize != sizeof(ElfW(Phdr)) ||
	    header->e_phnum > PHDR_MAX)
		return false;
	for (unsigned i = 0; i < header->e_phnum; i++) {
		ElfW(Phdr) phdr;
		const off_t at = (off_t)(header->e_phoff + i * sizeof(phdr));

		if (pread(fd, &phdr, sizeof(phdr), at) != sizeof(phdr))
			return false;
		if (phdr.p_type != PT_INTERP)
			continue;
		if (phdr.p_filesz == 0 || phdr.p_filesz >= PATH_MAX ||
		    pread(fd, loader, phdr.p_filesz, (off_t)phdr.p_offset) !=
			    (ssize_t)phdr.p_filesz)
			return false;
		loader[phdr.p_filesz] = '\0';
		return true;
	}
	return true;
}

/*
 * If the kernel will start the program in secure mode, in which the loader
 * ignores LD_PRELOAD, return the reason.  Otherwise return NULL.
 */
static const char *
judge_privileges(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return NULL;
	if (((st.st_mode & S_ISUID) != 0 && st.st_uid != getuid()) ||
	    ((st.st_mode & S_ISGID) != 0 && st.st_gid != getgid()))
		return "set-user-ID or set-group-ID";
	if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "a program with file capabilities";
	return NULL;
}

static const char *
judge(int fd)
{
	const unsigned char own_class =
		sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
	static char text[64];
	char loader[PATH_MAX];
	const char *sanitizer;
	ElfW(Ehdr) header;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	if (header.e_ident[EI_CLASS] != own_class)
		return "built for a different word size from libhatftrace.so";
	if (read_loader(fd, &header, loader)) {
		if (loader[0] == '\0')
			return "statically linked";
		if (strstr(loader, "/ld-musl-") != NULL)
			return "linked with musl instead of glibc";
	}
	sanitizer = allocator_sanitizer(fd);
	if (sanitizer == NULL)
		return judge_privileges(fd);
	snprintf(text, sizeof(text), "built with %s", sanitizer);
	return text;
}

const char *
program_untraceable(const char *command)
{
	static char text[PATH_MAX + 128];
	char path[PATH_MAX];
	const int fd = open_image(command, path);

	if (fd < 0)
		return NULL;

	const char *const why = judge(fd);

	close(fd);
	if (why == NULL || path[0] == '\0')
		return why;
	snprintf(text, sizeof(text), "a script for %s, which is %s", path, why);
	return text;
}

bool
program_is_valgrind(const char *command)
{
	const char *const slash = strrchr(command, '/');
	const char *const base = slash != NULL ? slash + 1 : command;

	return strcmp(base, "valgrind") == 0 ||
	       strcmp(base, "valgrind.bin") == 0;
}

bool
program_is_library(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ElfW(Ehdr) ours, header;
	const size_t n = sizeof(header);
	void *code = MAP_FAILED;

	if (fd >= 0 && pread(fd, &header, n, 0) == (ssize_t)n &&
	    memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
	    header.e_type == ET_DYN &&
	    (self < 0 || pread(self, &ours, n, 0) != (ssize_t)n ||
	     (ours.e_ident[EI_CLASS] == header.e_ident[EI_CLASS] &&
	      ours.e_machine == header.e_machine)))
		code = mmap(NULL, n, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (code != MAP_FAILED)
		munmap(code, n);
	if (fd >= 0)
		close(fd);
	if (self >= 0)
		close(self);
	return code != MAP_FAILED;
}

void
program_name(const char *command, char name[PATH_MAX])
{
	char path[PATH_MAX], link[64];
	const int fd = open_image(command, path);
	ssize_t n = -1;

	if (fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, path, sizeof(path) - 1);
		close(fd);
	}
	/*
	 * If the file cannot be opened for reading, use the name of 'command'.
	 */
	if (n < 0)
		n = snprintf(path, sizeof(path) - 1, "%s", command);
	if (n >= (ssize_t)sizeof(path))
		n = sizeof(path) - 1;
	path[n] = '\0';

	const char *const slash = strrchr(path, '/');

	snprintf(name, PATH_MAX, "%s", slash != NULL ? slash + 1 : path);
}
