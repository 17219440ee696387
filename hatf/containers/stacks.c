/* SPDX-License-Identifier: MIT */
/*
 * stacks.c - frames and call stacks by id; see hatf.h and FORMAT "Stacks"
 *
 * A frame is kept as a 'struct place', whose bytes are a name of their own, so
 * that equal frames are found as equal strings are.  A stack is found by its
 * parent and frame, in a hash table of numbers: four bytes a slot, as there may be
 * millions.
 *
 * Ids count from 1 on in what we write and in most of what we read: as long as
 * they do, an id is a place in an array.  Those that come out of turn are in a
 * hash table.
 */
#include "hatf/codec/comment_text.h"
#include "hatf/codec/hatf_record.h"
#include "hatf/containers/string_table.h"
#include "hatf/containers/u64_map.h"
#include "hatf/hatf.h"

#include <stdlib.h>
#include <string.h>

static const char frame_kind[] = "HATF frame\n";
static const char stack_kind[] = "HATF stack\n";

/* A frame: 'names' compares its bytes, so it has no padding. */
struct place {
	uint64_t line, column, address;
	uint32_t function, file, object; /* in 'texts'; 0: none */
	uint32_t end_column;
};
_Static_assert(sizeof(struct place) == 3 * 8 + 4 * 4, "padding");

/* Ids, and the places 0, 1, ... that they stand for. */
struct index {
	uint64_t in_turn;   /* ids 1 to this stand for the place before */
	uint32_t count;	    /* places in use */
	struct live others; /* by id; 'size' is the place */
};

struct hatf_stacks {
	struct names texts, places;
	/* Of the frames' places, the number in 'places'. */
	uint32_t *frames;
	uint32_t frame_cap;
	struct index frame_ids;
	struct hatf_stack *stacks;
	uint32_t stack_cap;
	struct index stack_ids;
	/* Writing: open addressing by parent and frame; ids, 0 is free. */
	uint32_t *slots;
	size_t slot_count; /* at least twice the stacks */
	uint32_t frames_told, stacks_told;
	char *value; /* HATF_DEFINITION_MAX + 1, for one out of a comment */
	const char *fault; /* of the last definition that was refused; static */
};

/* -------------------------------------------------------------------- index */

static bool
index_find(const struct index *index, uint64_t id, uint32_t *place_ret)
{
	const struct live_block *block;

	if (id - 1 < index->in_turn) {
		*place_ret = (uint32_t)(id - 1);
		return true;
	}
	/* live_find() hands out what may be written to, and changes nothing. */
	block = live_find((struct live *)(uintptr_t)&index->others, id);
	if (block == NULL)
		return false;
	*place_ret = (uint32_t)block->size;
	return true;
}

/* Give the next place an id that it has not got; false if there is no memory. */
static bool
index_add(struct index *index, uint64_t id)
{
	struct live_block *block;
	bool added;

	if (index->in_turn == index->count && id == index->in_turn + 1) {
		index->in_turn++;
	} else {
		block = live_put(&index->others, id, &added);
		if (block == NULL)
			return false;
		block->size = index->count;
	}
	index->count++;
	return true;
}

static void
index_init(struct index *index)
{
	*index = (struct index){ 0 };
	live_init(&index->others);
}

/* --------------------------------------------------------- opening and closing */

enum hatf_status
hatf_stacks_open(struct hatf_stacks **stacks_ret)
{
	struct hatf_stacks *const s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HATF_NO_MEMORY;
	names_init(&s->texts, UINT32_MAX, HATF_FRAME_TEXTS_MAX);
	names_init(&s->places, HATF_FRAMES_MAX, UINT64_MAX);
	index_init(&s->frame_ids);
	index_init(&s->stack_ids);
	s->fault = "nothing";
	*stacks_ret = s;
	return HATF_OK;
}

