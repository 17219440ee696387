/* SPDX-License-Identifier: MIT */
/* means.c - see means.h */

#include "preload/interpose/means.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "preload/confine/sandbox.h"
#include "preload/record/record.h"
#include "preload/state/process_state.h"
#include "preload/sys/sys.h"
#include "preload/writer/writer.h"

/* A limit of this many descriptors, or more, is enough for the writer. */
#define FILES_ENOUGH 64u

/*
 * May a new limit make it impossible to create the writer thread or its files?
 */
static bool
is_tight(uint64_t resource, const void *limit)
{
	struct rlimit new;

	/*
	 * If the address is invalid, the kernel refuses the call and sets no
	 * limit.
	 */
	if (limit == NULL || !sandbox_copy(&new, limit, sizeof(new)))
		return false;
	switch (resource) {
	case RLIMIT_NOFILE:
		return new.rlim_cur < FILES_ENOUGH;
	case RLIMIT_FSIZE:
	case RLIMIT_NPROC:
	case RLIMIT_AS:
	case RLIMIT_DATA:
		return new.rlim_cur != RLIM_INFINITY;
	default:
		return false;
	}
}

/* May this system call make it impossible to begin the trace later? */
static bool
may_block_trace(uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
	switch (number) {
	case SYS_mount:
	case SYS_umount2:
	case SYS_pivot_root:
	case SYS_move_mount:
		return true;
	case SYS_setrlimit:
		return is_tight(a, (const void *)b);
	case SYS_prlimit64:
		return (a == 0 || a == (uint64_t)sys_pid()) &&
		       is_tight(b, (const void *)c);
	default:
		return false;
	}
}

/* Does the call set the limit of file sizes?  If so, later writes may fail. */
static bool
sets_file_size(uint64_t number, uint64_t a, uint64_t b)
{
	return (number == SYS_setrlimit && a == RLIMIT_FSIZE) ||
	       (number == SYS_prlimit64 && b == RLIMIT_FSIZE);
}

void
means_watch(uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
	int saved_errno;

	if (!process_is_tracing() || !process_is_own())
		return;
	saved_errno = errno;
	if (may_block_trace(number, a, b, c)) {
		writer_make_early();
		/* Write the events so far while writing is still possible. */
		if (sets_file_size(number, a, b) && !record_is_dormant())
			writer_obey(WRITER_ORDER_FLUSH);
	}
	errno = saved_errno;
}
