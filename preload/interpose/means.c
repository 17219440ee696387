/* SPDX-License-Identifier: MIT */
/* means.c - see means.h */

#include "preload/interpose/means.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "preload/confine/sandbox.h"
#include "preload/record/process_state.h"
#include "preload/record/record.h"
#include "preload/sys/sys.h"
#include "preload/writer/writer.h"

/* With so many descriptors the writer does well. */
#define FILES_ENOUGH 64u

/*
 * Could it be impossible to make the writer thread or its files under this
 * limit?
 */
static bool
is_tight(uint64_t resource, const void *limit)
{
	struct rlimit new;

	/* What cannot be read sets no limit. */
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

static bool
takes_away(uint64_t number, uint64_t a, uint64_t b, uint64_t c)
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

/* May it become impossible to write to the file that there is? */
static bool
is_of_size(uint64_t number, uint64_t a, uint64_t b)
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
	if (takes_away(number, a, b, c)) {
		writer_make_early();
		/* What was recorded so far is to be in the file then. */
		if (is_of_size(number, a, b) && !record_is_dormant())
			writer_obey(WRITER_ORDER_FLUSH);
	}
	errno = saved_errno;
}