void
hatf_stacks_close(struct hatf_stacks *s)
{
	if (s == NULL)
		return;
	names_fini(&s->texts);
	names_fini(&s->places);
	live_fini(&s->frame_ids.others);
	live_fini(&s->stack_ids.others);
	free(s->slots);
	free(s->frames);
	free(s->stacks);
	free(s->value);
	free(s);
}

/* ------------------------------------------------------------------- adding */

/* An array with room for one more; false if there is no memory. */
static bool
make_room(void **rows, uint32_t *cap, uint32_t count, size_t row_nbytes)
{
	const uint32_t more = *cap == 0 ? 64 : 2 * *cap;
	void *grown;

	if (count < *cap)
		return true;
	grown = realloc(*rows, more * row_nbytes);
	if (grown == NULL)
		return false;
	*rows = grown;
	*cap = more;
	return true;
}

/* A name's number; 0 for none. */
static enum hatf_status
put_text(struct hatf_stacks *s, const char *text, uint32_t *number_ret)
{
	*number_ret = 0;
	if (text == NULL || text[0] == '\0')
		return HATF_OK;
	return names_put(&s->texts, text, strlen(text), number_ret);
}

/* The number in 'places' of what the frame says. */
static enum hatf_status
put_place(struct hatf_stacks *s, const struct hatf_frame *frame,
	  uint32_t *number_ret)
{
	struct place place = { .line = frame->line,
			       .column = frame->column,
			       .end_column =
				       frame->end_column <= UINT32_MAX
					       ? (uint32_t)frame->end_column
					       : 0,
			       .address = frame->address };
	enum hatf_status status = put_text(s, frame->function, &place.function);

	if (status == HATF_OK)
		status = put_text(s, frame->file, &place.file);
	if (status == HATF_OK)
		status = put_text(s, frame->object, &place.object);
	if (status != HATF_OK)
		return status;
	return names_put(&s->places, &place, sizeof(place), number_ret);
}

/* Let 'id', which is new, stand for a place that put_place() has given. */
static enum hatf_status
add_frame(struct hatf_stacks *s, uint64_t id, uint32_t number)
{
	void *rows = s->frames;

	if (s->frame_ids.count == HATF_FRAMES_MAX)
		return HATF_LIMIT;
	if (!make_room(&rows, &s->frame_cap, s->frame_ids.count,
		       sizeof(*s->frames)))
		return HATF_NO_MEMORY;
	s->frames = rows;
	s->frames[s->frame_ids.count] = number;
	return index_add(&s->frame_ids, id) ? HATF_OK : HATF_NO_MEMORY;
}

static enum hatf_status
add_stack(struct hatf_stacks *s, uint64_t id, const struct hatf_stack *stack)
{
	void *rows = s->stacks;

	if (s->stack_ids.count == HATF_STACKS_MAX)
		return HATF_LIMIT;
	if (!make_room(&rows, &s->stack_cap, s->stack_ids.count,
		       sizeof(*s->stacks)))
		return HATF_NO_MEMORY;
	s->stacks = rows;
	s->stacks[s->stack_ids.count] = *stack;
	return index_add(&s->stack_ids, id) ? HATF_OK : HATF_NO_MEMORY;
}

enum hatf_status
hatf_stacks_add_frame(struct hatf_stacks *s, const struct hatf_frame *frame,
		      uint64_t *id_ret)
{
	uint32_t number;
	enum hatf_status status = put_place(s, frame, &number);

	/* The ids are the numbers: one comes up for each new one. */
	if (status == HATF_OK && number > s->frame_ids.count)
		status = add_frame(s, number, number);
	if (status == HATF_OK)
		*id_ret = number;
	return status;
}

/* The slot of what we have added with these, or the free one where it would go. */
static size_t
seek(const struct hatf_stacks *s, const struct hatf_stack *stack)
{
	/* Both are below 2^32; the seed is any. */
	const uint64_t content = stack->parent << 32 | stack->frame;
	size_t slot = live_hash(&s->stack_ids.others, content);

	for (;; slot++) {
		const struct hatf_stack *known;

		slot &= s->slot_count - 1;
		if (s->slots[slot] == 0)
			return slot;
		known = &s->stacks[s->slots[slot] - 1];
		if (known->parent == stack->parent &&
		    known->frame == stack->frame)
			return slot;
	}
}

