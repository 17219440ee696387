/* SPDX-License-Identifier: MIT */
/* mend.c - see mend.h */
#include "mend.h"

#include "hatf.h"
#include "tail.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Its ring file, beside it or in the folder that the recorder was told. */
static bool
find_rings(const char *trace, char *path, size_t nbytes)
{
	const char *const folder = getenv("HATFTRACE_RINGS");
	const char *const slash = strrchr(trace, '/');
	struct stat st;
	int n;

	if (hatf_find_rings(trace, path, nbytes))
		return true;
	/* root takes another folder from nobody but the command line and
	 * this. */
	if (folder == NULL)
		return false;
	n = snprintf(path, nbytes, "%s/%s" HATF_RINGS_SUFFIX, folder,
		     slash != NULL ? slash + 1 : trace);
	return n > 0 && (size_t)n < nbytes && lstat(path, &st) == 0;
}

/* 'flags' is what is known of the process's end. */
static bool
mend(const char *trace, unsigned flags)
{
	struct hatf_recovery found;
	struct hatf_rings rings;
	struct hatf_error err;
	char path[PATH_MAX];

	/* One that is in use is that of a process that goes on. */
	return find_rings(trace, path, sizeof(path)) &&
	       hatf_look_at_rings(path, &rings, &err) == HATF_OK &&
	       !rings.in_use &&
	       hatf_recover(path, trace, flags, &found, &err) == HATF_OK;
}

void
mend_traces(struct collection *c, const struct launch *l)
{
	const unsigned known = WIFSIGNALED(l->wait_status)
				       ? HATF_RECOVER_KILLED
				       : HATF_RECOVER_EXITED;

	for (size_t i = 0; i < c->own_count + c->descendant_count; i++) {
		struct found *const t = &c->traces[i];
		struct tail tail;

		t->has_trailer = tail_read(t->path, HATF_READ_FOUND, &tail);
		if (t->has_trailer) {
			/* A process without the privileges could not remove
			 * it. */
			mend(t->path, 0);
		} else {
			/* The last of the command's own is of the image that
			 * ended. */
			t->is_mended = mend(t->path,
					    i + 1 == c->own_count ? known : 0);
			t->has_trailer = t->is_mended;
			if (!t->is_mended ||
			    !tail_read(t->path, HATF_READ_FOUND, &tail))
				continue;
		}
		t->is_complete = tail.complete;
		t->has_execed = strcmp(tail.end, "exec") == 0;
	}
}
