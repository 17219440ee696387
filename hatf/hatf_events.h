/* SPDX-License-Identifier: MIT */
/*
 * hatf_events.h - part of hatf.h: events, and recovery of traces
 *
 * The event stage turns the records of a reader into logical events, and
 * maintains the set of live blocks, their object ids and lifetimes.  hatf.h
 * describes what all functions have in common: failure, threads, ownership,
 * growth.
 */
#ifndef HATF_PUBLIC_EVENTS_H
#define HATF_PUBLIC_EVENTS_H

#include "hatf_stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- events */

/*
 * What a logical event is: a comment, or one action of the program.  The trace
 * may need several records for one action.
 */
enum hatf_event_kind {
	/*
	 * malloc, calloc and similar calls.  If 'address' is 0, the call
	 * failed.  See also 'carried' of struct hatf_event.
	 */
	HATF_EVENT_ALLOC,
	HATF_EVENT_FREE,
	/* Every realloc, including failed and in-place ones. */
	HATF_EVENT_REALLOC,
	HATF_EVENT_THREAD_CREATE,
	HATF_EVENT_THREAD_DESTROY,
	HATF_EVENT_HEAP_CREATE,
	HATF_EVENT_HEAP_DESTROY,
	HATF_EVENT_COMMENT,
};

/* How an event violates the rules of a trace; 0 means "not at all". */
enum hatf_violation {
	HATF_VIOLATION_NONE = 0,
	/* the address was allocated while a block was live there */
	HATF_VIOLATION_ALLOC_LIVE = 1,
	/* free of an address where no block is live */
	HATF_VIOLATION_FREE_UNKNOWN = 2,
	/* Realloc of an address where no block is live. */
	HATF_VIOLATION_REALLOC_UNKNOWN = 3,
	/*
	 * the time of a record is earlier than the time of the record before
	 * it; comments have no time
	 */
	HATF_VIOLATION_TIME = 4,
	/*
	 * the trace creates a thread twice, or destroys or uses a thread that
	 * does not exist
	 */
	HATF_VIOLATION_THREAD = 5,
	/*
	 * the trace creates a heap twice, or destroys or uses a heap that does
	 * not exist; or the trace destroys heap 0, and its first record is a
	 * "HATF 1.0" comment
	 */
	HATF_VIOLATION_HEAP = 6,
	/*
	 * a realloc announced an alloc or free that is missing or does not
	 * match the realloc; or the addresses of a realloc do not fit the tag
	 * of the realloc (FORMAT "Realloc")
	 */
	HATF_VIOLATION_PAIRING = 7,
};

/* Return an English phrase for a violation; static, never NULL. */
HATF_API const char *hatf_violation_text(enum hatf_violation violation);

struct hatf_event {
	enum hatf_event_kind kind;
	/*
	 * A violation by this event, or by the realloc before this event: a
	 * record that the realloc announced is missing, does not match the
	 * realloc (FORMAT "Realloc"), or is earlier than the record before it.
	 * If there are several violations, this is one of them.
	 */
	enum hatf_violation violation;
	uint8_t tag; /* tag of the event's first record */
	/*
	 * The event frees or reallocates a block that a forked child inherited
	 * from its parent, or that the process allocated before its trace
	 * began.  'object', 'birth_time' and 'birth_event' are then 0, with one
	 * exception: a realloc can make the block an object of this trace.  The
	 * birth of the object is then this realloc.  'old_size' is 0 if the
	 * parent's trace has not been read.
	 */
	bool inherited;
	/*
	 * The trace states that the object was live when the trace began.  An
	 * alloc with this flag is returned, but does not count as an event of
	 * this trace.  The object's 'birth_event' is 0, and its 'birth_time' is
	 * the time at which the trace began.
	 */
	bool carried;
	uint32_t attributes_nbytes;
	/*
	 * The attributes of the event's first record, as in struct hatf_record.
	 */
	const uint8_t *attributes;
	uint64_t record; /* number of the event's first record, from 0 */
	uint64_t offset; /* offset of the event's first record */
	uint64_t time, thread, heap;
	/* address of the block that an alloc or realloc returned; 0: none */
	uint64_t address;
	/* bytes that an alloc or realloc asked for, even if the call failed */
	uint64_t size;
	/* Address of the block that was freed or reallocated. */
	uint64_t old_address;
	uint64_t old_size; /* size of the block at 'old_address'; 0: unknown */
	/*
	 * id of the object, from 1 in the order of allocation.  A realloc keeps
	 * the id, even if it moves the block.  0: the event has no object
	 */
	uint64_t object;
	uint64_t birth_time; /* time at which the object was allocated */
	/*
	 * number of the event that allocated the object: how many allocs, frees
	 * and reallocs came before it
	 */
	uint64_t birth_event;
	/*
	 * After hatf_events_number_blocks(): 'block' is the number of the block
	 * at 'address', or 0 if the event made no block.  'old_block' is the
	 * number of the block at 'old_address', or 0 if that block is not known
	 */
	uint32_t block, old_block;
};

