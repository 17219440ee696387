/* SPDX-License-Identifier: MIT */
/* filter.c - see filter.h */

#include "preload/sys/filter.h"

#include <sys/prctl.h>

_Atomic bool filter_expected;

bool
filter_is_installed(void)
{
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0;
}
