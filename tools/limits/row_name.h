/* SPDX-License-Identifier: MIT */
/*
 * row_name.h - match the name of a row with the glob of a limit
 *
 * A glob matches the whole name as the commands print it, or one of these parts
 * of the name, which a user would write:
 *
 * 	site, function	the function with its parameters, its name, and its
 * 			name without template arguments; for a site, also its
 * 			file
 * 	file, module	the path, and its last part
 * 	thread		the number, and the name
 * 	heap		the number
 *
 * Pure functions; any thread may call them.
 */
#ifndef ROW_NAME_H
#define ROW_NAME_H

#include "tools/limits/limit.h"

#include <stdbool.h>

/* Does the glob match?  'scope' must be a scope of rows. */
bool row_name_matches(enum limit_scope scope, const char *glob,
		      const char *name);

#endif /* ROW_NAME_H */