struct hatf_events;

/*
 * Make an event stage over 'reader', which stays the caller's and must be
 * closed after the stage.  The memory of the stage grows with the largest
 * number of live objects, and with the numbers of threads and heaps.  If the
 * process is a forked child, and hatf_events_inherit() has not read the
 * parent's trace, the memory also grows with the number of inherited blocks
 * that the process freed.  The caller must not read from 'reader' directly.
 * Errors: HATF_NO_MEMORY.
 */
HATF_API enum hatf_status hatf_events_open(struct hatf_reader *reader,
					   struct hatf_events **events_ret);

/*
 * Let the stage number the live blocks, so that the caller can keep what it
 * knows of each block in an array: 'block' and 'old_block' of events, and
 * 'block' of live objects, are indices of this array.
 *
 * The blocks of a heap have numbers from 1.  No two live blocks of a heap have
 * the same number, and no number exceeds the largest number of blocks that were
 * live in the heap at the same time.  A realloc keeps the number.  A number can
 * be used again after an event that ends its block: a free, a realloc that
 * frees the block, or the end of the heap.  If the trace contradicts itself or
 * lacks a free, an alloc or realloc may replace a block that is still live at
 * the new address; 'block' of the event is then the number of the replaced
 * block.  If the old block of a realloc of tag HATF_REALLOC_ALLOC stays live,
 * the stage gives the old block another number, without an event.
 *
 * The stage then needs about twice the memory for each block, and handles
 * events faster.  Call this before hatf_events_inherit() and before reading the
 * first event, and do not call hatf_events_keep_order().  Errors:
 * HATF_BAD_OPTION (the call comes too late, or the stage keeps an order).
 */
HATF_API enum hatf_status hatf_events_number_blocks(struct hatf_events *events);

/*
 * How much is known about the blocks that a forked child inherited from its
 * parent.
 */
enum hatf_heritage {
	HATF_HERITAGE_NONE = 0, /* the trace is not one of a forked child */
	/* All inherited blocks are known and live from the start. */
	HATF_HERITAGE_EXACT = 1,
	HATF_HERITAGE_UNKNOWN = 2, /* hatf_events_inherit() was not called */
	/*
	 * the trace, or the trace of an ancestor, does not say exactly which
	 * blocks were inherited, for one of these reasons (FORMAT "Header"):
	 *
	 *   - Its header lacks the name of the parent's trace or of the
	 *     previous segment, or the exact event of the fork.
	 *   - The trace began later than its process.
	 *   - Its header has the key "live" with a value other than "exact".
	 */
	HATF_HERITAGE_INEXACT = 3,
	/*
	 * the trace of an ancestor, or an earlier segment, was not found, or
	 * there are more than HATF_ANCESTORS_MAX of them
	 */
	HATF_HERITAGE_MISSING = 4,
	/*
	 * the trace of an ancestor, or an earlier segment, is damaged, ends
	 * before the fork, or lacks events or blocks
	 */
	HATF_HERITAGE_DAMAGED = 5,
};

/* Return an English phrase for a heritage; static, never NULL. */
HATF_API const char *hatf_heritage_text(enum hatf_heritage heritage);

