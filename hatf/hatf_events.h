/* SPDX-License-Identifier: MIT */
/*
 * hatf_events.h - part of hatf.h: events, and recovery of traces
 *
 * The event stage turns the records of a reader into what the program did, with
 * the set of live blocks, object ids and lifetimes.  hatf.h says what holds for
 * all functions: failure, threads, ownership, growth.
 */
#ifndef HATF_PUBLIC_EVENTS_H
#define HATF_PUBLIC_EVENTS_H

#include "hatf_stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- events */

/* A logical event: what the program did, whatever records it took. */
enum hatf_event_kind {
	/* malloc and its kin; address 0: it failed; see also 'carried' */
	HATF_EVENT_ALLOC,
	HATF_EVENT_FREE,
	HATF_EVENT_REALLOC, /* every realloc, also failed and in-place ones */
	HATF_EVENT_THREAD_CREATE,
	HATF_EVENT_THREAD_DESTROY,
	HATF_EVENT_HEAP_CREATE,
	HATF_EVENT_HEAP_DESTROY,
	HATF_EVENT_COMMENT,
};

/* What is wrong with an event; 0 is "nothing". */
enum hatf_violation {
	HATF_VIOLATION_NONE = 0,
	HATF_VIOLATION_ALLOC_LIVE = 1,	    /* address allocated while live */
	HATF_VIOLATION_FREE_UNKNOWN = 2,    /* free of an unallocated address */
	HATF_VIOLATION_REALLOC_UNKNOWN = 3, /* realloc of one */
	HATF_VIOLATION_TIME = 4,	    /* time went back */
	/*
	 * created twice, destroyed without having been created, or an event of
	 * an unknown thread
	 */
	HATF_VIOLATION_THREAD = 5,
	HATF_VIOLATION_HEAP = 6, /* likewise for heaps */
	/* the alloc and free that a realloc announced do not match it */
	HATF_VIOLATION_PAIRING = 7,
};

/* One English phrase for a violation; static, never NULL. */
HATF_API const char *hatf_violation_text(enum hatf_violation violation);

struct hatf_event {
	enum hatf_event_kind kind;
	enum hatf_violation violation; /* the first one found */
	uint8_t tag;		       /* of its first record */
	/*
	 * a free or realloc of a block that a forked child has from its parent,
	 * or a process from before its trace began; 'object' and the birth are
	 * then 0, unless a realloc made it known, and 'old_size' is 0 if the
	 * parent's trace has not been read
	 */
	bool inherited;
	/*
	 * the object lived when the trace began, which says so: an alloc is
	 * then no event of this trace, and birth_time and birth_event are those
	 * of the trace's beginning
	 */
	bool carried;
	uint32_t attributes_nbytes;
	const uint8_t *attributes; /* of the first record; as in hatf_record */
	uint64_t record;	   /* number of its first record, from 0 */
	uint64_t offset;	   /* of its first record */
	uint64_t time, thread, heap;
	uint64_t address;     /* the new block; 0: none */
	uint64_t size;	      /* bytes asked for */
	uint64_t old_address; /* the block that died or was resized */
	uint64_t old_size;    /* its size; 0 if unknown */
	/*
	 * id of the object concerned, from 1 in order of allocation; a realloc
	 * keeps it, also when the block moves; 0: no object
	 */
	uint64_t object;
	uint64_t birth_time;  /* when the object was allocated */
	uint64_t birth_event; /* number of the event that allocated it */
	uint64_t reserved;    /* 0 */
};

struct hatf_events;

/*
 * Make an event stage over 'reader', which stays the caller's and must be
 * closed after the stage.  Its memory is O(live objects).  The caller must not
 * read from 'reader' himself.  Errors: HATF_NO_MEMORY.
 */
HATF_API enum hatf_status hatf_events_open(struct hatf_reader *reader,
					   struct hatf_events **events_ret);

/* What is known of the blocks that a forked child has from its parent. */
enum hatf_heritage {
	HATF_HERITAGE_NONE = 0,	   /* it is no such child */
	HATF_HERITAGE_EXACT = 1,   /* all: they are live from the start */
	HATF_HERITAGE_UNKNOWN = 2, /* hatf_events_inherit() was not called */
	/* the trace does not say exactly when it forked (FORMAT "Header") */
	HATF_HERITAGE_INEXACT = 3,
	HATF_HERITAGE_MISSING = 4, /* the trace of an ancestor was not found */
	/*
	 * the trace of an ancestor is damaged, ends before the fork or has lost
	 * events
	 */
	HATF_HERITAGE_DAMAGED = 5,
};

/* One English phrase; static, never NULL. */
HATF_API const char *hatf_heritage_text(enum hatf_heritage heritage);

