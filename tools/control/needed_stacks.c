/* SPDX-License-Identifier: MIT */
/*
 * needed_stacks.c - see needed_stacks.h
 *
 * A library may be mapped where another one was before.  The definition of an
 * object concerns the frames that are defined after it, so the new trace
 * defines objects and frames in the order of the old trace.
 */
#include "tools/control/needed_stacks.h"

#include "tools/sites/id_rows.h"
#include "tools/symbols/comment.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MIN 64

/* An array that grows. */
struct list {
	void *rows;
	size_t count, cap;
};

/* The definition of an object. */
struct object {
	char *text;
	uint32_t nbytes;
	/* number of frames that were defined before the object */
	uint64_t frames_before;
};

struct needed_stacks {
	struct hatf_stacks *stacks; /* all stacks of the old trace */
	struct list objects;	    /* rows: struct object */
	size_t objects_nbytes;
	/* rows: uint64_t, the ids of all frames in the order of definition */
	struct list frames;
	/*
	 * Old ids of the stacks and of the frames that the new trace needs.
	 * The id in the new trace is the row of the old id plus 1.
	 */
	struct id_rows needed, needed_frames;
	/*
	 * rows: struct hatf_stack, the needed stacks; 'frame' and 'parent' are
	 * ids of the new trace
	 */
	struct list new_stacks;
	/* rows: uint64_t, the ids of the stacks to add, innermost first */
	struct list chain;
};

struct needed_stacks *
needed_stacks_open(void)
{
	struct needed_stacks *const n = calloc(1, sizeof(*n));

	if (n == NULL || hatf_stacks_open(&n->stacks) == HATF_OK)
		return n;
	free(n);
	return NULL;
}

void
needed_stacks_close(struct needed_stacks *n)
{
	if (n == NULL)
		return;
	for (size_t i = 0; i < n->objects.count; i++)
		free(((struct object *)n->objects.rows)[i].text);
	free(n->objects.rows);
	free(n->frames.rows);
	free(n->new_stacks.rows);
	free(n->chain.rows);
	id_rows_free(&n->needed);
	id_rows_free(&n->needed_frames);
	hatf_stacks_close(n->stacks);
	free(n);
}

/* Append a copy of a row.  Return false if there is no memory. */
static bool
append(struct list *list, const void *row, size_t row_nbytes)
{
	if (list->count == list->cap) {
		const size_t cap = list->cap == 0 ? ROWS_MIN : 2 * list->cap;
		void *const rows = reallocarray(list->rows, cap, row_nbytes);

		if (rows == NULL)
			return false;
		list->rows = rows;
		list->cap = cap;
	}
	memcpy((char *)list->rows + list->count * row_nbytes, row, row_nbytes);
	list->count++;
	return true;
}

/* ------------------------------------------------------------ the old trace */

static bool
keep_object(struct needed_stacks *n, const struct hatf_record *rec)
{
	const size_t nbytes = rec->attributes_nbytes;
	struct object object = {
		.nbytes = rec->attributes_nbytes,
		.frames_before = n->frames.count,
	};

	if (nbytes + sizeof(object) > OBJECTS_MAX_NBYTES - n->objects_nbytes)
		return true;
	object.text = malloc(nbytes);
	if (object.text == NULL)
		return false;
	memcpy(object.text, rec->attributes, nbytes);
	n->objects_nbytes += nbytes + sizeof(object);
	if (append(&n->objects, &object, sizeof(object)))
		return true;
	free(object.text);
	return false;
}

bool
needed_stacks_note(struct needed_stacks *n, const struct hatf_event *e)
{
	const struct hatf_record rec = {
		.tag = HATF_COMMENT,
		.attributes = e->attributes,
		.attributes_nbytes = e->attributes_nbytes,
	};
	const bool is_frame = comment_is(&rec, "HATF frame\n");
	const bool is_object = comment_is(&rec, "HATF object\n");
	const uint64_t before = hatf_stacks_frame_count(n->stacks);
	uint64_t id;

	if (!is_frame && !is_object && !comment_is(&rec, "HATF stack\n"))
		return true;
	if (is_object && !keep_object(n, &rec))
		return false;
	if (hatf_stacks_note(n->stacks, &rec, NULL) == HATF_NO_MEMORY)
		return false;
	/* A repeated or malformed definition adds no frame. */
	if (!is_frame || hatf_stacks_frame_count(n->stacks) == before)
		return true;
	id = comment_number(&rec, "frame");
	return append(&n->frames, &id, sizeof(id));
}

/* ----------------------------------------------------------- what is needed */

/*
 * Return the new id of the stack or frame that has the id 'id' in the old
 * trace.  Return 0 if the new trace does not need it so far.
 */