/* Twice as many slots; false if there is no memory. */
static bool
grow_slots(struct hatf_stacks *s)
{
	const size_t old_count = s->slot_count;
	uint32_t *const old = s->slots;
	const size_t count = old_count == 0 ? 64 : 2 * old_count;
	uint32_t *const slots = calloc(count, sizeof(*slots));

	if (slots == NULL)
		return false;
	s->slots = slots;
	s->slot_count = count;
	for (size_t i = 0; i < old_count; i++)
		if (old[i] != 0)
			s->slots[seek(s, &s->stacks[old[i] - 1])] = old[i];
	free(old);
	return true;
}

enum hatf_status
hatf_stacks_add(struct hatf_stacks *s, uint64_t parent, uint64_t frame,
		uint64_t *id_ret)
{
	const struct hatf_stack stack = { parent, frame };
	enum hatf_status status;
	size_t slot;

	if (s->stack_ids.count >= s->slot_count / 2 && !grow_slots(s))
		return HATF_NO_MEMORY;
	slot = seek(s, &stack);
	if (s->slots[slot] == 0) {
		status = add_stack(s, (uint64_t)s->stack_ids.count + 1, &stack);
		if (status != HATF_OK)
			return status;
		s->slots[slot] = s->stack_ids.count;
	}
	*id_ret = s->slots[slot];
	return HATF_OK;
}

/* ------------------------------------------------------------------ telling */

static void
put_name(const struct hatf_stacks *s, struct text *t, const char *key,
	 uint32_t number)
{
	if (number != 0)
		text_line(t, key, names_get(&s->texts, number),
			  s->texts.rows[number - 1].nbytes);
}

static void
put_number(struct text *t, const char *key, uint64_t n)
{
	if (n != 0)
		text_line_u64(t, key, n);
}

/* Numbers first: what may not fit are the names. */
static void
put_frame(const struct hatf_stacks *s, struct text *t, uint32_t place)
{
	struct place frame;

	memcpy(&frame, names_get(&s->places, s->frames[place]), sizeof(frame));
	text_str(t, frame_kind);
	text_line_u64(t, "frame", (uint64_t)place + 1);
	put_number(t, "line", frame.line);
	put_number(t, "column", frame.column);
	put_number(t, "end_column", frame.end_column);
	if (frame.address != 0)
		text_line_hex(t, "address", frame.address);
	put_name(s, t, "function", frame.function);
	put_name(s, t, "file", frame.file);
	put_name(s, t, "object", frame.object);
}

size_t
hatf_stacks_next(struct hatf_stacks *s, char *buf, size_t cap)
{
	struct text t;

	text_init(&t, buf, cap);
	if (s->frames_told < s->frame_ids.count) {
		put_frame(s, &t, s->frames_told++);
	} else if (s->stacks_told < s->stack_ids.count) {
		const struct hatf_stack *const stack =
			&s->stacks[s->stacks_told++];

		text_str(&t, stack_kind);
		text_line_u64(&t, "stack", s->stacks_told);
		text_line_u64(&t, "parent", stack->parent);
		text_line_u64(&t, "frame", stack->frame);
	}
	return t.used;
}

/* ------------------------------------------------------------------ reading */

/* A comment that is a definition. */
struct definition {
	const char *text;
	size_t nbytes;
};

/* A number that may be absent; false if it is none. */
static bool
take_number(const struct definition *d, const char *key, uint64_t *n_ret)
{
	*n_ret = 0;
	return text_find(d->text, d->nbytes, key, NULL, 0) < 0 ||
	       text_find_u64(d->text, d->nbytes, key, n_ret);
}

