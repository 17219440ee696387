/* SPDX-License-Identifier: MIT */
/*
 * recover.c - move the events that a killed process left in its rings to its
 * trace
 *
 * Recovery reads the rings with the code that the live process uses: order.c
 * sorts the events, narrate.c makes records of them.  Recovery continues where
 * the last commit ended (image.h).  Recovery can start over at any time,
 * because the ring file does not change until the trace with its trailer is on
 * the disk.
 */
#include "hatf/base/sized.h"
#include "hatf/deflate/deflate.h"
#include "hatf/io/paths.h"
#include "hatf/recover/recovery.h"

#include <fcntl.h>
#include <stdlib.h>

/*
 * Remove the file that the process had created beside the trace for the next
 * segment.  Keep a file whose owner is not the ring file's owner.  Also keep a
 * file that is not empty, unless its header has the process id and the start
 * time of the trace.
 */
static void
remove_announced(const struct recovery *r)
{
	const struct image *const image = r->set.image;
	const struct image_trace *const t =
		&image->trace[r->set.commit->trace ^ 1];
	struct checked_file f;
	uint64_t start = 0;

	if (t->announced_seq != image->seq || t->path[0] == '\0' ||
	    !checked_file_open_in(&f, r->trace.dir_fd, paths_base(t->path),
				  O_RDONLY))
		return;
	if (!checked_file_is_same(&f.st, &r->trace.st) &&
	    recovery_is_owners(r, &f) &&
	    (f.st.st_size == 0 ||
	     (recovery_has_header(r, f.fd, &start) && start == r->start_time)))
		checked_file_remove(&f);
	checked_file_close(&f);
}

/* Remove the ring file, since nothing more can be recovered from it. */
static enum hatf_status
remove_rings(struct recovery *r)
{
	return checked_file_remove(&r->rings)
		       ? HATF_OK
		       : recovery_fail(r, HATF_IO, 0, NULL);
}

/*
 * Complete the trace.  If the trace already has its trailer, only report the
 * counts of its events.
 */
static enum hatf_status
complete(struct recovery *r)
{
	const struct image_commit *const commit = r->set.commit;

	if ((r->is_short && r->intact.has_trailer) || r->is_rewritten) {
		/*
		 * An earlier recovery wrote the trailer, but was interrupted
		 * before it removed the ring file.  Or the trace was complete,
		 * and another program has written it anew.
		 */
		r->found->had_trailer = true;
		r->found->event_count = r->intact.event_count;
		r->found->lost_count = r->intact.lost_count;
		return HATF_OK;
	}
	if (!r->is_short && (commit->flags & IMAGE_COMMIT_ENDED) != 0 &&
	    r->set.word_count == 0 && r->found->cut_nbytes == 0) {
		r->found->had_trailer = true;
		r->found->complete = commit->lost_count == 0 &&
				     (commit->flags & IMAGE_COMMIT_MISSED) == 0;
		r->found->event_count = commit->event_count;
		return HATF_OK;
	}
	return recovery_complete(r);
}

static enum hatf_status
recover(struct recovery *r, const char *rings, const char *trace)
{
	const bool dry = (r->flags & HATF_RECOVER_DRY_RUN) != 0;
	enum hatf_status status = recovery_open_rings(r, rings);

	if (status != HATF_OK)
		return status;
	if (r->set.commit == NULL) {
		status = recovery_begin_anew(r, rings, trace);
		if (status == HATF_OK && r->set.commit == NULL && !dry)
			return remove_rings(r);
		if (status != HATF_OK || r->set.commit == NULL)
			return status;
	} else {
		status = recovery_open_trace(r, rings, trace);
		if (status == HATF_OK)
			status = recovery_check_length(r);
	}
	if (status == HATF_OK)
		status = complete(r);
	if (status != HATF_OK || dry)
		return status;
	remove_announced(r);
	return remove_rings(r);
}

enum hatf_status
hatf_recover(const char *rings, const char *trace, unsigned flags,
	     struct hatf_recovery *recovery_ret, struct hatf_error *err)
{
	struct hatf_recovery found = { .pid = 0 };
	struct hatf_error ignored;
	struct recovery r = {
		.rings = CHECKED_FILE_NONE,
		.trace = CHECKED_FILE_NONE,
		.flags = flags,
		.found = &found,
		.err = err == NULL ? &ignored : err,
	};
	enum hatf_status status;

	*r.err = (struct hatf_error){ .status = HATF_OK };
	status = recover(&r, rings, trace);
	sized_give(recovery_ret, &found, sizeof(found));
	saved_rings_fini(&r.set);
	free(r.header);
	free(r.narrator);
	free(r.stacks);
	free(r.memory);
	free(r.member);
	free(r.work);
	checked_file_close(&r.trace);
	/* Closing the ring file also releases its lock. */
	checked_file_close(&r.rings);
	return status;
}
