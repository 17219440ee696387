/* SPDX-License-Identifier: MIT */
/*
 * stacks.c - frames and call stacks by id; see hatf.h and FORMAT "Stacks"
 *
 * A 'struct content' describes a frame.  Its bytes are a string in a string
 * table, so that equal frames are found as equal strings.  A hash table finds a
 * stack by its parent and frame.  A slot of this table has only four bytes, the
 * id of a stack, because there may be millions of stacks.
 */
#include "hatf/codec/comment_text.h"
#include "hatf/codec/hatf_record.h"
#include "hatf/containers/id_index.h"
#include "hatf/containers/modules.h"
#include "hatf/containers/string_table.h"
#include "hatf/containers/u64_map.h"
#include "hatf/hatf.h"

#include <stdlib.h>
#include <string.h>

static const char frame_kind[] = "HATF frame\n";
static const char stack_kind[] = "HATF stack\n";

/*
 * The content of a frame.  The string table compares the bytes of this struct,
 * so the struct must have no padding.
 */
struct content {
	uint64_t line, column, address;
	/* numbers of strings in 'texts'; 0: none */
	uint32_t function, file, object;
	uint32_t end_column;
};
_Static_assert(sizeof(struct content) == 3 * 8 + 4 * 4, "padding");

/*
 * A frame, and the object that was mapped at its address when the frame was
 * defined.
 */
struct frame_row {
	uint32_t content; /* number of the frame's content in 'contents' */
	/* number of the object's name in 'texts'; 0: unknown */
	uint32_t object;
	uint64_t base; /* load bias of the object ('base' of struct module) */
};

struct hatf_stacks {
	struct string_table texts, contents;
	struct modules modules;
	struct frame_row *frames; /* in the order in which they were added */
	uint32_t frame_cap;
	struct id_index frame_ids;
	struct hatf_stack *stacks;
	uint32_t stack_cap;
	struct id_index stack_ids;
	/*
	 * For hatf_stacks_add(): a hash table of stack ids by parent and frame,
	 * with open addressing.  A slot with 0 is free.
	 */
	uint32_t *slots;
	/* at least twice the number of stacks that hatf_stacks_add() added */
	size_t slot_count;
	uint32_t frames_written, stacks_written;
	/*
	 * buffer of HATF_DEFINITION_MAX + 1 bytes for a value of a comment;
	 * NULL: not yet allocated
	 */
	char *value;
	/*
	 * what was wrong with the latest definition that was refused (static)
	 */
	const char *fault;
};

/* ----------------------------------------------------- opening and closing */

enum hatf_status
hatf_stacks_open(struct hatf_stacks **stacks_ret)
{
	struct hatf_stacks *const s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HATF_NO_MEMORY;
	string_table_init(&s->texts, UINT32_MAX, HATF_FRAME_TEXTS_MAX);
	string_table_init(&s->contents, HATF_FRAMES_MAX, UINT64_MAX);
	modules_init(&s->modules);
	id_index_init(&s->frame_ids);
	id_index_init(&s->stack_ids);
	s->fault = "nothing";
	*stacks_ret = s;
	return HATF_OK;
}

void
hatf_stacks_close(struct hatf_stacks *s)
{
	if (s == NULL)
		return;
	string_table_fini(&s->texts);
	string_table_fini(&s->contents);
	modules_fini(&s->modules);
	u64_map_fini(&s->frame_ids.others);
	u64_map_fini(&s->stack_ids.others);
	free(s->slots);
	free(s->frames);
	free(s->stacks);
	free(s->value);
	free(s);
}

/* ------------------------------------------------------------------- adding */

/*
 * Make room in an array for one more row.  Return false if there is no memory.
 */
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

/*
 * Store the number of a text in '*number_ret': 0 if the text is NULL or empty.
 */
static enum hatf_status
put_text(struct hatf_stacks *s, const char *text, uint32_t *number_ret)
{
	*number_ret = 0;
	if (text == NULL || text[0] == '\0')
		return HATF_OK;
	return string_table_put(&s->texts, text, strlen(text), number_ret);
}

/*
 * Add the content of a frame to 'contents' unless it is there already, and
 * store its number.
 */