/* Like take_number(), in hexadecimal with "0x". */
static bool
take_address(const struct definition *d, uint64_t *n_ret)
{
	char digits[2 + 16 + 1];
	const ptrdiff_t nbytes = text_find(d->text, d->nbytes, "address",
					   digits, sizeof(digits));
	uint64_t n = 0;

	*n_ret = 0;
	if (nbytes < 0)
		return true;
	if (nbytes < 3 || nbytes >= (ptrdiff_t)sizeof(digits) ||
	    digits[0] != '0' || digits[1] != 'x')
		return false;
	for (const char *p = digits + 2; *p != '\0'; p++) {
		const unsigned digit = (unsigned char)*p;

		if (digit - '0' <= 9)
			n = n << 4 | (digit - '0');
		else if (digit - 'a' <= 5)
			n = n << 4 | (digit - 'a' + 10);
		else
			return false;
	}
	*n_ret = n;
	return true;
}

/* The number of a name in the comment, up to its first NUL; 0 if it has none. */
static enum hatf_status
take_name(struct hatf_stacks *s, const struct definition *d, const char *key,
	  uint32_t *number_ret)
{
	if (text_find(d->text, d->nbytes, key, s->value,
		      HATF_DEFINITION_MAX + 1) < 0)
		s->value[0] = '\0';
	return put_text(s, s->value, number_ret);
}

static bool
blame(struct hatf_stacks *s, const char *fault)
{
	s->fault = fault;
	return false;
}

/* The id that the comment defines. */
static bool
take_new_id(struct hatf_stacks *s, const struct definition *d, const char *key,
	    const struct index *index, uint64_t *id_ret)
{
	uint32_t place;

	if (!take_number(d, key, id_ret))
		return blame(s, "its id is no number");
	if (*id_ret == 0)
		return blame(s, "it has no id");
	if (index_find(index, *id_ret, &place))
		return blame(s, "its id has been defined before");
	return true;
}

/* What the frame says besides its names; else the key at fault. */
static const char *
take_place(struct hatf_stacks *s, const struct definition *d,
	   struct place *place, uint64_t *id_ret)
{
	uint64_t end_column;

	if (!take_new_id(s, d, "frame", &s->frame_ids, id_ret))
		return "frame";
	s->fault = "its line is no number";
	if (!take_number(d, "line", &place->line))
		return "line";
	s->fault = "its column is no number";
	if (!take_number(d, "column", &place->column))
		return "column";
	s->fault = "its end_column is no number";
	if (!take_number(d, "end_column", &end_column))
		return "end_column";
	/* What is not to be had in a line says nothing. */
	if (end_column <= UINT32_MAX)
		place->end_column = (uint32_t)end_column;
	s->fault = "its address is none";
	return take_address(d, &place->address) ? NULL : "address";
}

static enum hatf_status
note_frame(struct hatf_stacks *s, const struct definition *d,
	   const char **field_ret)
{
	struct place place = { .line = 0 };
	enum hatf_status status;
	uint32_t number;
	uint64_t id;

	*field_ret = take_place(s, d, &place, &id);
	if (*field_ret != NULL)
		return HATF_BAD_COMMENT;
	if (s->value == NULL)
		s->value = malloc(HATF_DEFINITION_MAX + 1);
	if (s->value == NULL)
		return HATF_NO_MEMORY;
	status = take_name(s, d, "function", &place.function);
	if (status == HATF_OK)
		status = take_name(s, d, "file", &place.file);
	if (status == HATF_OK)
		status = take_name(s, d, "object", &place.object);
	if (status == HATF_OK)
		status = names_put(&s->places, &place, sizeof(place), &number);
	return status == HATF_OK ? add_frame(s, id, number) : status;
}

static bool
take_parent(struct hatf_stacks *s, const struct definition *d, uint64_t *id_ret)
{
	uint32_t place;

	if (!take_number(d, "parent", id_ret))
		return blame(s, "its parent is no number");
	return *id_ret == 0 || index_find(&s->stack_ids, *id_ret, &place) ||
	       blame(s, "its parent is not defined before it");
}