/*
 * Make the blocks that a forked child has from its parent live from the start:
 * read the parent's trace up to the fork, that of the parent's parent before,
 * and so on.  To be called before the first event is read.  From then on a free
 * of an unallocated address is a violation as in any trace.
 *
 * A parent's trace is looked for beside 'path', which is where the child's
 * trace is (NULL or "-": unknown; then in the working directory), and where the
 * child's header says, if that is an absolute path and the file there is of the
 * owner of the child's.  Files are opened as by hatf_file_open_found(), and at
 * most HATF_ANCESTORS_MAX of them.
 *
 * Stores what has been found.  Unless that is HATF_HERITAGE_EXACT, the first
 * free of each unknown address counts as one of an inherited block, as without
 * this call.  Memory is O(live objects).  Errors: HATF_NO_MEMORY.
 */
#define HATF_ANCESTORS_MAX 64
HATF_API enum hatf_status hatf_events_inherit(struct hatf_events *events,
					      const char *path,
					      enum hatf_heritage *heritage_ret);

/*
 * Read up to 'max' events into 'out' and store in '*n_ret' how many.  Results
 * and errors are those of hatf_reader_read(), and hatf_reader_error() of the
 * reader has the place; HATF_NO_MEMORY may also be the stage's own.  An event
 * with a violation is delivered like any other, and later events are judged as
 * if the program was right (a block is live from its latest alloc on).
 */
HATF_API enum hatf_status hatf_events_read(struct hatf_events *events,
					   struct hatf_event *out, size_t max,
					   size_t *n_ret);

/* Bits of hatf_event_columns.flags. */
enum {
	HATF_COLUMN_INHERITED = 1, /* as in struct hatf_event */
	HATF_COLUMN_CARRIED = 2,
	HATF_COLUMN_VIOLATION = 4,
	HATF_COLUMN_FAILED = 8, /* an alloc or realloc that changed nothing */
};

/*
 * Where to store the fields of events: arrays of the caller's, or NULL for
 * fields that are not wanted.
 */
struct hatf_event_columns {
	size_t struct_nbytes; /* set by the caller, see hatf.h */
	uint8_t *kind;	      /* enum hatf_event_kind */
	uint8_t *flags;	      /* HATF_COLUMN_ bits */
	uint64_t *time, *thread, *heap, *address, *size;
	uint64_t *old_address, *old_size, *object;
	uint64_t *stack; /* its id; 0: none */
	/* Learns the definitions of stacks, hatf_stacks_note(); or NULL. */
	struct hatf_stacks *stacks;
	uint64_t reserved[2]; /* 0 */
};

/*
 * Read up to 'max' events into the rows from 'first' of all columns, and store
 * in '*n_ret' how many.  Comments are no rows.  HATF_OK comes with at least one
 * event.  Results and errors are those of hatf_events_read(); also
 * HATF_BAD_OPTION ("struct_nbytes", "reserved").  A wrong definition of a stack
 * is ignored.  Do not mix the calls on one stage.
 */
HATF_API enum hatf_status
hatf_events_read_columns(struct hatf_events *events,
			 const struct hatf_event_columns *columns, size_t first,
			 size_t max, size_t *n_ret);

/* The events that have been read so far. */
struct hatf_events_stats {
	size_t struct_nbytes; /* set by the caller, see hatf.h */
	uint64_t event_count; /* alloc, free, realloc */
	uint64_t live_count, live_nbytes;
	uint64_t peak_live_count, peak_live_nbytes; /* each at its own peak */
	uint64_t thread_count; /* that ever existed, the initial one too */
	uint64_t first_time, last_time;
	uint64_t inherited_count; /* frees and reallocs of inherited blocks */
	/* after hatf_events_inherit(): at the fork, and of these still live */
	uint64_t start_live_count, start_live_nbytes;
	uint64_t inherited_live_count, inherited_live_nbytes;
	uint64_t violation_count;
	/* Blocks that lived when the trace began, as far as it says so. */
	uint64_t carried_count, carried_nbytes;
	enum hatf_heritage heritage;
	unsigned reserved; /* 0 */
};
HATF_API void hatf_events_get_stats(const struct hatf_events *events,
				    struct hatf_events_stats *stats_ret);

/* An object that is live after the events read so far. */
struct hatf_live {
	uint64_t address, size, heap;
	uint64_t object; /* id; the rest is as in hatf_event */
	uint64_t birth_time, birth_event;
	bool carried;
	uint64_t reserved; /* 0 */
};

/*
 * Call 'visit' for each live object, in no particular order, until it returns
 * false.  It must not use 'events'; '*live' is valid during the call.  Returns
 * whether it was called for all.
 */
HATF_API bool
hatf_events_visit_live(const struct hatf_events *events,
		       bool (*visit)(void *ctx, const struct hatf_live *live),
		       void *ctx);

/*
 * From here on, also keep the live objects in the order of their addresses, for
 * the two functions below.  It takes half a byte for each 4096 addresses with
 * objects, where these lie side by side.  Errors: HATF_NO_MEMORY.
 */
HATF_API enum hatf_status hatf_events_keep_order(struct hatf_events *events);

