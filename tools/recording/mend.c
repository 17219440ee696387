/* SPDX-License-Identifier: MIT */
/* mend.c - see mend.h */
#include "tools/recording/mend.h"

#include "hatf/hatf.h"
#include "tools/control/started.h"
#include "tools/trace/trailer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

/*
 * Write the path of the trace's ring file to 'path'.  The ring file is beside
 * the trace, or in the recorder's directory for ring files.  Return false if
 * there is none.
 */
static bool
find_rings(const char *trace, char *path, size_t nbytes)
{
	const char *const folder = getenv("HATFTRACE_RINGS");
	const char *const slash = strrchr(trace, '/');
	struct stat st;
	int n;

	if (hatf_rings_find(trace, path, nbytes))
		return true;
	/*
	 * As root, hatf_rings_find() looks only beside the trace, because the
	 * names of other directories come from the trace, which is untrusted.
	 * Look also in the directory that our own environment names.
	 */
	if (folder == NULL)
		return false;
	n = snprintf(path, nbytes, "%s/%s" HATF_RINGS_SUFFIX, folder,
		     slash != NULL ? slash + 1 : trace);
	return n > 0 && (size_t)n < nbytes && lstat(path, &st) == 0;
}

/*
 * Complete the trace 't' from its ring file.  If a process still uses the ring
 * file, only set 't->is_running'.  'flags' (HATF_RECOVER_...) says how the
 * process ended; 0: unknown.  Return true if the trace was completed.
 */
static bool
mend(struct collected_trace *t, unsigned flags)
{
	struct hatf_recovery found = { .struct_nbytes = sizeof(found) };
	struct hatf_rings rings = { .struct_nbytes = sizeof(rings) };
	struct hatf_error err;
	char path[PATH_MAX];

	if (!find_rings(t->path, path, sizeof(path)) ||
	    hatf_rings_get(path, &rings, &err) != HATF_OK)
		return false;
	t->is_running = rings.in_use;
	return !rings.in_use &&
	       hatf_recover(path, t->path, flags, &found, &err) == HATF_OK;
}

/*
 * Complete 't' if it has no trailer; otherwise remove a ring file that is left.
 * Then store what the trailer says.  'flags' is as for mend().
 */
static void
mend_trace(struct collected_trace *t, unsigned flags)
{
	struct trailer tail;

	t->has_trailer = trailer_read(t->path, true, &tail);
	if (t->has_trailer) {
		/*
		 * mend() also removes a ring file that the process could not
		 * remove after it gave up privileges.
		 */
		mend(t, 0);
	} else {
		t->is_mended = mend(t, flags);
		/*
		 * Without a ring file, the process id tells whether the process
		 * still runs.
		 */
		t->is_running = t->is_running ||
				(!t->is_mended &&
				 started_is_alive(t->pid, t->pid_start_ns));
		t->has_trailer =
			t->is_mended && trailer_read(t->path, true, &tail);
	}
	if (!t->has_trailer)
		return;
	t->is_complete = tail.complete;
	t->can_be_copied = tail.error[0] == '\0' && tail.missed[0] == '\0';
	t->has_execed = strcmp(tail.end, "exec") == 0;
	t->has_stopped = strcmp(tail.end, "stop") == 0;
}

void
mend_traces(struct collection *c, const struct launch *l)
{
	const unsigned known = WIFSIGNALED(l->wait_status)
				       ? HATF_RECOVER_KILLED
				       : HATF_RECOVER_EXITED;

	/*
	 * 'known' is how the command's own process ended.  Only the last trace
	 * of this process was open at that time, so pass 'known' only for this
	 * trace.
	 */
	for (size_t i = 0; i < c->own_count + c->descendant_count; i++)
		mend_trace(&c->traces[i], i + 1 == c->own_count ? known : 0);
}
