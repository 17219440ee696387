/* SPDX-License-Identifier: MIT */
/*
 * recovery.h - the state of one hatf_recover() call, shared by the files of
 * this room
 *
 * recover.c decides what to do.  open_rings.c opens and locks the ring file,
 * find_trace.c finds the trace of the ring file, and complete_trace.c appends
 * the missing events to the trace.  If a function returns a status other than
 * HATF_OK, the function has set '*r->err'.  Only one thread may use a recovery.
 */
#ifndef HATF_RECOVERY_H
#define HATF_RECOVERY_H

#include "hatf/hatf.h"
#include "hatf/io/checked_file.h"
#include "hatf/recover/intact_blocks.h"
#include "hatf/recover/saved_rings.h"
#include "hatf/rings/narrate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recovery {
	struct saved_rings set;
	struct narrator *narrator;
	void *memory; /* memory for the narrator */
	/* memory for one gzip member; the work area of deflate */
	uint8_t *member, *work;
	size_t member_cap;
	int level; /* level of compression; 0: the trace is not compressed */
	/*
	 * A header comment to write in place of the trace's own header; NULL:
	 * keep that header.
	 */
	char *header;
	size_t header_nbytes;
	struct checked_file rings, trace;
	unsigned flags;		       /* HATF_RECOVER_... */
	struct narrate_stacks *stacks; /* the call stacks of the narrator */
	/*
	 * number of events in the part of the trace that recovery keeps: the
	 * part up to the last commit or, if 'is_short' is set, the intact part
	 */
	uint64_t events_before;
	/* the trace does not have all blocks that the last commit counts */
	bool is_short;
	/* if 'is_short' or 'is_rewritten': how much of the trace is intact */
	struct intact_blocks intact;
	/*
	 * 'trace' is a trace that another program has written anew after the
	 * recorder had completed it.  While recovery_open_trace() looks for the
	 * trace, 'true' means that it accepts only such a trace.
	 */
	bool is_rewritten;
	bool is_counting; /* only count events, do not write */
	/* the ring file is from an earlier boot or another machine */
	bool other_boot;
	/* the ring file is the original, not a copy */
	bool is_in_place;
	/*
	 * The user who owns the ring file, and must own every file that
	 * recovery changes.
	 */
	uid_t owner;
	/* Start time of the trace, from its header. */
	uint64_t start_time;
	struct hatf_recovery *found; /* the result, which the caller owns */
	struct hatf_error *err;	     /* the error, which the caller owns */
};

/*
 * Store 'status', 'offset' and 'field' in '*r->err', and errno if 'status' is
 * HATF_IO.  Return 'status'.
 */
enum hatf_status recovery_fail(struct recovery *r, enum hatf_status status,
			       uint64_t offset, const char *field);

/* Does 'path' end in HATF_RINGS_SUFFIX, with a name before it? */
bool recovery_is_rings_name(const char *path);

/*
 * Open the ring file at 'path' as r->rings, check it, and read it into r->set.
 * Wait up to a second for the process that made the ring file to end.  Errors:
 * HATF_IN_USE: the process is alive, or another recovery has locked the file;
 * HATF_OTHER_BOOT: the file is from an earlier boot or another machine, and
 * r->flags lacks HATF_RECOVER_FORCE; HATF_BAD_RINGS; HATF_LIMIT; HATF_IO;
 * HATF_NO_MEMORY.
 */
enum hatf_status recovery_open_rings(struct recovery *r, const char *path);

/*
 * Open the trace of the ring file 'rings' as r->trace.  'trace' is the path
 * that the user gave.  If 'trace' is NULL, look beside the ring file and then,
 * unless the ring file is a copy, at the path where the process wrote the
 * trace.  Errors: HATF_IO; HATF_OTHER_RINGS: a file was found, but is not the
 * trace of this ring file.
 */
enum hatf_status recovery_open_trace(struct recovery *r, const char *rings,
				     const char *trace);

/*
 * Check that the trace has all blocks that the last commit counts.  Set
 * r->is_short and, if it is true, r->intact.  Errors: HATF_OTHER_RINGS: the
 * trace does not belong to the ring file; HATF_IO; HATF_NO_MEMORY.
 */
enum hatf_status recovery_check_length(struct recovery *r);

/*
 * Handle a process that was killed before its first commit.  Such a process has
 * put no event into the ring file.  If the trace has a header but no event, let
 * recovery write the trace anew, because the block of the header may be
 * incomplete: copy the header to r->header, and make r->set.commit the commit
 * of a trace of length 0.  Otherwise leave r->set.commit NULL.  If the trace
 * file is empty, remove the file, unless this is a dry run.
 */
enum hatf_status recovery_begin_anew(struct recovery *r, const char *rings,
				     const char *trace);

/*
 * Is the file 'fd' a trace whose header states the same process id as the ring
 * file?  If so, store the start time of the trace in '*start_ret'.
 */
bool recovery_has_header(const struct recovery *r, int fd, uint64_t *start_ret);

/*
 * Does the owner of the ring file also own 'f'?  Without this check, a user who
 * can write a ring file could make recovery change another user's file.
 */
bool recovery_is_owners(const struct recovery *r, const struct checked_file *f);

/*
 * Cut off the bytes of the trace after the last commit, and append the missing
 * events and a trailer.  If r->is_short, cut the trace after its intact part,
 * and append only the number of lost events and a trailer.  In a dry run, only
 * fill in '*r->found'.  Errors: HATF_IO, HATF_NO_MEMORY.
 */
enum hatf_status recovery_complete(struct recovery *r);

#endif /* HATF_RECOVERY_H */