/*
 * Store the last live object of 'heap' before 'address', or the first one after
 * it that begins at 'last' at the latest; false if there is none, or if 'last'
 * is less than 'address'.  Only after hatf_events_keep_order().  The state is
 * that after all events that were read: read one event a call to see the state
 * after each.
 */
HATF_API bool hatf_events_live_before(struct hatf_events *events, uint64_t heap,
				      uint64_t address,
				      struct hatf_live *live_ret);
HATF_API bool hatf_events_live_after(struct hatf_events *events, uint64_t heap,
				     uint64_t address, uint64_t last,
				     struct hatf_live *live_ret);

/* Free the stage, not the reader; NULL is allowed. */
HATF_API void hatf_events_close(struct hatf_events *events);

/* -------------------------------------------------------------- recovery */

/*
 * A process that is killed, or ends by a system call that its recorder does not
 * see, leaves its trace without the last events and without a trailer, and
 * beside it a ring file (RINGS.md), which has the rest.
 */

/* The name of a ring file is that of its first trace, and this. */
#define HATF_RINGS_SUFFIX ".rings"

/* The header of a ring file. */
struct hatf_rings {
	size_t struct_nbytes; /* set by the caller, see hatf.h */
	uint64_t pid;	      /* of the process */
	char trace[4096]; /* its trace's path when that was made; "": unknown */
	bool in_use;	  /* by the process, which is alive, or by a recovery */
	uint8_t reserved[7]; /* 0 */
};

/*
 * Find the ring file that belongs to 'trace' and copy its path to 'path', of
 * 'nbytes' bytes, NUL-terminated.  It is beside the trace, or where the trace
 * says that it is, if that is an absolute path and the file there is of the
 * trace's owner.  For root it is only beside the trace: whoever wrote the trace
 * may have written its owner's name into the rest, too.  Files are opened as by
 * hatf_file_open_found().  False if there is none, or its path does not fit.
 */
HATF_API bool hatf_rings_find(const char *trace, char *path, size_t nbytes);

/*
 * Store what the ring file at 'rings' says; on errors all 0.  Errors:
 * HATF_BAD_RINGS, HATF_IO, HATF_NO_MEMORY.
 */
HATF_API enum hatf_status hatf_rings_get(const char *rings,
					 struct hatf_rings *rings_ret,
					 struct hatf_error *err);

/* Bits of the flags of hatf_recover(). */
#define HATF_RECOVER_DRY_RUN 1u /* change nothing, say what would be done */
/*
 * Accept a ring file from before the system's last start, or from another
 * machine, and take what is left of a damaged one.  The trace is then not
 * called complete.
 */
#define HATF_RECOVER_FORCE 2u
/*
 * What the caller knows of the process, as its parent: it ended by a system
 * call of its own, past libc; or by a signal.  The trailer says so.
 */
#define HATF_RECOVER_EXITED 4u
#define HATF_RECOVER_KILLED 8u

struct hatf_recovery {
	size_t struct_nbytes; /* set by the caller, see hatf.h */
	uint64_t pid;	      /* of the process; 0: unknown */
	uint64_t event_count; /* logical events in the trace now */
	uint64_t recovered;   /* of these come from the rings */
	uint64_t cut_nbytes;  /* of the file, of a block cut off */
	uint64_t gap_nbytes;  /* that the file had once and has no more */
	uint64_t lost_count;  /* events that the trace says are missing */
	char trace[4096];     /* path of the trace, NUL-terminated; or "" */
	bool had_trailer;     /* it had nothing to recover */
	bool complete;	      /* every event is in the trace */
	uint8_t reserved[6];  /* 0 */
};

/*
 * Complete a trace from the ring file at 'rings': cut off a block that was not
 * written whole, append every event that the rings have and the trace has not,
 * and a trailer that says so; then remove the ring file.  Of a trace that is
 * shorter than it was (power loss, a copy cut off) the whole blocks are kept,
 * and all events after them are counted as lost.  'trace' is the path of the
 * trace; NULL: the one that the ring file names, beside it or where it was, or
 * the one beside it with its name.  May be interrupted and called again.
 *
 * The directories of 'rings' and 'trace' are followed as they are given; files
 * are opened as by hatf_file_open_found().  Nothing is written or removed but
 * what was checked before, in the directories in which it was found, whatever
 * their names come to mean meanwhile.
 *
 * '*recovery_ret' is filled in as far as known, on errors too.  Errors: HATF_IO
 * (of the trace if its 'trace' is not "" and 'file_offset' is 0, else of the
 * ring file), HATF_NO_MEMORY, HATF_LIMIT, HATF_BAD_RINGS, HATF_IN_USE,
 * HATF_OTHER_RINGS, HATF_OTHER_BOOT; the trace is then unchanged, except after
 * HATF_IO while it was being written.
 */
HATF_API enum hatf_status hatf_recover(const char *rings, const char *trace,
				       unsigned flags,
				       struct hatf_recovery *recovery_ret,
				       struct hatf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HATF_PUBLIC_EVENTS_H */