/*
 * Treat the blocks that a forked child inherited from its parent as live from
 * the start of the trace.  To find these blocks, the function reads the
 * parent's trace up to the fork; if the parent is itself a forked child, the
 * function first reads the grandparent's trace, and so on.  If the child's
 * trace is a later segment, the function takes the inherited blocks that are
 * left at the end of the previous segment.  The caller must call this before
 * reading the first event.  If the result is HATF_HERITAGE_EXACT, a free of an
 * address where no block is live is from then on a violation, as in any other
 * trace.
 *
 * The function looks for a parent's trace in the folder of 'path', which is the
 * path of the child's trace.  If 'path' is NULL or "-", it looks in the working
 * directory.  It also looks at the path that the child's header names, if this
 * path is absolute and the file there has the same owner as the child's trace.
 * The function opens at most HATF_ANCESTORS_MAX files, each as
 * hatf_file_open_found() does.
 *
 * Store the result in '*heritage_ret'.  If it is neither HATF_HERITAGE_EXACT
 * nor HATF_HERITAGE_NONE, the first free or realloc of each unknown address
 * counts as a free or realloc of an inherited block, as without this call.
 * Memory is O(live objects).  Errors: HATF_NO_MEMORY.
 */
#define HATF_ANCESTORS_MAX 64
HATF_API enum hatf_status hatf_events_inherit(struct hatf_events *events,
					      const char *path,
					      enum hatf_heritage *heritage_ret);

/*
 * Read up to 'max' events into 'out' and store in '*n_ret' how many.  Results
 * and errors are those of hatf_reader_read(), and hatf_reader_error() of the
 * reader returns the place of the error.  The stage itself may also run out of
 * memory: HATF_NO_MEMORY.  An event with a violation is returned like any
 * other.  If an event contradicts earlier events, the stage believes the later
 * event: a block is live from its latest alloc on.
 */
HATF_API enum hatf_status hatf_events_read(struct hatf_events *events,
					   struct hatf_event *out, size_t max,
					   size_t *n_ret);

/* Bits of 'flags' in struct hatf_event_columns. */
enum {
	/* 'inherited' of struct hatf_event is true */
	HATF_COLUMN_INHERITED = 1,
	HATF_COLUMN_CARRIED = 2,
	HATF_COLUMN_VIOLATION = 4,
	HATF_COLUMN_FAILED = 8, /* an alloc or realloc that failed */
};

/*
 * The arrays, owned by the caller, in which to store the fields of events; NULL
 * for fields that the caller does not need.
 */
struct hatf_event_columns {
	/* the caller sets it to the sizeof the struct, see hatf.h */
	size_t struct_nbytes;
	uint8_t *kind;	/* enum hatf_event_kind of each event */
	uint8_t *flags; /* HATF_COLUMN_ bits of each event */
	uint64_t *time, *thread, *heap, *address, *size;
	uint64_t *old_address, *old_size, *object;
	uint64_t *stack; /* id of each event's call stack; 0: none */
	/*
	 * where hatf_events_read_columns() stores the definitions of stacks, by
	 * hatf_stacks_note(); NULL: it ignores the definitions
	 */
	struct hatf_stacks *stacks;
	uint64_t reserved[2]; /* always 0 */
};

/*
 * Read up to 'max' events into the rows of all columns, from row number 'first'
 * on.  Store in '*n_ret' how many events were read.  Comments get no row.  With
 * HATF_OK, there is at least one event, unless 'max' is 0.  Results and errors
 * are those of hatf_events_read(); also HATF_BAD_OPTION ("struct_nbytes",
 * "reserved").  An invalid definition of a stack is ignored.  Do not mix this
 * call with hatf_events_read() on one stage.
 */
HATF_API enum hatf_status
hatf_events_read_columns(struct hatf_events *events,
			 const struct hatf_event_columns *columns, size_t first,
			 size_t max, size_t *n_ret);

/* Figures about the events that have been read so far. */
struct hatf_events_stats {
	/* the caller sets it to the sizeof the struct, see hatf.h */
	size_t struct_nbytes;
	/*
	 * number of logical events: all allocs (except carried ones), frees and
	 * reallocs
	 */
	uint64_t event_count;
	uint64_t live_count, live_nbytes;
	/*
	 * Maximum number of live blocks, and maximum number of their bytes.
	 * The two maxima may be reached at different times.
	 */
	uint64_t peak_live_count, peak_live_nbytes;
	/* How many threads ever existed, including the initial one. */
	uint64_t thread_count;
	uint64_t first_time, last_time;
	/* number of frees and reallocs of inherited blocks */
	uint64_t inherited_count;
	/*
	 * After hatf_events_inherit(): number and bytes of the blocks that were
	 * live at the fork ('start_live_'), and of those blocks that have been
	 * neither freed nor reallocated so far ('inherited_live_').
	 */
	uint64_t start_live_count, start_live_nbytes;
	uint64_t inherited_live_count, inherited_live_nbytes;
	uint64_t violation_count;
	/*
	 * Number and bytes of the blocks that were live when the trace began,
	 * if the trace states them.
	 */
	uint64_t carried_count, carried_nbytes;
	enum hatf_heritage heritage;
	unsigned reserved; /* always 0 */
};
HATF_API void hatf_events_get_stats(const struct hatf_events *events,
				    struct hatf_events_stats *stats_ret);

