/* SPDX-License-Identifier: MIT */
/* note_writer.c - see note_writer.h */

#include "preload/config/note_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hatf/codec/comment_text.h"
#include "hatf/recorder/notes.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"

#define LINE_MAX_NBYTES (NAME_MAX + 200u)

/* Copies, since a program may overwrite the strings that it started with. */
MEMORY_LARGE static char file_name[PATH_MAX];
MEMORY_LARGE static char own_exe[NAME_MAX + 1];
static bool is_wanted; /* the environment names a notes file */

/*
 * Return the name of the notes file from the environment.  Return NULL if there
 * is no name, or if the name is too long.
 */
static const char *
find_name(char *const environment[])
{
	static const char variable[] = NOTES_VARIABLE "=";
	const size_t n = sizeof(variable) - 1;

	for (size_t i = 0; environment != NULL && environment[i] != NULL; i++)
		if (strncmp(environment[i], variable, n) == 0 &&
		    strlen(environment[i] + n) < sizeof(file_name))
			return environment[i] + n;
	return NULL;
}

bool
note_writer_init(char *const environment[])
{
	const char *const name = find_name(environment);

	is_wanted = name != NULL;
	if (is_wanted)
		memcpy(file_name, name, strlen(name) + 1);
	return is_wanted;
}

void
note_writer_set_exe(const char *exe)
{
	const size_t n = strnlen(exe, sizeof(own_exe) - 1);

	memcpy(own_exe, exe, n);
	own_exe[n] = '\0';
}

/*
 * Open the notes file for appending.  Return -1 if it is not a regular file of
 * this user with a single link.  After a chroot, for example, the name may
 * refer to any file.
 */
static int
open_file(void)
{
	struct stat st;
	int fd;

	if (!is_wanted || file_name[0] != '/')
		return -1;
	fd = (int)syscall(SYS_openat, AT_FDCWD, file_name,
			  O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK |
				  O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	    st.st_uid == (uid_t)syscall(SYS_geteuid))
		return fd;
	syscall(SYS_close, fd);
	return -1;
}

/* Add 'name' and a newline to 't'.  Replace bytes below 0x20 by '?'. */
static void
add_name(struct text *t, const char *name)
{
	const size_t n = strnlen(name, NAME_MAX);

	for (size_t i = 0; i < n; i++)
		text_bytes(t, (unsigned char)name[i] < 0x20 ? "?" : &name[i],
			   1);
	text_str(t, "\n");
}

/*
 * Append the line with one system call, so that lines of several processes do
 * not mix.  If the write raises SIGXFSZ, remove the pending signal, so that the
 * program does not get it.
 */
static bool
append(const struct text *t, const char *line)
{
	const uint64_t mask = sys_block_signals();
	const int fd = open_file();
	bool done = false;

	if (fd >= 0) {
		done = syscall(SYS_write, fd, line, t->used) == (long)t->used;
		if (!done && errno == EFBIG)
			sys_take_back_signal(SIGXFSZ);
		syscall(SYS_close, fd);
	}
	sys_restore_signals(mask);
	return done;
}

void
note_writer_begin(uint64_t start_ns, const char *out)
{
	char line[LINE_MAX_NBYTES];
	struct text t;

	if (!is_wanted)
		return;
	text_init(&t, line, sizeof(line));
	text_str(&t, NOTES_BEGIN);
	text_u64(&t, (uint64_t)sys_pid());
	text_str(&t, " ");
	text_u64(&t, start_ns);
	text_str(&t, " ");
	text_u64(&t, notes_hash(out));
	text_str(&t, " ");
	add_name(&t, own_exe);
	append(&t, line);
}

bool
note_writer_untraced(const char *why)
{
	char line[LINE_MAX_NBYTES];
	struct text t;

	if (!is_wanted)
		return false;
	text_init(&t, line, sizeof(line));
	text_str(&t, NOTES_UNTRACED);
	text_u64(&t, (uint64_t)sys_pid());
	text_str(&t, " ");
	text_str(&t, why);
	text_str(&t, "\t");
	add_name(&t, own_exe);
	return append(&t, line);
}

bool
note_writer_has_reader(void)
{
	const int fd = open_file();

	if (fd >= 0)
		syscall(SYS_close, fd);
	return fd >= 0;
}
