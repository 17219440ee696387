/* SPDX-License-Identifier: MIT */
/* procstat.c - see procstat.h */

#include "preload/sys/procstat.h"

#include <fcntl.h>
#include <string.h>

#include "preload/sys/sys.h"

#define FIELD_STATE 3

/*
 * Return a pointer to the third field of the line in 'buf', or NULL if there is
 * none.  'n' is the length of the line, or negative if the read failed.
 */
static const char *
find_state(char *buf, long n)
{
	const char *name_end;

	buf[n > 0 ? n : 0] = '\0';
	/*
	 * The executable's name, which is in parentheses before the state, may
	 * itself contain parentheses, so search for the last ')'.
	 */
	name_end = strrchr(buf, ')');
	return name_end != NULL && name_end[1] == ' ' ? name_end + 2 : NULL;
}

const char *
procstat_read(int folder, const char *path, char *buf)
{
	const int fd =
		(int)syscall(SYS_openat, folder, path, O_RDONLY | O_CLOEXEC);
	long n;

	if (fd < 0)
		return NULL;
	n = syscall(SYS_read, fd, buf, PROCSTAT_NBYTES - 1);
	syscall(SYS_close, fd);
	return find_state(buf, n);
}

const char *
procstat_read_open(int fd, char *buf)
{
	return find_state(
		buf, syscall(SYS_pread64, fd, buf, PROCSTAT_NBYTES - 1, 0));
}

uint64_t
procstat_field(const char *state, int n)
{
	const char *p = state;
	uint64_t value = 0;

	for (int i = FIELD_STATE; p != NULL && i < n; i++) {
		p = strchr(p, ' ');
		if (p != NULL)
			p++;
	}
	for (; p != NULL && *p >= '0' && *p <= '9'; p++)
		value = value * 10 + (uint64_t)(*p - '0');
	return value;
}
