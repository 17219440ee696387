/* SPDX-License-Identifier: MIT */
/* alone.c - see alone.h */

#include "alone.h"

#include <stddef.h>
#include <stdint.h>

#include "procstat.h"

/* Fields of proc(5)'s stat. */
#define STAT_NUM_THREADS 20
#define STAT_EXIT_CODE	 52

#define STAT_PATH "/proc/self/stat"

bool
alone_is_last(int *status_ret)
{
	char buf[PROCSTAT_NBYTES];
	const char *const state = procstat_read(STAT_PATH, buf);

	if (state == NULL || *state != 'Z')
		return false;
	*status_ret = (int)(procstat_field(state, STAT_EXIT_CODE) >> 8 & 0xff);
	return procstat_field(state, STAT_NUM_THREADS) == 2;
}

bool
alone_has_threads(bool has_writer)
{
	char buf[PROCSTAT_NBYTES];
	const char *const state = procstat_read(STAT_PATH, buf);

	return state == NULL ||
	       procstat_field(state, STAT_NUM_THREADS) > (has_writer ? 2 : 1);
}
