/* SPDX-License-Identifier: MIT */
/* filter.c - see filter.h */

#include "preload/sys/filter.h"

_Atomic bool filter_expected;