static uint64_t
new_id(const struct id_rows *needed, uint64_t id)
{
	const uint32_t row = id_rows_find(needed, id);

	return row == ID_ROWS_NONE ? 0 : (uint64_t)row + 1;
}

/*
 * Add the stack 'id' to the needed stacks, and its innermost frame to the
 * needed frames.  The stack of the frame's caller must have been added before.
 */
static bool
add_stack(struct needed_stacks *n, uint64_t id)
{
	struct hatf_stack stack;

	hatf_stacks_get(n->stacks, id, &stack);
	if (new_id(&n->needed_frames, stack.frame) == 0 &&
	    id_rows_add(&n->needed_frames, stack.frame) == ID_ROWS_NONE)
		return false;
	if (stack.parent != 0)
		stack.parent = new_id(&n->needed, stack.parent);
	stack.frame = new_id(&n->needed_frames, stack.frame);
	return id_rows_add(&n->needed, id) != ID_ROWS_NONE &&
	       append(&n->new_stacks, &stack, sizeof(stack));
}

bool
needed_stacks_need(struct needed_stacks *n, uint64_t id, uint64_t *new_id_ret)
{
	struct hatf_stack stack;

	*new_id_ret = 0;
	n->chain.count = 0;
	for (uint64_t at = id; new_id(&n->needed, at) == 0 &&
			       hatf_stacks_get(n->stacks, at, &stack);
	     at = stack.parent)
		if (!append(&n->chain, &at, sizeof(at)))
			return false;
	while (n->chain.count != 0) {
		const uint64_t *const chain = n->chain.rows;

		if (!add_stack(n, chain[--n->chain.count]))
			return false;
	}
	*new_id_ret = new_id(&n->needed, id);
	return true;
}

/* ------------------------------------------------------------ the new trace */

static void
write_comment(const struct comment *c, struct hatf_writer *writer)
{
	const struct hatf_record rec = comment_record(c);

	hatf_writer_write(writer, &rec, 1);
}

static void
write_object(const struct object *object, struct hatf_writer *writer)
{
	const struct hatf_record rec = {
		.tag = HATF_COMMENT,
		.attributes = (const uint8_t *)object->text,
		.attributes_nbytes = object->nbytes,
	};

	hatf_writer_write(writer, &rec, 1);
}

static void
put_name(struct comment *c, const char *key, const char *name)
{
	if (name != NULL)
		comment_put(c, key, name);
}

static void
put_number(struct comment *c, const char *key, uint64_t number)
{
	if (number != 0)
		comment_put_number(c, key, number);
}

/* Write the definition of a frame of the old trace, if it is needed. */
static void
write_frame(const struct needed_stacks *n, uint64_t id, struct comment *c,
	    struct hatf_writer *writer)
{
	const uint64_t number = new_id(&n->needed_frames, id);
	struct hatf_frame frame;

	if (number == 0 || !hatf_stacks_get_frame(n->stacks, id, &frame))
		return;
	comment_begin(c, "HATF frame\n");
	comment_put_number(c, "frame", number);
	put_number(c, "line", frame.line);
	put_number(c, "column", frame.column);
	put_number(c, "end_column", frame.end_column);
	if (frame.address != 0)
		comment_put_address(c, "address", frame.address);
	put_name(c, "function", frame.function);
	put_name(c, "file", frame.file);
	put_name(c, "object", frame.object);
	write_comment(c, writer);
}

static void
write_stacks(const struct needed_stacks *n, struct comment *c,
	     struct hatf_writer *writer)
{
	const struct hatf_stack *const stacks = n->new_stacks.rows;

	for (size_t i = 0; i < n->new_stacks.count; i++) {
		comment_begin(c, "HATF stack\n");
		comment_put_number(c, "stack", i + 1);
		put_number(c, "parent", stacks[i].parent);
		comment_put_number(c, "frame", stacks[i].frame);
		write_comment(c, writer);
	}
}

bool
needed_stacks_write(const struct needed_stacks *n, struct hatf_writer *writer)
{
	const struct object *const objects = n->objects.rows;
	const uint64_t *const frames = n->frames.rows;
	struct comment *c;
	size_t object = 0;

	if (n->new_stacks.count == 0)
		return true;
	c = malloc(sizeof(*c));
	if (c == NULL)
		return false;
	for (size_t i = 0; i < n->frames.count; i++) {
		for (; object < n->objects.count &&
		       objects[object].frames_before <= i;
		     object++)
			write_object(&objects[object], writer);
		write_frame(n, frames[i], c, writer);
	}
	write_stacks(n, c, writer);
	free(c);
	return true;
}
