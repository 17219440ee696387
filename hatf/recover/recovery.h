/* SPDX-License-Identifier: MIT */
/*
 * recovery.h - the state of one hatf_recover() call, shared by the files of
 * this room
 *
 * recover.c decides what to do. open_rings.c opens and locks the ring file,
 * find_trace.c finds the trace that belongs to it, complete_trace.c appends the
 * missing events.  Each function that returns a status has set '*r->err' when
 * that status is not HATF_OK.  One thread uses a recovery.
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
	void *memory;		/* of the narrator */
	uint8_t *member, *work; /* one gzip member; working memory of deflate */
	size_t member_cap;
	int level; /* of compression; 0: plain */
	/* The header comment to write anew; NULL: keep that of the trace. */
	char *header;
	size_t header_nbytes;
	struct checked_file rings, trace;
	unsigned flags;		       /* HATF_RECOVER_... */
	struct narrate_stacks *stacks; /* of the narrator */
	uint64_t events_before; /* events in the trace at the last commit */
	bool is_short;		/* the trace lacks committed bytes ... */
	struct intact_blocks intact; /* ... and this much is intact */
	bool is_counting;	     /* count events, write nothing */
	bool other_boot;	     /* the machine has rebooted since */
	bool is_in_place;	     /* the ring file is not a copy */
	uid_t owner; /* of the ring file, and so of every file that changes */
	uint64_t start_time;	     /* of the trace, from its header */
	struct hatf_recovery *found; /* owned by the caller */
	struct hatf_error *err;	     /* owned by the caller */
};

/* Set '*r->err', with errno where 'status' is HATF_IO.  Returns 'status'. */
enum hatf_status recovery_fail(struct recovery *r, enum hatf_status status,
			       uint64_t offset, const char *field);

/*
 * Open, check and read the ring file at 'path' into r->rings and r->set.  Waits
 * up to a second for its process to end.  Errors: HATF_IN_USE: the process is
 * alive; HATF_OTHER_BOOT: the file is from an earlier boot of the machine;
 * HATF_BAD_RINGS; HATF_LIMIT; HATF_IO; HATF_NO_MEMORY.
 */
enum hatf_status recovery_open_rings(struct recovery *r, const char *path);

/*
 * Open the trace of the ring file into r->trace.  'trace' is the path that the
 * user named; NULL: look beside the ring file 'rings', then at the path where
 * the trace was written.  Errors: HATF_IO; HATF_OTHER_RINGS: none of these
 * files is the trace of this ring file.
 */
enum hatf_status recovery_open_trace(struct recovery *r, const char *rings,
				     const char *trace);

/*
 * Compare the length of the trace with the committed length; set r->is_short.
 * HATF_OTHER_RINGS: the trace does not fit the ring file.  HATF_IO,
 * HATF_NO_MEMORY.
 */
enum hatf_status recovery_check_length(struct recovery *r);

/*
 * Handle a process that was killed before its first commit, and so before its
 * first event.  If the trace has a header, make up the commit that would have
 * preceded that header (r->set.commit), because the block may be torn.  Remove
 * an empty file.
 */
enum hatf_status recovery_begin_anew(struct recovery *r, const char *rings,
				     const char *trace);

/*
 * Return true if the file at 'fd' has the header of the ring file's process.
 * '*start_ret' is then the start time of its trace.
 */
bool recovery_has_header(const struct recovery *r, int fd, uint64_t *start_ret);

/*
 * Return true if the owner of the ring file also owns 'f'.  A user who can
 * write a ring file must not be able to change another user's file through it.
 */
bool recovery_is_owners(const struct recovery *r, const struct checked_file *f);

/*
 * Cut off the uncommitted end of the trace and append the missing events.
 * Errors: HATF_IO, HATF_NO_MEMORY.
 */
enum hatf_status recovery_complete(struct recovery *r);

#endif /* HATF_RECOVERY_H */