/* An object that is live after the events read so far. */
struct hatf_live {
	uint64_t address, size, heap;
	/* id of the object; the members below are as in struct hatf_event */
	uint64_t object;
	uint64_t birth_time, birth_event;
	bool carried;
	/* after hatf_events_number_blocks(): the number of the block, else 0 */
	uint32_t block;
	uint64_t reserved; /* always 0 */
};

/*
 * Call 'visit' for each live object, in no particular order, until 'visit'
 * returns false.  'visit' must not use 'events'; '*live' is valid during the
 * call of 'visit'.  Return false if 'visit' returned false.
 */
HATF_API bool
hatf_events_visit_live(const struct hatf_events *events,
		       bool (*visit)(void *ctx, const struct hatf_live *live),
		       void *ctx);

/*
 * From now on, also keep the live objects in the order of their addresses, for
 * hatf_events_live_before() and hatf_events_live_after().  The order takes
 * memory for each page (4096 addresses) that contains an object: at most about
 * half a byte if these pages are adjacent, more if they are not.  Errors:
 * HATF_NO_MEMORY; HATF_BAD_OPTION after hatf_events_number_blocks().
 */
HATF_API enum hatf_status hatf_events_keep_order(struct hatf_events *events);

/*
 * hatf_events_live_before() stores the live object of 'heap' with the highest
 * address below 'address'.  hatf_events_live_after() stores the live object of
 * 'heap' with the lowest address that is above 'address' and at most 'last'.
 * Return false if there is no such object.  Call hatf_events_keep_order()
 * first.  The result is the state after all events that have been read; to see
 * the state after each event, call hatf_events_read() for one event at a time.
 */
HATF_API bool hatf_events_live_before(struct hatf_events *events, uint64_t heap,
				      uint64_t address,
				      struct hatf_live *live_ret);
HATF_API bool hatf_events_live_after(struct hatf_events *events, uint64_t heap,
				     uint64_t address, uint64_t last,
				     struct hatf_live *live_ret);

/* Free the stage, but not the reader.  'events' may be NULL. */
HATF_API void hatf_events_close(struct hatf_events *events);

/* -------------------------------------------------------------- recovery */

/*
 * If a process is killed, or ends by a system call that its recorder does not
 * see, its trace lacks the last events and the trailer.  The ring file beside
 * the trace (RINGS.md) contains the missing events.
 */

/*
 * The path of a ring file is the path of the process's first trace with this
 * suffix appended.
 */
#define HATF_RINGS_SUFFIX ".rings"

/* What the header of a ring file says. */
struct hatf_rings {
	/* the caller sets it to the sizeof the struct, see hatf.h */
	size_t struct_nbytes;
	uint64_t pid; /* id of the process that made the ring file */
	/*
	 * path at which the process created the file of its trace (the current
	 * segment, if the trace has several); "": unknown
	 */
	char trace[4096];
	/* A live process or a recovery uses the file. */
	bool in_use;
	uint8_t reserved[7]; /* always 0 */
};

/*
 * Find the ring file that belongs to 'trace'.  Copy the path of the ring file,
 * NUL-terminated, to 'path', which has 'nbytes' bytes.  The function looks in
 * the folder of the trace.  It also looks at the path that the trace names, if
 * this path is absolute and the file there has the same owner as the trace.  If
 * the caller is root, the function does not look there, because the author of
 * the trace may have chosen the path.  The function opens a ring file as
 * hatf_file_open_found() does.  Return false if there is no ring file, or if
 * the path of the ring file does not fit into 'path'.
 */
HATF_API bool hatf_rings_find(const char *trace, char *path, size_t nbytes);