static bool
take_frame(struct hatf_stacks *s, const struct definition *d, uint64_t *id_ret)
{
	uint32_t place;

	if (!take_number(d, "frame", id_ret))
		return blame(s, "its frame is no number");
	if (*id_ret == 0)
		return blame(s, "it has no frame");
	return index_find(&s->frame_ids, *id_ret, &place) ||
	       blame(s, "its frame is not defined before it");
}

static enum hatf_status
note_stack(struct hatf_stacks *s, const struct definition *d,
	   const char **field_ret)
{
	struct hatf_stack stack = { 0, 0 };
	uint64_t id;

	if (!take_new_id(s, d, "stack", &s->stack_ids, &id))
		*field_ret = "stack";
	else if (!take_parent(s, d, &stack.parent))
		*field_ret = "parent";
	else if (!take_frame(s, d, &stack.frame))
		*field_ret = "frame";
	if (*field_ret != NULL)
		return HATF_BAD_COMMENT;
	return add_stack(s, id, &stack);
}

enum hatf_status
hatf_stacks_note(struct hatf_stacks *s, const struct hatf_record *rec,
		 const char **field_ret)
{
	const struct definition d = { (const char *)rec->attributes,
				      rec->attributes_nbytes };

	*field_ret = NULL;
	if (rec->tag != HATF_COMMENT)
		return HATF_OK;
	if (hatf_record_comment_starts(rec, frame_kind))
		return note_frame(s, &d, field_ret);
	if (hatf_record_comment_starts(rec, stack_kind))
		return note_stack(s, &d, field_ret);
	return HATF_OK;
}

const char *
hatf_stacks_fault(const struct hatf_stacks *s)
{
	return s->fault;
}

/* ---------------------------------------------------------------- questions */

uint64_t
hatf_record_stack(const struct hatf_record *rec)
{
	const uint8_t *next = rec->attributes;
	const uint8_t *end = rec->attributes;
	struct hatf_attr_item item;

	if (rec->attributes_nbytes == 0 || rec->tag > HATF_REALLOC_FREE)
		return 0;
	end += rec->attributes_nbytes;
	while (hatf_attr_next(&next, end, &item))
		if (item.key == HATF_ATTR_STACK)
			return item.value;
	return 0;
}

bool
hatf_stacks_get(const struct hatf_stacks *s, uint64_t id,
		struct hatf_stack *stack_ret)
{
	uint32_t place;

	if (!index_find(&s->stack_ids, id, &place))
		return false;
	*stack_ret = s->stacks[place];
	return true;
}

/* NULL for none. */
static const char *
get_text(const struct hatf_stacks *s, uint32_t number)
{
	return number == 0 ? NULL : names_get(&s->texts, number);
}

bool
hatf_stacks_get_frame(const struct hatf_stacks *s, uint64_t id,
		      struct hatf_frame *frame_ret)
{
	struct place frame;
	uint32_t place;

	if (!index_find(&s->frame_ids, id, &place))
		return false;
	memcpy(&frame, names_get(&s->places, s->frames[place]), sizeof(frame));
	*frame_ret = (struct hatf_frame){
		.function = get_text(s, frame.function),
		.file = get_text(s, frame.file),
		.object = get_text(s, frame.object),
		.line = frame.line,
		.column = frame.column,
		.end_column = frame.end_column,
		.address = frame.address,
	};
	return true;
}

uint64_t
hatf_stacks_count(const struct hatf_stacks *s)
{
	return s->stack_ids.count;
}

uint64_t
hatf_stacks_frame_count(const struct hatf_stacks *s)
{
	return s->frame_ids.count;
}

uint64_t
hatf_stacks_name_nbytes(const struct hatf_stacks *s)
{
	return names_memory(&s->texts);
}
