/* SPDX-License-Identifier: MIT */
/* alone.c - see alone.h */

#include "alone.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "sys.h"

/* The number that is field 'n' of the line of proc(5)'s stat; 0 if absent. */
static uint64_t
stat_field(const char *state, int n)
{
	const char *p = state;
	uint64_t value = 0;

	/* 'state' is the third field, and stands behind the name, which may
	 * hold anything. */
	for (int field = 3; p != NULL && field < n; field++) {
		p = strchr(p, ' ');
		if (p != NULL)
			p++;
	}
	for (; p != NULL && *p >= '0' && *p <= '9'; p++)
		value = value * 10 + (uint64_t)(*p - '0');
	return value;
}

/* Fields of proc(5)'s stat. */
#define STAT_NUM_THREADS 20
#define STAT_EXIT_CODE	 52

/* Read that line into 'buf'; returns its third field, or NULL. */
static const char *
read_stat(char *buf, size_t cap)
{
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/stat",
				    O_RDONLY | O_CLOEXEC);
	const char *state;
	long n;

	if (fd < 0)
		return NULL;
	n = syscall(SYS_read, fd, buf, cap - 1);
	syscall(SYS_close, fd);
	buf[n > 0 ? n : 0] = '\0';
	state = strrchr(buf, ')');
	return state != NULL && state[1] == ' ' ? state + 2 : NULL;
}

bool
alone_is_last(int *status_ret)
{
	char buf[1024];
	const char *const state = read_stat(buf, sizeof(buf));

	if (state == NULL || *state != 'Z')
		return false;
	*status_ret = (int)(stat_field(state, STAT_EXIT_CODE) >> 8 & 0xff);
	return stat_field(state, STAT_NUM_THREADS) == 2;
}

bool
alone_has_threads(void)
{
	char buf[1024];
	const char *const state = read_stat(buf, sizeof(buf));

	return state == NULL || stat_field(state, STAT_NUM_THREADS) > 2;
}