static enum hatf_status
put_content(struct hatf_stacks *s, const struct hatf_frame *frame,
	    uint32_t *number_ret)
{
	struct content content = { .line = frame->line,
				   .column = frame->column,
				   .end_column =
					   frame->end_column <= UINT32_MAX
						   ? (uint32_t)frame->end_column
						   : 0,
				   .address = frame->address };
	enum hatf_status status =
		put_text(s, frame->function, &content.function);

	if (status == HATF_OK)
		status = put_text(s, frame->file, &content.file);
	if (status == HATF_OK)
		status = put_text(s, frame->object, &content.object);
	if (status != HATF_OK)
		return status;
	return string_table_put(&s->contents, &content, sizeof(content),
				number_ret);
}

/* Add a frame with a new id; 'number' is the number of its content. */
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
	s->frames[s->frame_ids.count] = (struct frame_row){ .content = number };
	return id_index_add(&s->frame_ids, id) ? HATF_OK : HATF_NO_MEMORY;
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
	return id_index_add(&s->stack_ids, id) ? HATF_OK : HATF_NO_MEMORY;
}

enum hatf_status
hatf_stacks_add_frame(struct hatf_stacks *s, const struct hatf_frame *frame,
		      uint64_t *id_ret)
{
	uint32_t number;
	enum hatf_status status = put_content(s, frame, &number);

	/*
	 * Contents are numbered from 1, and each content that was known before
	 * has a frame.  So if the number exceeds the count of frames, the
	 * content is new: add a frame with this number as its id.
	 */
	if (status == HATF_OK && number > s->frame_ids.count)
		status = add_frame(s, number, number);
	if (status == HATF_OK)
		*id_ret = number;
	return status;
}

/*
 * Return the slot of a stack that hatf_stacks_add() added before, or the free
 * slot where it belongs.
 */
