/* SPDX-License-Identifier: MIT */
/*
 * recovery.h - the state of one hatf_recover() call, which the files of this room share
 *
 * recover.c decides what to do.  open_rings.c opens and locks the ring file,
 * find_trace.c finds the trace that belongs to it, complete_trace.c appends what the
 * trace lacks.  Each function that returns a status has set '*r->err' when that
 * status is not HATF_OK.  One thread uses a recovery.
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
	void *memory;		/* the narrator's */
	uint8_t *member, *work; /* one gzip member; what deflate works with */
	size_t member_cap;
	int level; /* of compression; 0: plain */
	/* The header comment to write anew; NULL: the trace keeps what it has. */
	char *header;
	size_t header_nbytes;
	struct checked_file rings, trace;
	unsigned flags;		/* HATF_RECOVER_... */
	uint64_t events_before; /* events in the trace at the last commit */
	bool is_short; /* The trace lacks some of what was committed ... */
	struct intact_blocks intact; /* ... and this much is there. */
	bool is_counting;	     /* count events, write nothing */
	bool other_boot;	     /* the machine was started again since */
	bool is_in_place;	     /* the ring file is no copy */
	uid_t owner; /* of the ring file, and so of every file that changes */
	uint64_t start_time;	     /* the trace's, from its header */
	struct hatf_recovery *found; /* the caller's */
	struct hatf_error *err;	     /* the caller's */
};

/* Set '*r->err', with errno where 'status' is HATF_IO.  Returns 'status'. */
enum hatf_status recovery_fail(struct recovery *r, enum hatf_status status,
			       uint64_t offset, const char *field);

/*
 * Open, check and read the ring file at 'path' into r->rings and r->set.  Waits up to
 * a second for its process to end.  HATF_IN_USE: the process lives.
 * HATF_OTHER_BOOT: the file is of an earlier boot of the machine.
 */
enum hatf_status recovery_open_rings(struct recovery *r, const char *path);

/*
 * Open the trace of the ring file into r->trace.  'trace' is the path that the user
 * named; NULL: look beside the ring file 'rings', then where the trace was written.
 * HATF_OTHER_RINGS: no such file is the trace of this ring file.
 */
enum hatf_status recovery_open_trace(struct recovery *r, const char *rings,
				     const char *trace);

/* Compare the length of the trace with what was committed; set r->is_short. */
enum hatf_status recovery_check_length(struct recovery *r);

/*
 * The process was killed before its first commit, and so before its first event.
 * Where the trace has a header, make up the commit that would have preceded that
 * header (r->set.commit), because the block may be torn.  Remove an empty file.
 */
enum hatf_status recovery_begin_anew(struct recovery *r, const char *rings,
				     const char *trace);

/*
 * Does the file at 'fd' have the header of the ring file's process?  Then
 * '*start_ret' is the time at which its trace began.
 */
bool recovery_has_header(const struct recovery *r, int fd, uint64_t *start_ret);

/*
 * Does the owner of the ring file own 'f', too?  A user who can write a ring file must
 * not be able to change another user's file through it.
 */
bool recovery_is_owners(const struct recovery *r, const struct checked_file *f);

/* Cut off the uncommitted end of the trace and append what the trace lacks. */
enum hatf_status recovery_complete(struct recovery *r);

#endif /* HATF_RECOVERY_H */
