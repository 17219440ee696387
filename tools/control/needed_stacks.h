/* SPDX-License-Identifier: MIT */
/*
 * needed_stacks.h - copy those call stacks of a trace that a new trace needs
 *
 * First, pass each comment of the old trace to needed_stacks_note().  Then call
 * needed_stacks_need() for each stack to which the new trace refers, to get the
 * id of that stack in the new trace.  Finally, needed_stacks_write() writes the
 * definitions of these stacks, of their frames, and of all objects that the old
 * trace defines before its last frame (FORMAT "Stacks").
 *
 * Memory is O(frames + stacks of the old trace), within the limits of
 * hatf_stacks_note() and at most OBJECTS_MAX_NBYTES for the objects.  Only one
 * thread at a time may use a struct needed_stacks.
 */
#ifndef NEEDED_STACKS_H
#define NEEDED_STACKS_H

#include "hatf/hatf.h"

#include <stdbool.h>

/* Maximum size of all definitions of objects; those beyond it are left out. */
#define OBJECTS_MAX_NBYTES ((size_t)64 << 20)

struct needed_stacks;

/* Return NULL if there is no memory. */
struct needed_stacks *needed_stacks_open(void);
void needed_stacks_close(struct needed_stacks *n);

/*
 * If the comment 'e' defines an object, or is a valid definition of a stack or
 * frame, keep the definition.  Return false if there is no memory.
 */
bool needed_stacks_note(struct needed_stacks *n, const struct hatf_event *e);

/*
 * Store the id that the stack 'id' of the old trace has in the new trace.  Ids
 * of the new trace count from 1.  0 stands for no stack, and for a stack that
 * the old trace does not define.  Return false if there is no memory.
 */
bool needed_stacks_need(struct needed_stacks *n, uint64_t id,
			uint64_t *new_id_ret);

/*
 * Write the definitions.  Return false if there is no memory.  Do not report an
 * error of the writer, because hatf_writer_close() returns the first one.
 */
bool needed_stacks_write(const struct needed_stacks *n,
			 struct hatf_writer *writer);

#endif /* NEEDED_STACKS_H */
