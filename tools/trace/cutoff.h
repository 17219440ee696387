/* SPDX-License-Identifier: MIT */
/*
 * cutoff.h - why does a trace have no end, and what can be done?
 *
 * Where there is a ring file for it, that knows: the process may be writing it
 * still, or may have left there what the trace lacks.
 */
#ifndef CUTOFF_H
#define CUTOFF_H

#include "hatf/hatf.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * If 'status', with which reading 'path' ended, says that it has no end, and
 * there is a ring file, then look at that.
 */
bool cutoff_find_rings(const char *path, enum hatf_status status,
		       struct hatf_rings *ret);

/* Say in 'buf' what 'err', at which reading 'path' ended, comes from. */
void cutoff_describe(const char *path, const struct hatf_error *err, char *buf,
		     size_t nbytes);

/* The same on standard error, behind the path. */
void cutoff_report(const char *path, const struct hatf_error *err);

#endif /* CUTOFF_H */
