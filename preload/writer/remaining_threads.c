/* SPDX-License-Identifier: MIT */
/* remaining_threads.c - see remaining_threads.h */

#include "preload/writer/remaining_threads.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/record/thread.h"
#include "preload/record/wake.h"
#include "preload/sys/file.h"
#include "preload/sys/procstat.h"
#include "preload/sys/sys.h"

/* Positions of fields in /proc/PID/stat, from 1; see proc(5). */
#define STAT_NUM_THREADS 20
#define STAT_EXIT_CODE	 52

#define FOLDER_PATH "/proc/self"
#define STAT_PATH   FOLDER_PATH "/stat"

/* The writer's descriptors of /proc/self and its stat file; -1: none. */
static int folder = -1, stat_file = -1;
/*
 * Would a filter of system calls kill the process for reading /proc?  If so,
 * remaining_threads_several() does not read /proc.  The child of a fork
 * inherits the filter, and therefore keeps this flag.
 */
static _Atomic bool is_blind;

void
remaining_threads_init(void)
{
	folder = stat_file = -1;
}

void
remaining_threads_open_proc(void)
{
	folder = file_above_standard(
		(int)syscall(SYS_openat, AT_FDCWD, FOLDER_PATH,
			     O_PATH | O_DIRECTORY | O_CLOEXEC));
}

void
remaining_threads_open_stat(void)
{
	if (stat_file < 0)
		stat_file = file_above_standard((int)syscall(
			SYS_openat, AT_FDCWD, STAT_PATH, O_RDONLY | O_CLOEXEC));
}

static const char *
read_stat(char *buf)
{
	if (stat_file >= 0)
		return procstat_read_open(stat_file, buf);
	return folder >= 0 ? procstat_read(folder, "stat", buf)
			   : procstat_read(AT_FDCWD, STAT_PATH, buf);
}

bool
remaining_threads_none(int *status_ret)
{
	char buf[PROCSTAT_NBYTES];
	const char *const state = read_stat(buf);

	if (state == NULL || *state != 'Z')
		return false;
	*status_ret = (int)procstat_field(state, STAT_EXIT_CODE);
	return procstat_field(state, STAT_NUM_THREADS) == 2;
}

void
remaining_threads_end_looks(void)
{
	/* relaxed: threads come under the filter only after this store. */
	atomic_store_explicit(&is_blind, true, memory_order_relaxed);
}

bool
remaining_threads_several(bool has_writer)
{
	char buf[PROCSTAT_NBYTES];
	const char *state;

	/* relaxed: a thread comes under the filter only after the store. */
	if (atomic_load_explicit(&is_blind, memory_order_relaxed))
		return true;
	state = procstat_read(AT_FDCWD, STAT_PATH, buf);
	return state == NULL ||
	       procstat_field(state, STAT_NUM_THREADS) > (has_writer ? 2 : 1);
}

bool
remaining_threads_single(void)
{
	return thread_id_count() == 1 ||
	       !remaining_threads_several(wake_has_writer());
}
