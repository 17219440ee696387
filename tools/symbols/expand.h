/* SPDX-License-Identifier: MIT */
/*
 * expand.h - add the names of functions to the definitions of a trace
 *
 * A frame with an address and without a file gets function, file and line, as
 * far as they are known.  If functions were inlined at that address, one frame
 * becomes several, and the innermost of these keeps the id of the frame.  A
 * stack with this frame keeps its id, too; stacks with new ids, for the other
 * frames, are inserted between the stack and its parent.  In this way the
 * records of the trace need not change: they refer to the same ids as before.
 */
#ifndef EXPAND_H
#define EXPAND_H

#include "hatf/hatf.h"
#include "tools/symbols/symbol_lookup.h"

#include <stdbool.h>
#include <stdint.h>

struct expand;

/* Counts for the report. */
struct expand_counts {
	/* frames that had no source file, but an address in a known object */
	uint64_t frames;
	uint64_t named;	  /* those of 'frames' that now have a function */
	uint64_t located; /* those of 'frames' that now have a file */
	uint64_t inlined; /* frames added for callers of inlined functions */
};

/*
 * Read the trace 'path', and store in '*id_ret' an id above all ids of its
 * frames and stacks.  The id is at least 2^48; no recorder reaches such ids.
 * Ignore errors of reading, which a later pass reports.  If 'path' is "-" or
 * not a regular file, such as a pipe, the trace can be read only once: do not
 * read it here, but store a random id.  Return false if no id is left, or if
 * there are no random numbers.
 */
bool expand_find_new_id(const char *path, uint64_t *id_ret);

/*
 * Begin to add names to a trace.  The caller owns 'lookup', which must outlive
 * the result.  'new_id' is the first id for added frames and stacks.  Return
 * NULL if there is no memory.
 */
struct expand *expand_open(struct symbol_lookup *lookup, uint64_t new_id);
void expand_close(struct expand *e);

/*
 * Call this before expand_write() if 'reader' reads the trace.  If the trace
 * is an mtrace file, or was converted from such a file, the addresses of its
 * frames are addresses in the files of their objects, and nothing says where
 * these objects were mapped.
 */
void expand_note_source(struct expand *e, const struct hatf_reader *reader);

/*
 * Write a record to 'writer'.  If the record defines a frame or a stack, write
 * the definitions that replace it, or nothing if an earlier record has defined
 * the same id.  Errors: those of hatf_writer_write(), and HATF_NO_MEMORY.
 */
enum hatf_status expand_write(struct expand *e, const struct hatf_record *rec,
			      struct hatf_writer *writer);

void expand_get_counts(const struct expand *e, struct expand_counts *ret);

#endif /* EXPAND_H */
