/* SPDX-License-Identifier: MIT */
/* drive.h - run the driver once, in a process of its own */
#ifndef DRIVE_H
#define DRIVE_H

#include "tools/compile/compile.h"
#include "tools/driver/driver.h"
#include "tools/replay/allocators.h"

/* Size of the text that says why a run failed. */
#define DRIVE_FAULT_NBYTES 512

/*
 * Run the driver once with the settings in '*run', and store the result in
 * '*run'.  All strings of the result end in '\0'.  'a' is NULL for the null
 * allocator, which does nothing (driver_calls.h).  A run that makes no progress
 * for 'limit_ms' fails, unless 'limit_ms' is 0.  On failure write the reason to
 * 'fault', of DRIVE_FAULT_NBYTES bytes, and return false.
 */
bool drive_once(const struct allocator *a, const struct compiled *compiled,
		uint64_t limit_ms, struct driver_run *run, char *fault);

#endif /* DRIVE_H */