/*
 * Store the contents of the header of the ring file at 'rings'.  On errors, set
 * 'pid' to 0 and 'trace' to "".  Errors: HATF_BAD_RINGS, HATF_IO,
 * HATF_NO_MEMORY.
 */
HATF_API enum hatf_status hatf_rings_get(const char *rings,
					 struct hatf_rings *rings_ret,
					 struct hatf_error *err);

/* Bits of the parameter 'flags' of hatf_recover(). */
/* Change nothing, only report what would be done. */
#define HATF_RECOVER_DRY_RUN 1u
/*
 * Accept a ring file from another machine or from before the last boot of the
 * system, and use the undamaged part of a damaged ring file.  In both cases,
 * the trailer does not claim that the trace is complete.
 */
#define HATF_RECOVER_FORCE 2u
/*
 * The caller is the parent of the process and knows how the process ended:
 * HATF_RECOVER_EXITED means that a system call that bypassed libc ended the
 * process, HATF_RECOVER_KILLED that a signal ended it.  The trailer then states
 * how the process ended.
 */
#define HATF_RECOVER_EXITED 4u
#define HATF_RECOVER_KILLED 8u

struct hatf_recovery {
	/* the caller sets it to the sizeof the struct, see hatf.h */
	size_t struct_nbytes;
	uint64_t pid; /* id of the process; 0: unknown */
	/*
	 * number of logical events that the trace now has, or would have
	 * without HATF_RECOVER_DRY_RUN
	 */
	uint64_t event_count;
	/* How many of the 'event_count' events came from the rings. */
	uint64_t recovered;
	/*
	 * Bytes that were cut off the end of the trace, such as an incomplete
	 * trace block.
	 */
	uint64_t cut_nbytes;
	/* number of bytes that the process wrote and that the trace lacks */
	uint64_t gap_nbytes;
	/* number of events that the trace reports as lost */
	uint64_t lost_count;
	char trace[4096]; /* path of the trace, NUL-terminated; or "" */
	/* the trace was already complete, with its trailer */
	bool had_trailer;
	bool complete;	     /* the trace contains every event */
	uint8_t reserved[6]; /* always 0 */
};

/*
 * Complete a trace from the ring file at 'rings'.  Cut off a trace block that
 * was not written completely.  Append every event that is in the rings but not
 * in the trace, and a trailer that says that the trace was recovered.  Then
 * remove the ring file.  Also remove a trace that is empty, and the file of a
 * next segment if the process wrote no event to it.  If the trace is shorter
 * than it was (power loss, a truncated copy), keep its complete trace blocks
 * and count all events after them as lost.  'trace' is the path of the trace.
 * If 'trace' is NULL, the call looks for the trace in the folder of the ring
 * file: first for the file that the ring file names, then for the file whose
 * name matches the name of the ring file.  Last, unless the ring file is a
 * copy, the call looks at the path at which the process created the trace.  If
 * the call is interrupted, it can be repeated.
 *
 * If the process ended before it wrote the header of the ring file, the file is
 * empty or begins with zeros.  If the name of such a ring file ends in
 * HATF_RINGS_SUFFIX, and the trace is missing or empty, the call removes the
 * ring file and the trace and succeeds, with 'pid' 0 and 'trace' "".
 *
 * The directories of 'rings' and 'trace' may be symbolic links; the call opens
 * files as hatf_file_open_found() does.  The call writes and removes only files
 * that it has checked, in the directories where it found them, even if other
 * processes rename these directories at the same time.
 *
 * '*recovery_ret' is filled in as far as its values are known, even if the call
 * fails.  Errors: HATF_IO, HATF_NO_MEMORY, HATF_LIMIT, HATF_BAD_RINGS,
 * HATF_IN_USE, HATF_OTHER_RINGS, HATF_OTHER_BOOT.  HATF_IO concerns the ring
 * file if 'trace' of '*recovery_ret' is "" or 'file_offset' of '*err' is not 0;
 * otherwise it concerns the trace, or the removal of the ring file.  After
 * HATF_IO or HATF_NO_MEMORY, the trace may have been cut off or partly
 * completed; after other errors, it is unchanged.  After an error, the call
 * does not remove the ring file.
 */
HATF_API enum hatf_status hatf_recover(const char *rings, const char *trace,
				       unsigned flags,
				       struct hatf_recovery *recovery_ret,
				       struct hatf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HATF_PUBLIC_EVENTS_H */