static size_t
seek(const struct hatf_stacks *s, const struct hatf_stack *stack)
{
	/*
	 * Each id fits in 32 bits, so one word has room for both ids.  The hash
	 * uses the random seed of stack_ids.others.
	 */
	const uint64_t content = stack->parent << 32 | stack->frame;
	size_t slot = u64_map_hash(&s->stack_ids.others, content);

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

/* Double the number of slots.  Return false if there is no memory. */
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

/* ------------------------------------------------------------------ writing */

static void
put_name(const struct hatf_stacks *s, struct text *t, const char *key,
	 uint32_t number)
{
	if (number != 0)
		text_line(t, key, string_table_get(&s->texts, number),
			  s->texts.rows[number - 1].nbytes);
}

static void
put_number(struct text *t, const char *key, uint64_t n)
{
	if (n != 0)
		text_line_u64(t, key, n);
}

/*
 * Write the definition of a frame.  Names come last, because only a name can be
 * too long for the comment.  A name that is too long is omitted.
 */
static void
put_frame(const struct hatf_stacks *s, struct text *t, uint32_t row)
{
	struct content frame;

	memcpy(&frame, string_table_get(&s->contents, s->frames[row].content),
	       sizeof(frame));
	text_str(t, frame_kind);
	text_line_u64(t, "frame", (uint64_t)row + 1);
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
	if (s->frames_written < s->frame_ids.count) {
		put_frame(s, &t, s->frames_written++);
	} else if (s->stacks_written < s->stack_ids.count) {
		const struct hatf_stack *const stack =
			&s->stacks[s->stacks_written++];

		text_str(&t, stack_kind);
		text_line_u64(&t, "stack", s->stacks_written);
		text_line_u64(&t, "parent", stack->parent);
		text_line_u64(&t, "frame", stack->frame);
	}
	return t.used;
}

/* ------------------------------------------------------------------ reading */

/* A comment that defines a frame or a stack. */
struct definition {
	const char *text;
	size_t nbytes;
};

/*
 * Read a number; store 0 if the key is absent.  Return false if the value is
 * not a number.
 */
static bool
parse_number(const struct definition *d, const char *key, uint64_t *n_ret)
{
	*n_ret = 0;
	return text_find(d->text, d->nbytes, key, NULL, 0) < 0 ||
	       text_find_u64(d->text, d->nbytes, key, n_ret);
}

/* Like parse_number(), but for "address", a hexadecimal number with "0x". */
static bool
parse_address(const struct definition *d, uint64_t *n_ret)
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

/*
 * Add to the texts the value of 'key' in the definition, up to the first NUL of
 * the value.  Store the number of the text; 0 if the key is absent or the text
 * is empty.
 */
static enum hatf_status
parse_name(struct hatf_stacks *s, const struct definition *d, const char *key,
	   uint32_t *number_ret)
{
	if (text_find(d->text, d->nbytes, key, s->value,
		      HATF_DEFINITION_MAX + 1) < 0)
		s->value[0] = '\0';
	return put_text(s, s->value, number_ret);
}

static bool
refuse(struct hatf_stacks *s, const char *fault)
{
	s->fault = fault;
	return false;
}

/* Read the id that the comment defines. */
static bool
parse_id(struct hatf_stacks *s, const struct definition *d, const char *key,
	 uint64_t *id_ret)
{
	if (!parse_number(d, key, id_ret))
		return refuse(s, "the definition's id is not a number");
	return *id_ret != 0 || refuse(s, "the definition has no id");
}

/*
 * Handle a definition of an id that has been defined before.  'is_same' says
 * whether both definitions have the same content.  If not, refuse the new
 * definition.
 */
static enum hatf_status
compare(struct hatf_stacks *s, bool is_same, const char *key,
	const char **field_ret)
{
	if (is_same)
		return HATF_OK;
	refuse(s, "another definition has the same id");
	*field_ret = key;
	return HATF_BAD_COMMENT;
}

/*
 * Read the numbers of a frame.  Return NULL, or the key whose value is invalid.
 */
static const char *
parse_content(struct hatf_stacks *s, const struct definition *d,
	      struct content *content, uint64_t *id_ret)
{
	uint64_t end_column;

	if (!parse_id(s, d, "frame", id_ret))
		return "frame";
	s->fault = "the frame's line is not a number";
	if (!parse_number(d, "line", &content->line))
		return "line";
	s->fault = "the frame's column is not a number";
	if (!parse_number(d, "column", &content->column))
		return "column";
	s->fault = "the frame's end_column is not a number";
	if (!parse_number(d, "end_column", &end_column))
		return "end_column";
	/*
	 * No source line has more than UINT32_MAX columns, so treat a larger
	 * column as unknown.
	 */
	if (end_column <= UINT32_MAX)
		content->end_column = (uint32_t)end_column;
	s->fault = "the frame's address is not a hexadecimal number";
	return parse_address(d, &content->address) ? NULL : "address";
}

/*
 * Remember which object is mapped now at the address of the frame that was
 * added last, because another library may be mapped there later.
 */
static enum hatf_status
locate_frame(struct hatf_stacks *s, const struct content *content)
{
	struct frame_row *const row = &s->frames[s->frame_ids.count - 1];
	const struct module *const module =
		modules_find(&s->modules, content->address);
	enum hatf_status status;
	uint32_t number;

	if (content->address == 0 || module == NULL)
		return HATF_OK;
	status = put_text(s, module->object, &number);
	/*
	 * The frame's own definition may name an object other than the mapped
	 * one.  Use the mapping only if the definition names the mapped
	 * object, or no object.
	 */
	if (status == HATF_OK &&
	    (content->object == 0 || content->object == number)) {
		row->object = number;
		row->base = module->base;
	}
	return status;
}

static enum hatf_status
read_frame(struct hatf_stacks *s, const struct definition *d,
	   const char **field_ret)
{
	struct content content = { .line = 0 };
	enum hatf_status status;
	uint32_t number, row;
	uint64_t id;

	*field_ret = parse_content(s, d, &content, &id);
	if (*field_ret != NULL)
		return HATF_BAD_COMMENT;
	if (s->value == NULL)
		s->value = malloc(HATF_DEFINITION_MAX + 1);
	if (s->value == NULL)
		return HATF_NO_MEMORY;
	status = parse_name(s, d, "function", &content.function);
	if (status == HATF_OK)
		status = parse_name(s, d, "file", &content.file);
	if (status == HATF_OK)
		status = parse_name(s, d, "object", &content.object);
	if (status == HATF_OK)
		status = string_table_put(&s->contents, &content,
					  sizeof(content), &number);
	if (status == HATF_OK && id_index_find(&s->frame_ids, id, &row))
		return compare(s, s->frames[row].content == number, "frame",
			       field_ret);
	if (status == HATF_OK)
		status = add_frame(s, id, number);
	return status == HATF_OK ? locate_frame(s, &content) : status;
}

static bool
parse_parent(struct hatf_stacks *s, const struct definition *d,
	     uint64_t *id_ret)
{
	uint32_t row;

	if (!parse_number(d, "parent", id_ret))
		return refuse(s, "the stack's parent is not a number");
	return *id_ret == 0 || id_index_find(&s->stack_ids, *id_ret, &row) ||
	       refuse(s, "the stack's parent has not been defined");
}

static bool
parse_frame(struct hatf_stacks *s, const struct definition *d, uint64_t *id_ret)
{
	uint32_t row;

	if (!parse_number(d, "frame", id_ret))
		return refuse(s, "the stack's frame is not a number");
	if (*id_ret == 0)
		return refuse(s, "the stack has no frame");
	return id_index_find(&s->frame_ids, *id_ret, &row) ||
	       refuse(s, "the stack's frame has not been defined");
}

static enum hatf_status
read_stack(struct hatf_stacks *s, const struct definition *d,
	   const char **field_ret)
{
	struct hatf_stack stack = { 0, 0 };
	uint64_t id;
	uint32_t row;

	if (!parse_id(s, d, "stack", &id))
		*field_ret = "stack";
	else if (!parse_parent(s, d, &stack.parent))
		*field_ret = "parent";
	else if (!parse_frame(s, d, &stack.frame))
		*field_ret = "frame";
	if (*field_ret != NULL)
		return HATF_BAD_COMMENT;
	if (id_index_find(&s->stack_ids, id, &row))
		return compare(s,
			       s->stacks[row].parent == stack.parent &&
				       s->stacks[row].frame == stack.frame,
			       "stack", field_ret);
	return add_stack(s, id, &stack);
}

enum hatf_status
hatf_stacks_note(struct hatf_stacks *s, const struct hatf_record *rec,
		 struct hatf_error *err)
{
	const struct definition d = { (const char *)rec->attributes,
				      rec->attributes_nbytes };
	enum hatf_status status = HATF_OK;
	const char *field = NULL;

	if (rec->tag == HATF_COMMENT &&
	    hatf_record_comment_starts(rec, frame_kind))
		status = read_frame(s, &d, &field);
	else if (rec->tag == HATF_COMMENT &&
		 hatf_record_comment_starts(rec, stack_kind))
		status = read_stack(s, &d, &field);
	else
		status = modules_note(&s->modules, rec);
	if (err != NULL)
		*err = (struct hatf_error){
			.status = status,
			.offset = status == HATF_OK ? 0 : rec->offset,
			.field = field,
		};
	return status;
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
	uint32_t row;

	if (!id_index_find(&s->stack_ids, id, &row))
		return false;
	*stack_ret = s->stacks[row];
	return true;
}

/* Return the text with this number; NULL for number 0. */
static const char *
get_text(const struct hatf_stacks *s, uint32_t number)
{
	return number == 0 ? NULL : string_table_get(&s->texts, number);
}

bool
hatf_stacks_get_frame(const struct hatf_stacks *s, uint64_t id,
		      struct hatf_frame *frame_ret)
{
	const struct frame_row *place;
	struct content frame;
	uint32_t row;

	if (!id_index_find(&s->frame_ids, id, &row))
		return false;
	place = &s->frames[row];
	memcpy(&frame, string_table_get(&s->contents, s->frames[row].content),
	       sizeof(frame));
	*frame_ret = (struct hatf_frame){
		.function = get_text(s, frame.function),
		.file = get_text(s, frame.file),
		.object = get_text(s, frame.object != 0 ? frame.object
							: place->object),
		.offset = place->object != 0 ? frame.address - place->base : 0,
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
	return string_table_memory(&s->texts);
}
