/* SPDX-License-Identifier: MIT */
/*
 * writer_reach.c - restrict the writer to the files that it needs
 *
 * The writer thread uses Landlock to limit itself to the folders of the trace,
 * of the ring file and of the control files, and to /proc.  Landlock's rules
 * cannot name a folder that does not exist yet.  The writer therefore makes the
 * rules once the trace has its first file.
 */

#include <string.h>

#include "hatf/deflate/deflate.h"
#include "preload/config/environment.h"
#include "preload/confine/landlock.h"
#include "preload/confine/privileges.h"
#include "preload/control/control.h"
#include "preload/sys/sys.h"
#include "preload/writer/remaining_threads.h"
#include "preload/writer/writer_state.h"

/* Allow the folders of the trace and of the ring file. */
static void
allow_trace(int rules)
{
	const struct output *const o = &writer->trace.output;
	const char *const rings = environment_own()->rings;
	const int root = o->directory >= 0 ? -1 : output_open_root(o);

	landlock_allow(rules, root >= 0 ? root : o->directory,
		       LANDLOCK_USE_FILES);
	if (root >= 0)
		syscall(SYS_close, root);
	if (strcmp(rings, "none") != 0 && strcmp(rings, "beside") != 0)
		landlock_allow_path(rules, rings, LANDLOCK_USE_FILES);
}

void
writer_limit_reach(void)
{
	int rules;

	if (writer->is_limited)
		return;
	writer->is_limited = true;
	/*
	 * Load the compression library now, because the rules do not allow its
	 * folder.
	 */
	if (writer->trace.level != 0)
		deflate_load();
	rules = landlock_create_rules();
	if (rules < 0)
		return;
	remaining_threads_open_proc();
	allow_trace(rules);
	control_allow(rules, privileges_may_change_user());
	landlock_allow_path(rules, "/proc", LANDLOCK_USE_READ);
	/*
	 * If a filter forbids say.c to copy the descriptor of standard error,
	 * say.c opens this path instead.
	 */
	landlock_allow_path(rules, "/proc/self/fd/2", LANDLOCK_USE_WRITE);
	landlock_enforce(rules);
}
